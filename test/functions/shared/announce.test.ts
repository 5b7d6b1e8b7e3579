import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryLog } from "#adapters/telemetry/log.ts";
import type { Announcement } from "#core/ports/announcements.ts";
import { noAnnouncements, withAnnouncements } from "#functions/shared/announce.ts";

function scene() {
  const published: Announcement[] = [];
  let calls = 0;
  const deps = {
    cluster: { name: "c1", endpoint: "", caBundle: "" },
    log: memoryLog(),
    store: embeddedNodeClaimStore(),
    now: () => 5_000,
    announcements: {
      announce: async (announcements: readonly Announcement[]) => {
        calls += 1;
        published.push(...announcements);
      },
    },
  };
  return { deps, published, calls: () => calls };
}

describe("announcing", () => {
  it("tells what the lines say, once, in their order, with what their log carries, after the work", async () => {
    const { deps, published, calls } = scene();
    await withAnnouncements(deps, async ({ log }) => {
      const carrying = log.with({ NodePool: { name: "default" } });
      carrying.info("launched nodeclaim", { NodeClaim: { name: "a" } });
      carrying.debug("registered nodeclaim", { NodeClaim: { name: "a" } });
      log.info("tainted node");
      log.info("deleted nodeclaim", { NodeClaim: { name: "b" } });
      expect(calls()).toBe(0);
    });
    expect(calls()).toBe(1);
    expect(published.map(({ kind }) => kind)).toEqual(["NodeClaim Launched", "NodeClaim Terminated"]);
    expect(published[0]).toMatchObject({ at: 5_000, detail: { NodePool: { name: "default" }, NodeClaim: { name: "a" } } });
    expect(deps.log.records.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "info launched nodeclaim",
      "debug registered nodeclaim",
      "info tainted node",
      "info deleted nodeclaim",
    ]);
  });

  it("tells what was done before the work failed, and lets it fail", async () => {
    const { deps, published } = scene();
    const work = withAnnouncements(deps, async ({ log }) => {
      log.info("launched nodeclaim", { NodeClaim: { name: "a" } });
      throw new Error("throttled");
    });
    await expect(work).rejects.toThrow("throttled");
    expect(published).toHaveLength(1);
  });

  it("tells once an hour of a pod that fits nowhere, and anew when the cause is another", async () => {
    const { deps, published } = scene();
    let now = 0;
    const pass = (error: string) =>
      withAnnouncements({ ...deps, now: () => now }, async ({ log }) => log.error("could not schedule pod", { Pod: "default/web", error }));
    await pass("too large");
    now = 60_000;
    await pass("too large");
    await pass("no zone");
    expect(published.map(({ detail }) => detail["error"])).toEqual(["too large", "no zone"]);
    now = 3_600_001;
    await pass("too large");
    expect(published).toHaveLength(3);
    expect(published[2]?.detail["id"]).toBe(published[0]?.detail["id"]);
  });

  it("keeps secrets out", async () => {
    const { deps, published } = scene();
    await withAnnouncements(deps, async ({ log }) =>
      log.error("failed launching nodeclaim", { NodeClaim: { name: "a" }, error: "k8s-aws-v1.abc was refused", sessionToken: "s" }),
    );
    expect(published[0]?.detail).toMatchObject({ error: "[redacted] was refused", sessionToken: "[redacted]" });
  });

  it("does not fail the work when telling fails", async () => {
    const { deps, published } = scene();
    deps.store.close();
    await withAnnouncements(deps, async ({ log }) => log.error("could not schedule pod", { Pod: "default/web", error: "too large" }));
    expect(published).toEqual([]);
    expect(deps.log.records.at(-1)).toMatchObject({ level: "error", message: "announcing failed" });
  });

  it("leaves a silent stack's log as it is", async () => {
    const { deps } = scene();
    const silent = { ...deps, announcements: noAnnouncements };
    await withAnnouncements(silent, async (given) => expect(given).toBe(silent));
  });
});
