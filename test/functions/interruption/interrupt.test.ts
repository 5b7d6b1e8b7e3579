import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryMetrics } from "../../../functions/adapters/metrics.ts";
import { sqliteNodeClaimStore } from "../../../functions/adapters/sqlite/node-claim-store.ts";
import { silence } from "../../../functions/announcing.ts";
import type { ClusterDeps } from "../../../functions/cluster-deps.ts";
import { interruptionEntry } from "../../../functions/interruption/entry.ts";
import { INSTANCE, NOW, record } from "../../support/builders.ts";
import { recordingLog, recordingWakeUps } from "../../support/fakes.ts";

const event = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, "../../../events", name), "utf8"));

/** A cluster with one spot claim whose instance is the one of the samples. */
async function scene() {
  const store = sqliteNodeClaimStore();
  const instance = { ...INSTANCE, id: "i-0aaaaaaaaaaaaaaa1", capacityType: "spot" as const };
  await store.create(record({ uid: "uid-1", instance, version: 0 }));
  const wakeUps = recordingWakeUps();
  const metrics = memoryMetrics();
  const log = recordingLog();
  const cluster = {
    cluster: { name: "c1", endpoint: "", caBundle: "" },
    store,
    wakeUps,
    log,
    metrics,
    announcements: silence,
    now: () => NOW,
  };
  const kubernetes = { get: async () => undefined, publish: async () => {} };
  const deps = { ...cluster, kubernetes } as unknown as ClusterDeps;
  const handler = interruptionEntry({ store, clusterDeps: async () => deps, log, metrics, now: () => NOW });
  const disrupted = () => metrics.records.filter(({ name }) => name === "nodeclaims_disrupted_total");
  return { handler, store, wakeUps, log, disrupted };
}

describe("interruption messages", () => {
  it("end the claim, mark the offering, and wake lifecycle and planner at once", async () => {
    const { handler, store, wakeUps } = await scene();
    expect(await handler(event("sqs-spot-interruption.json"))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toEqual({ reason: "spot_interrupted", at: NOW });
    expect(await store.unavailable("c1", NOW)).toMatchObject([{ instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" }]);
    expect(wakeUps.sent.map(({ kind }) => kind)).toEqual(["claim", "provision"]);
  });

  it("that come twice count once", async () => {
    const { handler, disrupted } = await scene();
    await handler(event("sqs-duplicate-delivery.json"));
    expect(disrupted()).toHaveLength(1);
  });

  it("of odd shapes are dropped, and those beside them are handled", async () => {
    const { handler, store, log } = await scene();
    expect(await handler(event("sqs-batch-mixed.json"))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeDefined();
    expect(log.errors).toHaveLength(1);
  });

  it("about instances that are not ours change nothing", async () => {
    const { handler, store, wakeUps } = await scene();
    const { Records } = event("sqs-spot-interruption.json");
    const body = Records[0].body.replaceAll("i-0aaaaaaaaaaaaaaa1", "i-0bbbbbbbbbbbbbbb2");
    await handler({ Records: [{ ...Records[0], body }] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeUndefined();
    expect(wakeUps.sent).toEqual([]);
  });

  it("come back when the store cannot be reached", async () => {
    const { handler, store } = await scene();
    store.close();
    const { Records } = event("sqs-spot-interruption.json");
    expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: Records[0].messageId }] });
  });
});
