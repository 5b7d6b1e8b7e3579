import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { type RequestPacer, sharedRequestPace } from "#adapters/aws/request-pace.ts";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { type LogRecord, memoryLog } from "#adapters/telemetry/log.ts";
import { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Announcement } from "#core/ports/announcements.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { catalogEntry } from "#functions/catalog/entry.ts";
import { disruptionEntry } from "#functions/disruption/entry.ts";
import { interruptionEntry } from "#functions/interruption/entry.ts";
import { lifecycleEntry } from "#functions/lifecycle/entry.ts";
import { provisionEntry } from "#functions/provision/entry.ts";
import type { Later, LifecycleDeps, Settings } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { sendWakeUpsOnChanges } from "./event-sources.ts";
import { labCatalogue } from "./regions.ts";
import { simulatedKubernetes } from "./world/api-server.ts";
import type { VirtualClock } from "./world/clock.ts";
import { type SimulatedCloud, simulatedCloud } from "./world/cloud.ts";
import { startCluster } from "./world/cluster.ts";
import { type Ec2Environments, ec2Environments } from "./world/ec2-environments.ts";
import { type Ec2Requests, type Ec2RequestsOptions, ec2Requests } from "./world/ec2-requests.ts";
import { type CallHooks, withIntercept } from "./world/intercept.ts";
import { currentInvocation, type Invocation } from "./world/invocation.ts";
import { type Chains, chainsOf, type Lineage, type RecursiveLoop, STACK_RECURSIVE_LOOP } from "./world/lineage.ts";
import type { Message } from "./world/message.ts";
import type { Queue } from "./world/queue.ts";
import { type SimulatedWakeUps, simulatedWakeUps, visibilityIn } from "./world/queues.ts";
import { WORLD_TIMES, type WorldName, type WorldTimes } from "./world/times.ts";
import { inTransactions } from "./world/transactions.ts";
import { createLabWorld, type LabWorld } from "./world/world.ts";

/** What a lab is made of. */
export interface LabOptions {
  readonly seed: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly region: string;
  /** Name of the cluster; "lab" when absent. */
  readonly cluster?: string;
  /** How long EC2 and pods take; "fast" when absent. */
  readonly world?: WorldName;
  /** How long machines take to join, in place of the world's own, ms. */
  readonly joinMs?: WorldTimes["joinMs"];
  /** The sources of wake-ups beside the sweep, which is always on. */
  readonly sources: readonly ("audit" | "notify")[];
  readonly settings?: Partial<Settings>;
  /** Instance types and prices; `labCatalogue` of the region when absent. */
  readonly catalogue?: Catalogue;
  /** Called before and after each remote call of a handler, so that a fault simulation can fail or kill it. */
  readonly hooks?: CallHooks;
  /** The NodeClaim store; one on a table in memory when absent. It is closed with the lab. */
  readonly store?: NodeClaimStore & { close(): void };
  /** How far the clock of the invocation that asks is ahead of virtual time, ms. Only handlers see the skew. */
  readonly skewMs?: (invocation: Invocation | undefined) => number;
  /** Whether Lambda has frozen the invocation: it does nothing, and its timers stand still. */
  readonly isFrozen?: (invocation: Invocation) => boolean;
  /** How long a new instance is missing from EC2's describe and list, ms. */
  readonly cloudLagMs?: number;
  /** How much later than usual a machine that starts now joins the cluster, ms; Infinity when it never does. */
  readonly joinDelayMs?: () => number;
  /** Whether EC2 leaves an instance out of the list that it is writing. */
  readonly isUnlisted?: (id: string) => boolean;
  /** How old the states are that EC2's describe and list report now, ms. */
  readonly staleMs?: () => number;
  /** How many messages of a standard queue one invocation may get; 1 when absent. */
  readonly batchSize?: number;
  /**
   * EC2 keeps its documented buckets of requests. Without this it takes any number of requests, and answers at once.
   */
  readonly ec2?: Ec2Options;
  /** RecursiveLoop of the functions; as in the stack's template when absent. */
  readonly recursiveLoop?: Readonly<Record<string, RecursiveLoop>>;
  /** Whether Lambda refuses an invocation of the function now, because the account runs as many as it may. */
  readonly isThrottled?: (fn: string) => boolean;
  /** Other clusters of the stack, whose API servers do not answer. They share the table, EC2 and the queues. */
  readonly neighbours?: readonly string[];
  /** A second cluster of the stack that works. It shares the table, EC2 and the queues; no hooks are around its API. */
  readonly second?: string;
  readonly onLog?: (record: TimedLogRecord) => void;
  /** Makes the memory of a process for a cluster. */
  readonly newMemory?: () => ProcessMemory;
  /** The code of the functions; that of this tree when absent. */
  readonly entries?: FunctionEntries;
}

interface Ec2Options extends Ec2RequestsOptions {
  /** The pace of an environment of a function; that of the product when absent. */
  readonly pace?: (deps: LifecycleDeps) => RequestPacer;
  /** How many invocations for NodeClaims may run at once; without a bound when absent. */
  readonly lifecycles?: number;
}

/** The bodies of the functions that queues and schedules start. */
export interface FunctionEntries {
  readonly provision: typeof provisionEntry;
  readonly lifecycle: typeof lifecycleEntry;
  readonly disruption: typeof disruptionEntry;
  readonly catalog: typeof catalogEntry;
  readonly interruption: typeof interruptionEntry;
}

export const ENTRIES: FunctionEntries = {
  provision: provisionEntry,
  lifecycle: lifecycleEntry,
  disruption: disruptionEntry,
  catalog: catalogEntry,
  interruption: interruptionEntry,
};

/** A log line of a handler with its time. */
export interface TimedLogRecord extends LogRecord {
  /** Virtual time, ms since the epoch. */
  readonly at: number;
}

/**
 * The real handlers over a simulated cluster and cloud, on a virtual clock, in one process.
 *
 *     const lab = createLab({ seed: 1, start: Date.parse("2026-01-01T09:00:00Z"), region: "us-west-2", sources: [] });
 *     await lab.world.clock.run({ until: lab.world.clock.now() + 60_000 });
 */
export interface Lab {
  readonly world: LabWorld;
  /** The world of the second cluster. */
  readonly second?: LabWorld;
  readonly cloud: SimulatedCloud;
  readonly catalogue: Catalogue;
  /** The requests to EC2, where it keeps its buckets. */
  readonly requests: Ec2Requests;
  readonly wakeUps: SimulatedWakeUps;
  readonly deps: LifecycleDeps;
  readonly log: readonly TimedLogRecord[];
  /** The announcements so far, in order. */
  readonly announcements: readonly Announcement[];
  /** How often each function ran. */
  readonly invocations: ReadonlyMap<string, number>;
  /** How often messages of one chain ran a function. */
  readonly chains: Pick<Chains, "longest" | "stopped">;
  /** Remote calls of all handlers, by port and method. */
  readonly calls: ReadonlyMap<string, number>;
  /**
   * Gives the functions the prices of the market as they are now. Until then they use those of the start, or of the
   * last call.
   */
  readPrices(): void;
  close(): void;
}

const SWEEP_MS = 60_000;
/** When a run of a schedule that Lambda has refused is tried again: once, and within its minute (infra/stack.ts). */
const SCHEDULE_RETRY_MS = 25_000;

export function createLab(options: LabOptions): Lab {
  const { seed, start, region } = options;
  const times = { ...WORLD_TIMES[options.world ?? "fast"], ...(options.joinMs && { joinMs: options.joinMs }) };
  const world = createLabWorld({ seed, start, region, times, ...(options.cluster !== undefined && { cluster: options.cluster }) });
  const { clock } = world;
  const catalogue = options.catalogue ?? labCatalogue(options.region);
  const zones = catalogue.zones.map(({ name }) => name);
  const kubelets = startCluster(world, zones);
  const second =
    options.second === undefined ? undefined : createLabWorld({ seed: seed + 1, start, region, cluster: options.second, clock, times });
  const others = new Map(second && [[second.cluster, { world: second, kubelets: startCluster(second, zones) }]]);
  let known = catalogue;
  const environments = ec2Environments();
  const requests = ec2Requests(clock, world.random.fork("ec2 requests"), options.ec2);
  const cloud = simulatedCloud(world, {
    catalogue,
    kubelets,
    others,
    lagMs: options.cloudLagMs ?? 0,
    joinDelayMs: options.joinDelayMs,
    isUnlisted: options.isUnlisted,
    staleMs: options.staleMs,
    ...(options.ec2 && { request: environments.requesting(requests) }),
  });
  const { batchSize = 1, ec2: { lifecycles } = {} } = options;
  const wakeUps = simulatedWakeUps(world, (queue) => ({
    batchSize,
    ...(queue === "claims" && lifecycles !== undefined && { maxConcurrency: lifecycles }),
  }));
  const store = options.store ?? embeddedNodeClaimStore({ now: () => clock.now() });
  const log: TimedLogRecord[] = [];
  const announcements: Announcement[] = [];
  const ids = world.random.fork("ids");
  const calls = new Map<string, number>();
  const guarded = <T extends object>(port: T, name: string): T => withIntercept(port, name, counting(calls, options.hooks ?? {}), clock);
  const keep = (record: LogRecord): void => {
    const timed = { ...record, at: clock.now() };
    log.push(timed);
    options.onLog?.(timed);
  };
  const { newMemory = () => new ProcessMemory() } = options;
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const deps: LifecycleDeps = {
    cluster: {
      name: world.cluster,
      endpoint: `https://${world.cluster}.example`,
      caBundle: Buffer.from("a certificate authority of the lab").toString("base64"),
      serviceCidr: "10.100.0.0/16",
    },
    kubernetes: managedObjects(guarded(simulatedKubernetes(world), "kubernetes")),
    store: inTransactions(guarded(store, "store")),
    fleet: guarded(cloud.fleet, "fleet"),
    wakeUps: guarded(wakeUps, "wakeUps"),
    catalogue: async () => known,
    log: memoryLog(keep),
    metrics: memoryMetrics(),
    announcements: { announce: async (published) => void announcements.push(...published) },
    settings,
    memory: newMemory(),
    now: () => clock.now() + (options.skewMs?.(currentInvocation()) ?? 0),
    sleep: (ms) => clock.sleep(ms),
    later: laterIn(clock, options.isFrozen),
    newId: () => ids.uuid(),
    hasEventSource: options.sources.length > 0,
  };
  const { pace = (given: LifecycleDeps) => sharedRequestPace({ ...given, account: `own/${region}` }) } = options.ec2 ?? {};
  environments.make(() => ({ pace: pace(deps), made: new Map() }));
  const secondDeps: LifecycleDeps | undefined = second && {
    ...deps,
    cluster: { ...deps.cluster, name: second.cluster, endpoint: `https://${second.cluster}.example` },
    memory: newMemory(),
    kubernetes: managedObjects(withIntercept(simulatedKubernetes(second), "kubernetes", {}, clock)),
  };
  const invocations = new Map<string, number>();
  const chains = chainsOf(options.recursiveLoop ?? STACK_RECURSIVE_LOOP);
  hostFunctions({
    world,
    deps,
    secondDeps,
    wakeUps,
    cloud,
    invocations,
    chains,
    environments,
    newMemory,
    inventory: guarded(cloud.inventory, "inventory"),
    options,
  });
  sendWakeUpsOnChanges(world, deps, options.sources);
  if (second && secondDeps) sendWakeUpsOnChanges(second, secondDeps, options.sources);
  const readPrices = (): void => {
    known = cloud.market();
  };
  return {
    world,
    ...(second && { second }),
    cloud,
    catalogue,
    requests,
    wakeUps,
    deps,
    log,
    announcements,
    invocations,
    chains,
    calls,
    readPrices,
    close: () => store.close(),
  };
}

/** When the timer of an invocation that is frozen is looked at again. */
const FROZEN_TIMER_MS = 1_000;

/** Timers of the invocation that asks: they end with it when it is killed, and stand still while it is frozen. */
const laterIn =
  (clock: VirtualClock, isFrozen: LabOptions["isFrozen"] = () => false): Later =>
  (ms, work) => {
    const invocation = currentInvocation();
    const ring = (): void | Promise<void> => {
      if (invocation === undefined || !isFrozen(invocation)) return invocation?.killed ? undefined : work();
      timer = clock.after(FROZEN_TIMER_MS, "timer of a frozen invocation", ring);
    };
    let timer = clock.after(ms, "timer of an invocation", ring);
    return () => timer.cancel();
  };

function counting(calls: Map<string, number>, hooks: CallHooks): CallHooks {
  return {
    ...hooks,
    before: (call) => {
      const key = `${call.port}.${call.method}`;
      calls.set(key, (calls.get(key) ?? 0) + 1);
      return hooks.before?.(call);
    },
  };
}

interface Hosted {
  readonly world: LabWorld;
  readonly deps: LifecycleDeps;
  readonly secondDeps: LifecycleDeps | undefined;
  readonly wakeUps: SimulatedWakeUps;
  readonly cloud: SimulatedCloud;
  readonly inventory: SimulatedCloud["inventory"];
  readonly invocations: Map<string, number>;
  readonly chains: Chains;
  readonly environments: Ec2Environments;
  readonly newMemory: () => ProcessMemory;
  readonly options: LabOptions;
}

/** The ports of a cluster whose API server does not answer. */
function silent(deps: LifecycleDeps, name: string): LifecycleDeps {
  const fail = async (): Promise<never> => {
    throw new Error(`connect ETIMEDOUT: the API server of ${name} does not answer`);
  };
  return { ...deps, cluster: { ...deps.cluster, name }, kubernetes: new Proxy(deps.kubernetes, { get: () => fail }) };
}

/**
 * Runs the entries of the functions for the messages of their queues and for their schedules; each run is an invocation
 * of its own.
 */
function hostFunctions({
  world,
  deps,
  secondDeps,
  wakeUps,
  cloud,
  inventory,
  invocations,
  chains,
  environments,
  newMemory,
  options,
}: Hosted): void {
  const { clock } = world;
  const { neighbours = [], isThrottled = () => false, entries = ENTRIES } = options;
  const silents = neighbours.map((name) => silent(deps, name));
  const clusters = new Map([deps, ...(secondDeps ? [secondDeps] : []), ...silents].map((one) => [one.cluster.name, one]));
  const { later, log } = deps;
  let runs = 0;
  const entryDeps = {
    clusters: async () => [...clusters.keys()],
    clusterDeps: async (name: string) => clusters.get(name),
    wakeUps: deps.wakeUps,
    later,
    log,
    // Runs are numbered, so that a story has the same lines each time.
    newReconcileId: () => `00000000-0000-4000-8000-${String(++runs).padStart(12, "0")}`,
  };
  const run = async <T>(name: string, body: () => Promise<T>, lineages: readonly Lineage[] = []): Promise<T> => {
    if (isThrottled(name)) throw new InvocationThrottledError(`Lambda refused an invocation of ${name}`);
    const lineage = chains.enter(name, lineages);
    const count = (invocations.get(name) ?? 0) + 1;
    invocations.set(name, count);
    return environments.invoke(`${name}-${count}`, name, body, lineage);
  };
  const subscribe = (queue: Queue, name: string, handler: (event: SQSEvent) => Promise<SQSBatchResponse | undefined>): void => {
    queue.subscribeBatches(async (messages) => {
      const lineages = messages.flatMap(({ lineage }) => lineage ?? []);
      const response = await run(name, () => handler(sqsEvent(messages)), lineages);
      return new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    });
  };
  /** Functions are processes of their own: what one remembers of a cluster, no other one knows. */
  const ownMemory = () => {
    const memories = new Map([...clusters.keys()].map((name) => [name, newMemory()]));
    return async (name: string) => {
      const deps = clusters.get(name);
      return deps && { ...deps, memory: memories.get(name) ?? deps.memory };
    };
  };
  const provision = entries.provision({ ...entryDeps, changeVisibility: visibilityIn(wakeUps.provision), clusterDeps: ownMemory() });
  const lifecycle = entries.lifecycle({ ...entryDeps, changeVisibility: visibilityIn(wakeUps.claims), clusterDeps: ownMemory() });
  const disruption = entries.disruption({ ...entryDeps, changeVisibility: visibilityIn(wakeUps.disruption), clusterDeps: ownMemory() });
  const ofCatalog = ownMemory();
  const catalog = entries.catalog({
    ...entryDeps,
    changeVisibility: visibilityIn(wakeUps.catalog),
    async clusterDeps(name) {
      const deps = await ofCatalog(name);
      return deps && { ...deps, inventory };
    },
  });
  subscribe(wakeUps.provision, "provision", provision);
  subscribe(wakeUps.claims, "lifecycle", lifecycle);
  subscribe(wakeUps.disruption, "disruption", disruption);
  subscribe(wakeUps.catalog, "catalog", catalog);
  subscribe(
    wakeUps.interruption,
    "interruption",
    entries.interruption({
      ...{ ...entryDeps, changeVisibility: visibilityIn(wakeUps.interruption), clusterDeps: ownMemory() },
      ...{ store: deps.store, metrics: deps.metrics, now: deps.now },
    }),
  );
  for (const [name, handler] of Object.entries({ catalog, provision, lifecycle, disruption })) {
    const sweep = (): Promise<unknown> => run(name, () => handler({ kind: "sweep" }));
    // A run of a schedule that was killed is not repeated, because the next run follows.
    const again = (error: unknown): void => {
      if (error instanceof InvocationThrottledError)
        clock.after(SCHEDULE_RETRY_MS, `sweep of ${name} again`, () => sweep().then(noResult, noResult));
    };
    clock.every(SWEEP_MS, `sweep of ${name}`, () => sweep().then(noResult, again));
  }
  cloud.onEvent((event) => wakeUps.interruption.send(JSON.stringify(event)));
}

const noResult = (): void => {};

/** Lambda starts no further invocation: all that the account may run at once are running. */
class InvocationThrottledError extends Error {
  override readonly name = "InvocationThrottledError";
}

/** The event that a function gets for messages of its queue. */
export const sqsEvent = (messages: readonly Message[]): SQSEvent => ({ Records: messages.map(sqsRecord) });

function sqsRecord({ id, body, receiveCount, sentAt, group }: Message): SQSRecord {
  const attributes = {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(sentAt),
    SenderId: "lab",
    ApproximateFirstReceiveTimestamp: String(sentAt),
    ...(group !== undefined && { MessageGroupId: group }),
  };
  const record = { messageId: id, receiptHandle: id, body, attributes, messageAttributes: {}, md5OfBody: "", eventSource: "aws:sqs" };
  return { ...record, eventSourceARN: "arn:aws:sqs:lab", awsRegion: "lab" };
}
