import { PLAN_HELD_BACK_MS } from "#core/ports/wake-ups.ts";

/**
 * The functions, what invokes them and which queues they write to: the one table that the stack, its roles and its
 * tests are made from.
 */

export const FUNCTION_NAMES = [
  "audit",
  "notify",
  "admission",
  "provision",
  "lifecycle",
  "interruption",
  "disruption",
  "catalog",
  "metrics",
] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

export type QueueName = "provision" | "claims" | "disruption" | "catalog" | "interruption";

/** The queues of wake-ups; EventBridge fills the other one. */
type WakeUpQueue = Exclude<QueueName, "interruption">;

interface ScheduleSpec {
  readonly name: string;
  readonly rate: string;
  readonly input: Readonly<Record<string, string>>;
}

/**
 * A part of the store's adapter (adapters/store) and the rights that it needs: find a record by its instance;
 * read records and documents; write them one at a time or many at once; remove them; join a launch of several; take the
 * lease and write under it.
 */
export type StoreUse = "find" | "read" | "write" | "write-many" | "remove" | "join" | "decide";

interface FunctionSpec {
  readonly description: string;
  /** MB; CPU grows with memory, to one vCPU at 1,769 MB. */
  readonly memory: number;
  readonly timeoutSeconds: number;
  /** The queue that invokes the function. */
  readonly queue?: QueueName;
  readonly sends: readonly WakeUpQueue[];
  /** The setting that asks for the function; absent for one that needs none. */
  readonly madeFor?: "admission" | "scrape";
  /** What the function may do to the store. */
  readonly store: readonly StoreUse[];
  /** Whether the function talks to clusters: then it may describe them in EKS, and each cluster gives it access. */
  readonly inClusters: boolean;
  /** Whether the function announces on the event bus, if there is one, what it did and why. */
  readonly announces: boolean;
  readonly schedules: readonly ScheduleSpec[];
}

const sweep: ScheduleSpec = { name: "sweep", rate: "rate(1 minute)", input: { kind: "sweep" } };

export const FUNCTIONS: Readonly<Record<FunctionName, FunctionSpec>> = {
  audit: {
    description: "Turns EKS audit records into wake-ups",
    memory: 512,
    timeoutSeconds: 30,
    sends: ["provision", "claims", "disruption", "catalog"],
    store: ["find"],
    inClusters: false,
    announces: false,
    schedules: [],
  },
  notify: {
    description: "Turns calls of the clusters' webhooks into wake-ups",
    memory: 1024,
    timeoutSeconds: 10,
    sends: ["provision", "claims", "disruption", "catalog"],
    store: ["find"],
    inClusters: false,
    announces: false,
    schedules: [],
  },
  admission: {
    description: "Defaults, judges and converts NodePools and EC2NodeClasses for the clusters' API servers",
    memory: 1024,
    timeoutSeconds: 10,
    sends: [],
    madeFor: "admission",
    store: [],
    inClusters: false,
    announces: false,
    schedules: [],
  },
  provision: {
    description: "Plans nodes for pods that fit nowhere",
    memory: 2048,
    timeoutSeconds: 60,
    queue: "provision",
    sends: ["provision", "claims"],
    store: ["read", "write", "decide"],
    inClusters: true,
    announces: true,
    schedules: [sweep],
  },
  lifecycle: {
    description: "Launches, registers, repairs, drains and terminates nodes",
    memory: 1024,
    timeoutSeconds: 60,
    queue: "claims",
    sends: ["provision", "claims", "disruption"],
    store: ["find", "read", "write", "write-many", "remove", "join"],
    inClusters: true,
    announces: true,
    schedules: [sweep],
  },
  interruption: {
    description: "Acts on EC2's notices about instances",
    memory: 512,
    timeoutSeconds: 20,
    queue: "interruption",
    sends: ["provision", "claims"],
    store: ["find", "read", "write", "write-many"],
    inClusters: true,
    announces: true,
    schedules: [],
  },
  disruption: {
    description: "Replaces and removes nodes that are drifted, empty or underused",
    memory: 2048,
    timeoutSeconds: 120,
    queue: "disruption",
    sends: ["provision", "claims", "disruption"],
    store: ["read", "write", "remove", "decide"],
    inClusters: true,
    announces: true,
    schedules: [sweep],
  },
  catalog: {
    description: "Resolves EC2NodeClasses, and keeps instance types and prices",
    memory: 1024,
    timeoutSeconds: 300,
    queue: "catalog",
    sends: ["provision", "disruption", "catalog"],
    store: ["read", "write", "write-many"],
    inClusters: true,
    announces: false,
    schedules: [sweep, { name: "prices", rate: "rate(12 hours)", input: { kind: "prices" } }],
  },
  metrics: {
    description: "Serves Karpenter's metrics of all clusters to scrapers",
    memory: 1024,
    timeoutSeconds: 20,
    sends: [],
    madeFor: "scrape",
    store: ["read"],
    inClusters: true,
    announces: false,
    schedules: [],
  },
};

/** What a deployment's settings say of the functions that it has. */
interface Wanted {
  readonly clusters: readonly { readonly sources: readonly string[] }[];
  readonly admission: boolean;
  readonly scrape: boolean;
}

/** Whether a deployment has the function: none is made for a source of wake-ups that no cluster uses, or unasked. */
export function isMade(name: FunctionName, settings: Wanted): boolean {
  const { madeFor } = FUNCTIONS[name];
  if (madeFor !== undefined) return settings[madeFor];
  return (name !== "audit" && name !== "notify") || settings.clusters.some(({ sources }) => sources.includes(name));
}

/**
 * Whether the function's messages can come back to it over queues of the stack: to its own, or over other functions.
 * Lambda ends such a chain after about 16 invocations unless the function allows it ("Use Lambda recursive loop
 * detection to prevent infinite loops", AWS Lambda Developer Guide). A NodeClaim that waits for its pods' grace period,
 * or for EC2, is a longer chain.
 */
export function isInLoop(name: FunctionName): boolean {
  const reached = new Set<FunctionName>();
  const follow = (from: FunctionName): void => {
    for (const to of FUNCTION_NAMES) {
      const { queue } = FUNCTIONS[to];
      if (queue === undefined || queue === "interruption" || reached.has(to) || !FUNCTIONS[from].sends.includes(queue)) continue;
      reached.add(to);
      follow(to);
    }
  };
  follow(name);
  return reached.has(name);
}

interface QueueSpec {
  readonly fifo: boolean;
  /** Delay of each message, seconds; provision's folds the wake-ups of a second (PLAN_HELD_BACK_MS). */
  readonly delaySeconds: number;
  readonly retentionSeconds: number;
  /**
   * Seconds until the messages of an invocation that was killed are handed out again. An attempt that failed otherwise
   * is followed by the next one after 2, 4, 8 … 30 s (adapters/lambda/batch.ts).
   */
  readonly visibilitySeconds: number;
  /** Attempts before the dead-letter queue: within the retention time, even where each of them is killed. */
  readonly maxReceives: number;
  /** Most invocations at once in a stack of few clusters; absent: one per message group (FIFO). */
  readonly maxConcurrency?: number;
  /**
   * Whether the function computes for seconds: clusters of one batch would then take turns on one CPU. Messages of one
   * cluster come in swarms of which one is worked for, so a stack of one cluster gets them in batches.
   */
  readonly computes?: boolean;
}

/** A wake-up that is an hour old is worthless: sixty sweeps have run since. */
const HOUR = 3600;

export const QUEUES: Readonly<Record<QueueName, QueueSpec>> = {
  // The usual 6 × the time-out would leave a killed run's cluster, and a notice, without an attempt for minutes; a
  // message that comes back while it is still worked for does no harm, hence 2 ×. A plan that fails is sent again
  // (functions/shared/cluster-entry.ts), so that these attempts are those after all others.
  provision: {
    fifo: true,
    delaySeconds: PLAN_HELD_BACK_MS / 1_000,
    retentionSeconds: HOUR,
    visibilitySeconds: 120,
    maxReceives: 5,
    computes: true,
  },
  claims: { fifo: false, delaySeconds: 0, retentionSeconds: HOUR, visibilitySeconds: 120, maxReceives: 20, maxConcurrency: 20 },
  disruption: {
    fifo: false,
    delaySeconds: 0,
    retentionSeconds: 2 * HOUR,
    visibilitySeconds: 240,
    maxReceives: 20,
    maxConcurrency: 10,
    computes: true,
  },
  catalog: { fifo: false, delaySeconds: 0, retentionSeconds: 4 * HOUR, visibilitySeconds: 600, maxReceives: 20, maxConcurrency: 5 },
  // A notice is worthless after two minutes: a failed one must return while there is time to drain.
  interruption: { fifo: false, delaySeconds: 0, retentionSeconds: 300, visibilitySeconds: 40, maxReceives: 7, maxConcurrency: 10 },
};

const MAX_BATCH_SIZE = 10;
/** A sweep, and a wake-up meanwhile. */
const CONCURRENCY_PER_CLUSTER = 2;
/** Lambda's limit for the concurrency of an event source. */
const MAX_CONCURRENCY = 1_000;

/** How a queue starts its function in a stack of so many clusters: each brings its own share of concurrency. */
export function eventSourceOf(queue: QueueName, clusters: number): { readonly batchSize: number; readonly maxConcurrency?: number } {
  const { maxConcurrency, computes = false } = QUEUES[queue];
  const batchSize = computes && clusters > 1 ? 1 : MAX_BATCH_SIZE;
  if (maxConcurrency === undefined) return { batchSize };
  return { batchSize, maxConcurrency: Math.min(MAX_CONCURRENCY, Math.max(maxConcurrency, CONCURRENCY_PER_CLUSTER * clusters)) };
}

/** The variable that holds a queue's URL (settings/config.ts). */
export const QUEUE_VARIABLES: Readonly<Record<QueueName, string>> = {
  provision: "PROVISION_QUEUE_URL",
  claims: "CLAIM_QUEUE_URL",
  disruption: "DISRUPTION_QUEUE_URL",
  catalog: "CATALOG_QUEUE_URL",
  interruption: "INTERRUPTION_QUEUE_URL",
};
