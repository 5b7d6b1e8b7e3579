import type { ToldPlace } from "#core/history/nominated.ts";
import { LruMap } from "#core/lib/lru-map.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pause } from "#core/model/pause.ts";
import type { Readings } from "#core/passes/readings.ts";
import { PAUSE_AGE_MS } from "#core/pause/voluntary.ts";
import type { Kinds } from "#core/ports/kubernetes.ts";
import type { LostPurchase } from "#core/provisioning/purchases.ts";

/** A list of definitions as it was read at a time, ms since the epoch. */
interface ReadList {
  readonly at: number;
  readonly items: readonly (Kinds["NodePool"] | Kinds["EC2NodeClass"] | Kinds["DaemonSet"])[];
}

/** What outcomes of one NodePool's machines change of it, which is written together. */
interface RegistrationBatch {
  readonly changes: ((pool: NodePool, now: number) => NodePool)[];
  readonly lost: LostPurchase[];
  /** Whether the NodePool is read, so that further outcomes wait for the next batch. */
  isClosed: boolean;
  readonly written: Promise<void>;
}

/** What is remembered, by slot. Times are ms since the epoch. A slot with keys says what they are. */
interface Slots {
  /** That no other Karpenter ran. */
  noKarpenter: true;
  /** What pauses the cluster. */
  pauses: readonly Pause[];
  /** Minor version of Kubernetes, such as "1.36". */
  kubernetesVersion: string;
  /** Lists of definitions, by kind and owners. */
  definitions: ReadList;
  /** Until when an event is not published again, by the event. */
  publishedEvents: number;

  /** When the last full read of the pods of provisioning began. */
  fullRead: number;
  /** Until when the batching window is open. */
  batchingWindow: number;
  /** That the last plan had a place for each pod. */
  fullyPlaced: true;
  /** That the cluster has lists longer than a page. */
  largeCluster: true;
  /** Zones that the last plan had pods for. */
  pendingZones: ReadonlySet<string>;
  /** The machine that the history says a pod waits for, by UID of the pod. */
  recordedPlaces: ToldPlace;

  /** When the last disruption pass began, by "any" and by "fresh", a pass that read all definitions. */
  disruptionPass: number;

  /** All records. */
  records: readonly NodeClaimRecord[];
  /** Nodes that are not initialized. */
  youngNodes: readonly Node[];
  /** That one more success changes nothing of the NodePool's registration health, by UID of the NodePool. */
  healthyNodePools: true;
  /** The next check that a wake-up was sent for, by NodeClaim. */
  nextChecks: { readonly dueAt: number; readonly wakeAt: number };
  /** Classes that NodeClaims are launched with, by name. */
  nodeClasses: EC2NodeClass;
  /** A read of all records that is under way, by cluster. Of one invocation. */
  recordsUnderWay: Promise<readonly NodeClaimRecord[]>;
  /** How many pods and nodes the last pass of disruption has listed, as the table has it. */
  readings: Readings;
  /** The last batch, by cluster and UID of the NodePool. Of one invocation. */
  registrationBatches: RegistrationBatch;

  /** When a cluster could be read for its metrics, by cluster. */
  scrapedClusters: number;
}

interface Bounds {
  /** An older value is not recalled, ms. Nor is one from as far in the future: the clock was set back. */
  readonly maxAgeMs: number;
  /** Values of the slot; another one removes the least recently used. */
  readonly size: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** Longer than a process lives that nothing starts: the value holds until another one replaces it. */
const DAY = 24 * HOUR;

const BOUNDS: { readonly [Slot in keyof Slots]: Bounds } = {
  // Each use says how old it may be.
  noKarpenter: { maxAgeMs: 60 * SECOND, size: 1 },
  pauses: { maxAgeMs: PAUSE_AGE_MS, size: 1 },
  // A control plane is upgraded to another minor version within half an hour or more.
  kubernetesVersion: { maxAgeMs: 600 * SECOND, size: 1 },
  // Three kinds, each of its own owner and of every owner.
  definitions: { maxAgeMs: 60 * SECOND, size: 6 },
  publishedEvents: { maxAgeMs: DAY, size: 20_000 },
  fullRead: { maxAgeMs: HOUR, size: 1 },
  batchingWindow: { maxAgeMs: HOUR, size: 1 },
  fullyPlaced: { maxAgeMs: HOUR, size: 1 },
  largeCluster: { maxAgeMs: 600 * SECOND, size: 1 },
  pendingZones: { maxAgeMs: DAY, size: 1 },
  recordedPlaces: { maxAgeMs: DAY, size: 20_000 },
  disruptionPass: { maxAgeMs: HOUR, size: 2 },
  // A fraction of the time that provisioning has to write replacements (core/lifecycle/drain.ts).
  records: { maxAgeMs: 2 * SECOND, size: 1 },
  // NodeClaims that were launched together are checked together.
  youngNodes: { maxAgeMs: SECOND, size: 1 },
  // Nodes that join together succeed for the same NodePool.
  healthyNodePools: { maxAgeMs: 5 * SECOND, size: 1_000 },
  // As many NodeClaims as may wait at the same time.
  nextChecks: { maxAgeMs: HOUR, size: 10_000 },
  // NodeClaims of one plan are launched together.
  nodeClasses: { maxAgeMs: SECOND, size: 1_000 },
  recordsUnderWay: { maxAgeMs: HOUR, size: 1_000 },
  readings: { maxAgeMs: HOUR, size: 1 },
  registrationBatches: { maxAgeMs: HOUR, size: 10_000 },
  scrapedClusters: { maxAgeMs: DAY, size: 1_000 },
};

interface Remembered<Slot extends keyof Slots> {
  readonly at: number;
  readonly value: Slots[Slot];
}

interface RecallOptions {
  /** For a slot with keys. */
  readonly key?: string;
  /** A lower bound than that of the slot, ms. */
  readonly maxAgeMs?: number;
}

/**
 * What one process remembers of one cluster between invocations, and one invocation of its messages.
 *
 * It may only save: requests, CPU time, a write that changes nothing, the value 0 of a gauge. It never decides. Lambda
 * may start another process for each invocation, so what a function does to a cluster is the same with an empty memory,
 * a moment later or with more requests. test/simulation/amnesia.test.ts holds this: it plays stories and courses
 * of the simulation with a memory that is empty at each access.
 */
export class ProcessMemory {
  readonly #slots = new Map<keyof Slots, LruMap<string, Remembered<keyof Slots>>>();

  /** The value of a slot; undefined without one, and when it is older than `maxAgeMs` at `now` (ms since the epoch). */
  recall<Slot extends keyof Slots>(slot: Slot, now: number, { key = "", maxAgeMs }: RecallOptions = {}): Slots[Slot] | undefined {
    const found = this.#slots.get(slot)?.get(key);
    const oldest = Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, BOUNDS[slot].maxAgeMs);
    return found !== undefined && Math.abs(now - found.at) < oldest ? (found.value as Slots[Slot]) : undefined;
  }

  /** Keeps a value that was true at a time, ms since the epoch. */
  keep<Slot extends keyof Slots>(slot: Slot, value: Slots[Slot], at: number, key = ""): void {
    const values = this.#slots.get(slot) ?? new LruMap(BOUNDS[slot].size);
    this.#slots.set(slot, values);
    values.set(key, { at, value });
  }

  forget(slot: keyof Slots, key = ""): void {
    this.#slots.get(slot)?.delete(key);
  }
}
