import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { type LogRecord, memoryLog } from "#adapters/telemetry/log.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { CatalogClusterDeps } from "#functions/catalog/entry.ts";
import type { Later, LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { eventSourceOf, FUNCTIONS, type QueueName } from "#infra/functions.ts";
import { sendWakeUpsOnChanges } from "#lab/event-sources.ts";
import { ENTRIES, type Lab, sqsEvent } from "#lab/host.ts";
import type { VirtualClock } from "#lab/world/clock.ts";
import { simulatedCloud } from "#lab/world/cloud.ts";
import { type CallHooks, type PortCall, withIntercept } from "#lab/world/intercept.ts";
import { currentInvocation } from "#lab/world/invocation.ts";
import type { Queue } from "#lab/world/queue.ts";
import { simulatedWakeUps, visibilityIn } from "#lab/world/queues.ts";
import { inTransactions } from "#lab/world/transactions.ts";
import { history } from "../invariants/history.ts";
import { CHECK_MS, type Scene } from "../invariants/invariant.ts";
import { type Observer, observer } from "../observe.ts";
import { type PlayedCluster, telling } from "./cluster.ts";
import { costOf, SILENT_READ_MS, SILENT_WRITE_MS, TABLE_WRITE_MS } from "./costs.ts";
import { ec2Account } from "./ec2.ts";
import { currentEnvironment, type Environment, type Lambda } from "./lambda.ts";

export interface StackOptions {
  readonly clock: VirtualClock;
  readonly clusters: readonly PlayedCluster[];
  readonly service: Lambda;
  readonly catalogue: Catalogue;
  readonly onLog: (cluster: string | undefined, record: LogRecord) => void;
}

type Served = "provision" | "lifecycle" | "disruption" | "catalog" | "interruption";

const SWEEP_MS = 60_000;
/** A sweep that fails is followed by the next one. */
const QUIETLY = (): void => {};

/** The functions of one stack over its clusters: queues, schedules, one table and one account of EC2. */
export async function deployStack({ clock, clusters, service, catalogue, onLog }: StackOptions) {
  const [first] = clusters;
  if (first === undefined) throw new Error("a stack needs a cluster");
  const { world } = first;
  const byName = new Map(clusters.map((cluster) => [cluster.spec.name, cluster]));
  const queues = simulatedWakeUps(world, (queue) => eventSourceOf(queue, clusters.length));
  const table = embeddedNodeClaimStore();
  const account = ec2Account(clock, world.random.fork("ec2 requests"), {
    swapPace: async (...args) => {
      await clock.sleep(TABLE_WRITE_MS);
      return table.swapPace(...args);
    },
  });
  const { request } = account;
  const cloud = simulatedCloud(world, { catalogue, kubelets: first.kubelets, others: new Map([...byName].slice(1)), request });
  for (const { standing } of clusters) await standing?.record(table);
  const observers = new Map(clusters.flatMap((cluster) => (isOrdinary(cluster) ? [[cluster.spec.name, observer()] as const] : [])));
  const calls = new Map(clusters.map(({ spec }) => [spec.name, new Map<string, number>()]));
  const ids = world.random.fork("ids");

  /** Time passes before and after each call; the laws look on in between. */
  const hooksOf = (cluster: PlayedCluster | undefined): CallHooks => {
    const watching = cluster && observers.get(cluster.spec.name)?.around({});
    const counted = cluster && calls.get(cluster.spec.name);
    return {
      async before(call) {
        await service.charge();
        const key = `${call.port}.${call.method}`;
        if (!cluster?.standing?.isAbout(call)) counted?.set(key, (counted.get(key) ?? 0) + 1);
        if (call.port === "kubernetes" && cluster?.isSilent()) await hang(call, cluster.spec.name);
        const verdict = await watching?.before?.(call);
        service.goOn();
        return verdict;
      },
      async after(call, result) {
        const environment = currentEnvironment();
        service.goOn();
        if (environment !== undefined) {
          const { wireMs, cpuMs } = costOf(call, result, environment, cluster?.spec.name ?? "");
          await clock.sleep(wireMs);
          service.goOn();
          await service.charge(cpuMs);
        }
        const verdict = await watching?.after?.(call, result);
        service.goOn();
        return verdict;
      },
    };
  };
  const hang = async ({ method }: PortCall, name: string): Promise<never> => {
    await clock.sleep(/^(get|list|version)$/.test(method) ? SILENT_READ_MS : SILENT_WRITE_MS);
    service.goOn();
    throw new Error(`${method} https://${name}.example: no answer within 10 s`);
  };

  const depsOf = (cluster: PlayedCluster): LifecycleDeps & CatalogClusterDeps => {
    const { name } = cluster.spec;
    const hooks = hooksOf(cluster);
    const guarded = <T extends object>(port: T, of: string): T => withIntercept(port, of, hooks);
    return {
      cluster: {
        ...{ name, endpoint: `https://${name}.example`, serviceCidr: "10.100.0.0/16" },
        caBundle: Buffer.from("a certificate authority of the lab").toString("base64"),
      },
      kubernetes: managedObjects(guarded(cluster.kubernetes, "kubernetes")),
      store: inTransactions(guarded(telling(table, cluster), "store")),
      fleet: guarded(cluster.standing?.fleet(cloud.fleet) ?? cloud.fleet, "fleet"),
      wakeUps: guarded(queues, "wakeUps"),
      inventory: guarded(cloud.inventory, "inventory"),
      catalogue: async () => catalogue,
      log: memoryLog((record) => onLog(name, record)),
      metrics: NO_METRICS,
      announcements: { announce: async () => {} },
      settings: DEFAULT_SETTINGS,
      memory: new ProcessMemory(),
      ...{ now: clock.now, later: laterIn(clock), newId: () => ids.uuid(), hasEventSource: true },
      async sleep(ms) {
        await service.charge();
        await clock.sleep(ms);
        service.goOn();
      },
    };
  };

  /** What one process of a function has: memories of its own. */
  const entryDeps = (queue: QueueName) => {
    const known = new Map<string, LifecycleDeps & CatalogClusterDeps>();
    const described = withIntercept(table, "store", hooksOf(undefined));
    return {
      clusters: async () => [...byName.keys()],
      async clusterDeps(name: string) {
        const cluster = byName.get(name);
        if (cluster === undefined) return undefined;
        // The cluster's description, once for each process.
        if (!known.has(name)) await described.documentVersion(`cluster/${name}`);
        const deps = known.get(name) ?? depsOf(cluster);
        known.set(name, deps);
        return deps;
      },
      wakeUps: withIntercept(queues, "wakeUps", hooksOf(undefined)),
      later: laterIn(clock),
      log: memoryLog((record) => onLog(undefined, record)),
      newReconcileId: () => ids.uuid(),
      changeVisibility: visibilityIn(queues[queue]),
    };
  };
  const entryOf: Readonly<Record<Served, (environment: Environment) => Handler>> = {
    provision: () => ENTRIES.provision(entryDeps("provision")) as Handler,
    lifecycle: () => ENTRIES.lifecycle(entryDeps("claims")) as Handler,
    disruption: () => ENTRIES.disruption(entryDeps("disruption")) as Handler,
    catalog: () => ENTRIES.catalog(entryDeps("catalog")) as Handler,
    interruption: () => {
      const store = withIntercept(table, "store", hooksOf(undefined));
      return ENTRIES.interruption({ ...entryDeps("interruption"), store, metrics: NO_METRICS, now: clock.now }) as Handler;
    },
  };
  for (const fn of Object.keys(entryOf) as Served[]) {
    const run = service.deploy<Handler>(fn, entryOf[fn]);
    const queue: Queue = queues[FUNCTIONS[fn].queue ?? "claims"];
    queue.subscribeBatches(async (messages) => {
      const response = await run((handler, context) => handler(sqsEvent(messages), context));
      return new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    });
    if (FUNCTIONS[fn].schedules.some(({ name }) => name === "sweep"))
      clock.every(SWEEP_MS, `sweep of ${fn}`, () => run((handler, context) => handler({ kind: "sweep" }, context)).then(QUIETLY, QUIETLY));
  }
  cloud.onEvent((event) => queues.interruption.send(JSON.stringify(event)));

  for (const cluster of clusters) {
    const deps = { ...depsOf(cluster), store: table, wakeUps: queues };
    const ringing = { ...cluster.world, onChange: (listener: Parameters<typeof cluster.world.onChange>[0]) => listen(cluster, listener) };
    sendWakeUpsOnChanges(ringing, deps, ["notify"]);
  }
  for (const [name, watching] of observers) {
    const cluster = byName.get(name);
    if (cluster !== undefined) watching.watch(sceneOf(cluster));
  }
  if (observers.size > 0) clock.every(CHECK_MS, "invariants", () => eachOf(observers, (watching) => watching.check()));

  /** What the laws look at: the lab of one cluster. */
  function sceneOf({ spec, world: own, standing }: PlayedCluster): Scene {
    const lab = {
      world: own,
      cloud,
      catalogue,
      deps: { settings: DEFAULT_SETTINGS },
      log: [],
      calls: calls.get(spec.name),
    } as unknown as Lab;
    const faults = {
      hits: [],
      counts: new Map(),
      isStormy: () => false,
      tableLostAt: () => Number.NEGATIVE_INFINITY,
      recordsLostAt: () => Number.NEGATIVE_INFINITY,
    };
    return {
      lab,
      table: standing?.hidden(table) ?? table,
      faults,
      history: history(clock, 0),
      keepsHistory: true,
      keepsDestinations: true,
    };
  }

  return {
    queues,
    cloud,
    observers: observers as ReadonlyMap<string, Observer>,
    ec2Throttles: account.throttles,
    close: () => table.close(),
  };
}

export type DeployedStack = Awaited<ReturnType<typeof deployStack>>;

type Handler = (
  event: SQSEvent | { readonly kind: string },
  context: { getRemainingTimeInMillis(): number },
) => Promise<SQSBatchResponse | undefined>;

/** Laws are for clusters whose users and API servers mean well. */
const isOrdinary = ({ spec }: PlayedCluster): boolean => spec.kind === "small" || spec.kind === "large";

const NO_METRICS = { count: () => {}, gauge: () => {}, observe: () => {} };

async function eachOf(observers: ReadonlyMap<string, Observer>, look: (watching: Observer) => Promise<void>): Promise<void> {
  for (const watching of observers.values()) await look(watching);
}

/** A dead API server sends no webhook. */
function listen({ world, isSilent }: PlayedCluster, listener: Parameters<PlayedCluster["world"]["onChange"]>[0]): () => void {
  return world.onChange((change) => {
    if (!isSilent()) listener(change);
  });
}

/** How often the timer of a process that is frozen is looked at, ms. */
const FROZEN_MS = 1_000;

/** Timers of an invocation end with it when it is killed, and stand still while its process is frozen. */
const laterIn =
  (clock: VirtualClock): Later =>
  (ms, work) => {
    const invocation = currentInvocation();
    const environment = currentEnvironment();
    const ring = (): void | Promise<void> => {
      if (invocation?.killed) return undefined;
      if (!environment?.isFrozen()) return work();
      timer = clock.after(FROZEN_MS, "timer of a frozen process", ring);
    };
    let timer = clock.after(ms, "timer of an invocation", ring);
    return () => timer.cancel();
  };
