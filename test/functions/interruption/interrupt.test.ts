import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import { reservationMark } from "#core/offerings/unavailable.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import { interruptionEntry } from "#functions/interruption/entry.ts";
import { noAnnouncements } from "#functions/shared/announce.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { INSTANCE, nodeClaim, record } from "../../support/builders.ts";
import { noVisibility, recordingLog, recordingWakeUps } from "../../support/fakes.ts";

const event = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, "../../../events", name), "utf8"));

/** A moment after the latest of the samples. */
const NOW = Date.parse("2026-01-15T10:06:00Z");

/** A cluster with one spot claim whose instance is the one of the samples. */
async function scene(over: Partial<KnownInstance> = {}) {
  const store = embeddedNodeClaimStore();
  const instance = { ...INSTANCE, id: "i-0aaaaaaaaaaaaaaa1", capacityType: "spot" as const, ...over };
  await store.create(record({ uid: "uid-1", instance, version: 0 }));
  const wakeUps = recordingWakeUps();
  const metrics = memoryMetrics();
  const log = recordingLog();
  const cluster = {
    cluster: { name: "c1", endpoint: "", caBundle: "" },
    memory: new ProcessMemory(),
    store,
    wakeUps,
    log,
    metrics,
    announcements: noAnnouncements,
    now: () => NOW,
  };
  const claim = nodeClaim({ conditions: ["Launched", "Registered"] });
  const published: string[] = [];
  const postponed: unknown[] = [];
  const kubernetes = {
    get: async () => ({ ...claim, status: { ...claim.status, nodeName: "ip-10-0-0-1" } }),
    publish: async ({ reason, about }: PublishedEvent) => void published.push(`${reason} ${about.kind}`),
  };
  const deps = { ...cluster, kubernetes } as unknown as ClusterDeps;
  const handler = interruptionEntry({
    ...{ store, clusterDeps: async () => deps, log, metrics, now: () => NOW, later: () => () => {} },
    changeVisibility: async ({ messageId }, seconds) => void postponed.push([messageId, seconds]),
  });
  const disrupted = () => metrics.records.filter(({ name }) => name === "nodeclaims_disrupted_total");
  return { handler, store, wakeUps, log, disrupted, published, postponed };
}

/** An event as EventBridge puts it into the queue. */
function queued(body: string): SQSEvent {
  const [record] = event("sqs-spot-interruption.json").Records;
  return { Records: [{ ...record, body }] };
}

describe("interruption messages", () => {
  it("an interruption terminates the NodeClaim, marks the offering, and wakes lifecycle and planner at once", async () => {
    const { handler, store, wakeUps } = await scene();
    expect(await handler(event("sqs-spot-interruption.json"))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toEqual({ reason: "spot_interrupted", at: NOW });
    expect(await store.unavailable("c1", NOW)).toMatchObject([{ instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" }]);
    expect(wakeUps.sent.map(({ kind }) => kind)).toEqual(["claim", "provision"]);
  });

  it("the message of a cluster that hangs returns to the queue before the function's timeout", async () => {
    const { store, log } = await scene();
    const waits: number[] = [];
    const later = (ms: number, work: () => unknown) => {
      waits.push(ms);
      void work();
      return () => {};
    };
    const clusterDeps = () => new Promise<undefined>(() => {});
    const handler = interruptionEntry({
      ...{ store, clusterDeps, log, metrics: memoryMetrics(), now: () => NOW, later },
      changeVisibility: noVisibility,
    });
    const { Records } = event("sqs-spot-interruption.json");
    expect(await handler({ Records }, { getRemainingTimeInMillis: () => 20_000 })).toEqual({
      batchItemFailures: [{ itemIdentifier: Records[0].messageId }],
    });
    expect(waits).toEqual([18_000]);
  });

  it("a message that arrives twice counts once", async () => {
    const { handler, disrupted } = await scene();
    await handler(event("sqs-duplicate-delivery.json"));
    expect(disrupted()).toHaveLength(1);
  });

  it("malformed messages are dropped, and the others of the batch are handled", async () => {
    const { handler, store, log } = await scene();
    expect(await handler(event("sqs-batch-mixed.json"))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeDefined();
    expect(log.errors).toHaveLength(1);
  });

  it("a message about an instance without a NodeClaim changes nothing", async () => {
    const { handler, store, wakeUps } = await scene();
    const { Records } = event("sqs-spot-interruption.json");
    const body = Records[0].body.replaceAll("i-0aaaaaaaaaaaaaaa1", "i-0bbbbbbbbbbbbbbb2");
    await handler({ Records: [{ ...Records[0], body }] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeUndefined();
    expect(wakeUps.sent).toEqual([]);
  });

  it.for([
    { file: "spot-interruption.json", ends: true, tells: "SpotInterrupted" },
    { file: "rebalance-recommendation.json", ends: false, tells: "SpotRebalanceRecommendation" },
    { file: "health-scheduled-change.json", ends: true, tells: "InstanceUnhealthy" },
    { file: "state-change-stopping.json", ends: true, tells: "InstanceStopping" },
    { file: "state-change-stopped.json", ends: true, tells: "InstanceStopping" },
    { file: "state-change-shutting-down.json", ends: true, tells: "InstanceTerminating" },
    { file: "state-change-terminated.json", ends: true, tells: "InstanceTerminating" },
    {
      file: "capacity-reservation-interruption.json",
      capacityType: "reserved" as const,
      ends: true,
      tells: "CapacityReservationInstanceInterrupted",
    },
    {
      file: "capacity-reservation-interruption-alt-type.json",
      capacityType: "reserved" as const,
      ends: true,
      tells: "CapacityReservationInstanceInterrupted",
    },
    {
      file: "capacity-reservation-interruption-resources-string.json",
      capacityType: "reserved" as const,
      ends: true,
      tells: "CapacityReservationInstanceInterrupted",
    },
    { file: "state-change-running.json", ends: false, tells: undefined },
    { file: "health-other-service.json", ends: false, tells: undefined },
    { file: "unknown-detail-type.json", ends: false, tells: undefined },
  ])("each kind of message has its own consequence: $file", async ({ file, capacityType = "spot" as const, ends, tells }) => {
    const { handler, store, published } = await scene({ capacityType });
    expect(await handler(queued(JSON.stringify(event(file))))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating !== undefined).toBe(ends);
    const reasons = [...(tells ? [tells] : []), ...(ends ? ["TerminatingOnInterruption"] : [])];
    expect(published.toSorted()).toEqual(reasons.flatMap((reason) => [`${reason} Node`, `${reason} NodeClaim`]).toSorted());
  });

  it.for([
    { file: "spot-interruption.json", capacityType: "spot" as const, marked: ["spot"] },
    { file: "capacity-reservation-interruption.json", capacityType: "reserved" as const, marked: ["reserved"] },
    { file: "state-change-terminated.json", capacityType: "spot" as const, marked: [] },
  ])("capacity that EC2 takes back is marked unavailable: $file", async ({ file, capacityType, marked }) => {
    const { handler, store } = await scene({ capacityType });
    await handler(queued(JSON.stringify(event(file))));
    expect((await store.unavailable("c1", NOW)).map(({ capacityType }) => capacityType)).toEqual(marked);
  });

  it("the reservation that EC2 takes back is marked, not all reserved capacity of its type", async () => {
    const { handler, store } = await scene({ capacityType: "reserved", reservationId: "cr-1" });
    await handler(queued(JSON.stringify(event("capacity-reservation-interruption.json"))));
    expect(await store.unavailable("c1", NOW)).toMatchObject([
      { ...reservationMark("cr-1", NOW + 180_000), cause: { code: "Interruption" } },
    ]);
  });

  it.for([
    { what: "a time long ago", says: { time: "1999-01-01T00:00:00Z" } },
    { what: "another account", says: { account: "999999999999" } },
    { what: "another region", says: { region: "eu-west-1" } },
  ])("a spot notice with $what ends no machine, marks no offering, and is told", async ({ says }) => {
    const { handler, store, log } = await scene();
    expect(await handler(queued(JSON.stringify({ ...event("spot-interruption.json"), ...says })))).toEqual({ batchItemFailures: [] });
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeUndefined();
    expect(await store.unavailable("c1", NOW)).toEqual([]);
    expect(log.errors).toEqual([expect.stringContaining("names instance i-0aaaaaaaaaaaaaaa1 but is not about it")]);
  });

  it("a spot notice ends no on-demand machine", async () => {
    const { handler, store } = await scene({ capacityType: "on-demand" });
    await handler(queued(JSON.stringify(event("spot-interruption.json"))));
    expect((await store.get("c1", "default-abcde"))?.terminating).toBeUndefined();
  });

  it("a late message finds a terminating NodeClaim, or none, and changes nothing", async () => {
    const { handler, store, disrupted } = await scene();
    const body = JSON.stringify(event("spot-interruption.json"));
    await handler(queued(body));
    const going = await store.get("c1", "default-abcde");
    await handler(queued(JSON.stringify(event("state-change-terminated.json"))));
    expect(await store.get("c1", "default-abcde")).toEqual(going);
    expect(disrupted()).toHaveLength(1);
    if (going) await store.remove(going);
    expect(await handler(queued(body))).toEqual({ batchItemFailures: [] });
    expect(await store.list("c1")).toEqual([]);
  });

  it("a message about several instances reaches all of them, even if one fails", async () => {
    const { handler, store } = await scene();
    const change = event("health-scheduled-change.json");
    const affectedEntities = ["i-0bad", "i-0aaaaaaaaaaaaaaa1", "i-0aaaaaaaaaaaaaaa1"].map((entityValue) => ({ entityValue }));
    const byInstance = store.byInstance.bind(store);
    store.byInstance = async (id) => {
      if (id === "i-0bad") throw new Error("the table did not answer");
      return byInstance(id);
    };
    const { batchItemFailures } =
      (await handler(queued(JSON.stringify({ ...change, detail: { ...change.detail, affectedEntities } })))) ?? {};
    expect(batchItemFailures).toHaveLength(1);
    expect((await store.get("c1", "default-abcde"))?.terminating).toMatchObject({ reason: "scheduled_change" });
  });

  it("a message returns to the queue when the store cannot be reached", async () => {
    const { handler, store, postponed } = await scene();
    store.close();
    const { Records } = event("sqs-spot-interruption.json");
    expect(await handler({ Records })).toEqual({ batchItemFailures: [{ itemIdentifier: Records[0].messageId }] });
    expect(postponed).toEqual([[Records[0].messageId, 2]]);
  });
});
