import { describe, expect, it } from "vitest";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import { reconcileClaim } from "#functions/lifecycle/reconcile.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { at, INSTANCE, NOW, node, nodeClaim, record } from "../../support/builders.ts";
import { recordingLog } from "../../support/fakes.ts";

/** A claim that has launched and waits for its node, on a clock that moves on by `slowMs` with each look at it. */
async function tendWaitingClaim(slowMs: number) {
  const happened: (WakeUp | NodeClaimRecord)[] = [];
  const kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 20_000 });
  let now = NOW;
  const claim = nodeClaim({ conditions: ["Launched"] });
  const deps = {
    cluster: { name: kept.cluster },
    memory: new ProcessMemory(),
    store: { get: async () => kept, update: async (written: NodeClaimRecord) => happened.push(written) },
    kubernetes: { get: async () => claim, list: async () => [], updateStatus: async () => claim },
    wakeUps: { wake: async (wakeUps: readonly WakeUp[]) => happened.push(...wakeUps) },
    now: () => {
      now += slowMs;
      return now;
    },
  };
  await reconcileClaim(kept.name, {}, deps as unknown as LifecycleDeps);
  return happened;
}

describe("the wake-up for the next step", () => {
  it.for([
    { name: "comes when the step is due", slowMs: 0, delayMs: 5_000 },
    { name: "comes no sooner than its time is in the record, though the step is due already", slowMs: 9_000, delayMs: 1_000 },
  ])("$name", async ({ slowMs, delayMs }) => {
    const [wakeUp, written] = await tendWaitingClaim(slowMs);
    const dueAt = NOW + slowMs + 5_000;
    expect(wakeUp).toMatchObject({ kind: "claim", delayMs, dueAt });
    expect(written).toMatchObject({ dueAt });
  });
});

describe("two passes over a NodeClaim that end in the same millisecond", () => {
  it("leave one wake-up that goes on: the record's time is that of one of them", async () => {
    const sent: WakeUp[] = [];
    let kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 20_000 });
    let version = 0;
    const claim = nodeClaim({ conditions: ["Launched"] });
    const deps = {
      cluster: { name: kept.cluster },
      memory: new ProcessMemory(),
      store: {
        get: async () => ({ ...kept, version }),
        update: async (written: NodeClaimRecord & { readonly version: number }) => {
          if (written.version !== version) throw new ConflictError("the record has changed");
          kept = written;
          version++;
          return written;
        },
      },
      kubernetes: { get: async () => claim, list: async () => [], updateStatus: async () => claim },
      wakeUps: { wake: async (wakeUps: readonly WakeUp[]) => sent.push(...wakeUps) },
      now: () => NOW,
    } as unknown as LifecycleDeps;
    await Promise.all([reconcileClaim(kept.name, {}, deps), reconcileClaim(kept.name, {}, deps)]);
    expect(sent.filter((wakeUp) => wakeUp.kind === "claim" && wakeUp.dueAt === kept.dueAt)).toHaveLength(1);
  });
});

describe("a look for a node that has not joined", () => {
  it("is followed by one other, however often its wake-up is delivered, and by the next when that is due", async () => {
    const sent: WakeUp[] = [];
    const kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 20_000, dueAt: NOW, waits: { for: "node", dueAt: NOW } });
    let now = NOW;
    const deps = {
      cluster: { name: kept.cluster },
      memory: new ProcessMemory(),
      store: { get: async () => kept },
      kubernetes: { list: async () => [] },
      wakeUps: { wake: async (wakeUps: readonly WakeUp[]) => sent.push(...wakeUps) },
      now: () => now,
    } as unknown as LifecycleDeps;
    const deliver = () => reconcileClaim(kept.name, { dueAt: NOW }, deps);
    await deliver();
    now += 2_000;
    await deliver();
    await deliver();
    expect(sent).toMatchObject([{ kind: "claim", dueAt: NOW, delayMs: 5_000 }]);
    now += 3_000;
    await deliver();
    expect(sent).toHaveLength(2);
  });
});

describe("a look for a node of which something is told", () => {
  const kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 20_000, dueAt: NOW, waits: { for: "node", dueAt: NOW } });
  const young = (name: string, ready: boolean) => {
    const made = node("joined", { ready });
    const id = name === "own" ? INSTANCE.id : "i-other";
    return {
      ...made,
      metadata: { ...made.metadata, name, creationTimestamp: at(5) },
      spec: { ...made.spec, providerID: `aws:///${INSTANCE.zone}/${id}` },
    };
  };

  it.for([
    { what: "is made again after a second, because the webhook tells of what is not written yet", listed: [], of: kept, looks: 2 },
    {
      what: "is made once when its node is Ready and waits for others",
      listed: [young("own", true), young("other", false)],
      of: { ...kept, heldFor: [] },
      looks: 1,
    },
  ])("$what", async ({ listed, of, looks }) => {
    const happened: string[] = [];
    const deps = {
      cluster: { name: of.cluster },
      memory: new ProcessMemory(),
      store: { get: async () => of },
      kubernetes: {
        list: async () => {
          happened.push("look");
          return listed;
        },
      },
      sleep: async (ms: number) => void happened.push(`${ms} ms`),
      now: () => NOW,
      hasEventSource: true,
    } as unknown as LifecycleDeps;
    await reconcileClaim(of.name, { about: "node" }, deps);
    expect(happened).toEqual(looks === 2 ? ["look", "1000 ms", "look"] : ["look"]);
  });
});

describe("a node that kubelet writes in the moment in which it is registered", () => {
  it("is read again, and its NodeClaim is not", async () => {
    const kept = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 20_000 });
    const asked: string[] = [];
    let conflicts = 1;
    const joined = node("joined", { ready: false });
    const deps = {
      ...{
        cluster: { name: kept.cluster },
        memory: new ProcessMemory(),
        log: recordingLog(),
        metrics: memoryMetrics(),
        settings: {},
        now: () => NOW,
      },
      store: { get: async () => kept, update: async (one: NodeClaimRecord) => one, isFirstWithin: async () => true },
      fleet: { describe: async () => [{ ...INSTANCE, state: "running" }] },
      wakeUps: { wake: async () => {} },
      kubernetes: {
        get: async (kind: string) => {
          asked.push(`get ${kind}`);
          return kind === "NodeClaim" ? nodeClaim({ conditions: ["Launched"] }) : undefined;
        },
        list: async (kind: string) => {
          asked.push(`list ${kind}`);
          return [joined];
        },
        update: async (kind: string, object: Node) => {
          asked.push(`update ${kind}`);
          if (conflicts-- > 0) throw new ConflictError("changed");
          return object;
        },
        updateStatus: async (_: string, object: NodeClaim) => object,
        publish: async () => {},
      },
    } as unknown as LifecycleDeps;
    await reconcileClaim(kept.name, {}, deps);
    expect(asked.slice(0, 5)).toEqual(["get NodeClaim", "list Node", "update Node", "list Node", "update Node"]);
  });
});

describe("a wake-up that has nothing to look at", () => {
  it.for([
    { what: "for the next step of a NodeClaim whose record is gone", kept: undefined, cause: { dueAt: NOW } },
    {
      what: "for a node that has joined and is held until it is Ready",
      kept: record({ instance: INSTANCE, heldFor: [] }),
      cause: { about: "new-node" as const },
    },
    {
      what: "for a change of a node, sent before a pass has initialized the node",
      kept: record({ instance: INSTANCE, initializedAt: NOW - 1_000 }),
      cause: { about: "node" as const, sentAt: NOW - 1_000 },
    },
  ])("$what reads nothing of the cluster", async ({ kept, cause }) => {
    // Any other call is one of a method that is missing here.
    const deps = {
      cluster: { name: "c" },
      memory: new ProcessMemory(),
      store: { get: async () => kept },
      now: () => NOW,
    } as unknown as LifecycleDeps;
    await reconcileClaim("default-1", cause, deps);
  });
});

describe("a NodeClaim without a record", () => {
  /** A run that has read the NodeClaim beside its record, while another run removes first the one, then the other. */
  async function adoptsWhile(present: readonly (NodeClaim | undefined)[]) {
    const created: NodeClaimRecord[] = [];
    const reads = [...present];
    const deps = {
      cluster: { name: "c" },
      memory: new ProcessMemory(),
      store: {
        get: async () => created[0],
        byInstance: async () => undefined,
        create: async (one: NodeClaimRecord) => created.push(one),
        update: async (one: NodeClaimRecord) => one,
      },
      kubernetes: { get: async () => (reads.length > 1 ? reads.shift() : reads[0]), list: async () => [] },
      fleet: { describe: async () => [], list: async () => [] },
      wakeUps: { wake: async () => {} },
      log: { info: () => {}, error: () => {} },
      metrics: { count: () => {} },
      now: () => NOW,
      newId: () => "id",
    };
    await reconcileClaim("default-x7k2p", {}, deps as unknown as LifecycleDeps).catch(() => {});
    return created;
  }

  const claim = { ...nodeClaim({ conditions: ["Launched"] }) };
  const leaving: NodeClaim = {
    ...claim,
    metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["karpenter.sh/termination"] },
  };

  it("is adopted while it exists", async () => {
    expect(await adoptsWhile([leaving])).toHaveLength(1);
  });

  it("is not adopted when it has gone since, or another one of its name has come", async () => {
    expect(await adoptsWhile([leaving, undefined])).toEqual([]);
    expect(await adoptsWhile([leaving, { ...leaving, metadata: { ...leaving.metadata, uid: "another" } }])).toEqual([]);
  });
});
