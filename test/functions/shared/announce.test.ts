import { describe, expect, it } from "vitest";
import type { Announcement } from "../../../core/ports/announcements.ts";
import { memoryLog } from "../../../functions/adapters/log.ts";
import { sqliteNodeClaimStore } from "../../../functions/adapters/store/sqlite-store.ts";
import { announcing, silence } from "../../../functions/shared/announce.ts";

function scene() {
  const told: Announcement[] = [];
  let calls = 0;
  const deps = {
    cluster: { name: "c1", endpoint: "", caBundle: "" },
    log: memoryLog(),
    store: sqliteNodeClaimStore(),
    now: () => 5_000,
    announcements: {
      announce: async (announcements: readonly Announcement[]) => {
        calls += 1;
        told.push(...announcements);
      },
    },
  };
  return { deps, told, calls: () => calls };
}

describe("announcing", () => {
  it("tells what the lines say, once, in their order, with what their log carries, after the work", async () => {
    const { deps, told, calls } = scene();
    await announcing(deps, async ({ log }) => {
      const carrying = log.with({ NodePool: { name: "default" } });
      carrying.info("launched nodeclaim", { NodeClaim: { name: "a" } });
      carrying.debug("registered nodeclaim", { NodeClaim: { name: "a" } });
      log.info("tainted node");
      log.info("deleted nodeclaim", { NodeClaim: { name: "b" } });
      expect(calls()).toBe(0);
    });
    expect(calls()).toBe(1);
    expect(told.map(({ kind }) => kind)).toEqual(["NodeClaim Launched", "NodeClaim Terminated"]);
    expect(told[0]).toMatchObject({ at: 5_000, detail: { NodePool: { name: "default" }, NodeClaim: { name: "a" } } });
    expect(deps.log.records.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "info launched nodeclaim",
      "debug registered nodeclaim",
      "info tainted node",
      "info deleted nodeclaim",
    ]);
  });

  it("tells what was done before the work failed, and lets it fail", async () => {
    const { deps, told } = scene();
    const work = announcing(deps, async ({ log }) => {
      log.info("launched nodeclaim", { NodeClaim: { name: "a" } });
      throw new Error("throttled");
    });
    await expect(work).rejects.toThrow("throttled");
    expect(told).toHaveLength(1);
  });

  it("tells once an hour of a pod that fits nowhere, and anew when the cause is another", async () => {
    const { deps, told } = scene();
    let now = 0;
    const pass = (error: string) =>
      announcing({ ...deps, now: () => now }, async ({ log }) => log.error("could not schedule pod", { Pod: "default/web", error }));
    await pass("too large");
    now = 60_000;
    await pass("too large");
    await pass("no zone");
    expect(told.map(({ detail }) => detail["error"])).toEqual(["too large", "no zone"]);
    now = 3_600_001;
    await pass("too large");
    expect(told).toHaveLength(3);
    expect(told[2]?.detail["id"]).toBe(told[0]?.detail["id"]);
  });

  it("keeps secrets out", async () => {
    const { deps, told } = scene();
    await announcing(deps, async ({ log }) =>
      log.error("failed launching nodeclaim", { NodeClaim: { name: "a" }, error: "k8s-aws-v1.abc was refused", sessionToken: "s" }),
    );
    expect(told[0]?.detail).toMatchObject({ error: "[redacted] was refused", sessionToken: "[redacted]" });
  });

  it("does not fail the work when telling fails", async () => {
    const { deps, told } = scene();
    deps.store.close();
    await announcing(deps, async ({ log }) => log.error("could not schedule pod", { Pod: "default/web", error: "too large" }));
    expect(told).toEqual([]);
    expect(deps.log.records.at(-1)).toMatchObject({ level: "error", message: "announcing failed" });
  });

  it("leaves a silent stack's log as it is", async () => {
    const { deps } = scene();
    const silent = { ...deps, announcements: silence };
    await announcing(silent, async (given) => expect(given).toBe(silent));
  });
});
