/** The functions, what wakes them and whom they wake: the one table from which the stack, its roles and its tests are made. */

export const FUNCTION_NAMES = ["audit", "notify", "admission", "provision", "lifecycle", "interruption", "disruption", "catalog"] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

export type QueueName = "provision" | "claims" | "disruption" | "catalog" | "interruption";

/** The queues of our own messages; the other is EventBridge's. */
export type WakeUpQueue = Exclude<QueueName, "interruption">;

export interface ScheduleSpec {
  readonly name: string;
  readonly rate: string;
  readonly input: Readonly<Record<string, string>>;
}

/**
 * A part of what the store's adapter does (functions/adapters/store): find a claim by its instance; read records and documents; write them one by one, or
 * many at once; remove them; take the lease and write under it.
 */
export type StoreUse = "find" | "read" | "write" | "write-many" | "remove" | "decide";

export interface FunctionSpec {
  readonly description: string;
  /** MB; CPU comes with it, a whole one at 1,769. */
  readonly memory: number;
  readonly timeoutSeconds: number;
  /** The queue that feeds it. */
  readonly queue?: QueueName;
  readonly sends: readonly WakeUpQueue[];
  /** What it may do to the record of intent. */
  readonly store: readonly StoreUse[];
  /** Whether it talks to clusters: then it asks EKS where they are, and each cluster lets it in. */
  readonly inClusters: boolean;
  /** Whether it tells the event bus, if there is one, what it did and why. */
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
    sends: ["provision", "claims", "disruption"],
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
    store: ["read", "write", "write-many", "remove"],
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
    sends: ["provision"],
    store: ["read", "write", "write-many"],
    inClusters: true,
    announces: false,
    schedules: [sweep, { name: "prices", rate: "rate(12 hours)", input: { kind: "prices" } }],
  },
};

export interface QueueSpec {
  readonly fifo: boolean;
  /** Seconds that a message waits before it is seen: provision's batching window, unless BATCH_IDLE_DURATION says another. */
  readonly delaySeconds: number;
  readonly retentionSeconds: number;
  readonly visibilitySeconds: number;
  /** Tries before the dead-letter queue. */
  readonly maxReceives: number;
  /** The most invocations at once; absent: one a message group (FIFO). */
  readonly maxConcurrency?: number;
}

/** A wake-up that is an hour old says nothing: the sweeps have looked sixty times since. */
const HOUR = 3600;

export const QUEUES: Readonly<Record<QueueName, QueueSpec>> = {
  // A killed run blocks its cluster's group until its messages are seen again, hence 2 × the timeout and not the usual 6.
  provision: { fifo: true, delaySeconds: 1, retentionSeconds: HOUR, visibilitySeconds: 120, maxReceives: 5 },
  claims: { fifo: false, delaySeconds: 0, retentionSeconds: HOUR, visibilitySeconds: 360, maxReceives: 5, maxConcurrency: 20 },
  disruption: { fifo: false, delaySeconds: 0, retentionSeconds: HOUR, visibilitySeconds: 720, maxReceives: 3, maxConcurrency: 10 },
  catalog: { fifo: false, delaySeconds: 0, retentionSeconds: 2 * HOUR, visibilitySeconds: 1800, maxReceives: 3, maxConcurrency: 5 },
  // A notice is worthless after two minutes: what failed must come back while there is time to drain.
  interruption: { fifo: false, delaySeconds: 0, retentionSeconds: 300, visibilitySeconds: 40, maxReceives: 4, maxConcurrency: 10 },
};

/** The variable that holds a queue's URL (functions/adapters/config.ts). */
export const QUEUE_VARIABLES: Readonly<Record<WakeUpQueue, string>> = {
  provision: "PROVISION_QUEUE_URL",
  claims: "CLAIM_QUEUE_URL",
  disruption: "DISRUPTION_QUEUE_URL",
  catalog: "CATALOG_QUEUE_URL",
};
