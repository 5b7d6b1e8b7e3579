import type { CircuitBreaker } from "#core/disruption/limits/circuit-breaker.ts";
import type { Pause } from "#core/model/pause.ts";
import { type ClusterObjects, clusterObjects } from "../account/objects.ts";
import type { InstallationPorts, LoggedError } from "../account/ports.ts";
import { isSwept, partsOf, type StackParts } from "../account/stack-parts.ts";
import type { StackState } from "../account/stack-state.ts";
import { notifyUrls } from "../account/webhook.ts";
import { observedCircuits } from "./circuits.ts";
import { type InClusterFacts, LEAST_ALLOCATED, type Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";
import { observedPauses } from "./paused.ts";
import { type ServedFacts, servedFacts } from "./served-line.ts";

/** An answer about one thing of several. */
export interface Named<T> {
  readonly name: string;
  readonly is: Observed<T>;
}

/** What was observed of an installation at one time. */
export interface State {
  readonly cluster: string;
  readonly stackName: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly stack: Observed<StackState | undefined>;
  readonly served: Observed<ServedFacts>;
  readonly parts: Observed<StackParts>;
  /** The last error of each function in the last hour. */
  readonly errors: readonly Named<LoggedError | undefined>[];
  /** Messages in each dead-letter queue. */
  readonly deadLetters: readonly Named<number>[];
  /** Whether each schedule is enabled. */
  readonly schedules: readonly Named<boolean>[];
  /** When each function was started by its schedule last, ms; undefined where that is too long ago. */
  readonly sweeps: readonly Named<number | undefined>[];
  /** As of when instance types and prices are known, RFC 3339. */
  readonly prices: Observed<string | undefined>;
  /** What the cluster's webhook calls, without the secret at its end; undefined when none is registered. */
  readonly webhook: Observed<readonly string[] | undefined>;
  readonly inCluster: Observed<InClusterFacts>;
  readonly pauses: Observed<readonly Pause[]>;
  readonly circuits: Observed<CircuitBreaker>;
  readonly objects: Observed<ClusterObjects>;
  /** How kube-scheduler scores nodes (ClusterFacts.scoring). */
  readonly scoring: Observed<string>;
}

const withoutToken = (url: string): string => url.slice(0, url.lastIndexOf("/") + 1);

/** How far back errors and sweeps are looked for. */
const ERRORS_MS = 60 * 60_000;
const SWEEPS_MS = 30 * 60_000;

/** Asks an account and a cluster how the functions do. Changes nothing, and rejects for no missing answer. */
export async function observeState(
  { cluster, stackName }: { readonly cluster: string; readonly stackName: string },
  { account, stacks, clusterRecords, clusterApi, inspector, records, now: clock }: InstallationPorts,
): Promise<State> {
  const now = clock();
  const api = clusterApi(cluster);
  const [stack, inCluster, objects, webhook, scoring] = await Promise.all([
    observed(stacks.describe(stackName)),
    observed(api.observe()),
    observed(clusterObjects(api)),
    observed(notifyUrls(api).then((urls) => urls?.map(withoutToken))),
    observed(account.cluster(cluster).then((eks) => eks.scoring ?? LEAST_ALLOCATED)),
  ]);
  const found = "value" in stack ? stack.value : undefined;
  const parts: Observed<StackParts> =
    found === undefined
      ? { error: "error" in stack ? stack.error : "there is no stack" }
      : await observed(stacks.resources(stackName).then(partsOf));
  const { functions, deadLetters, schedules } = "value" in parts ? parts.value : partsOf([]);
  const served = await servedFacts({ cluster, stackName }, stack, { stacks, clusterRecords });
  const table = found?.outputs["TableName"];
  const each = <T, R>(all: readonly T[], nameOf: (one: T) => string, ask: (one: T) => Promise<R>): Promise<readonly Named<R>[]> =>
    Promise.all(all.map(async (one) => ({ name: nameOf(one), is: await observed(ask(one)) })));
  const nameOf = ({ name }: { readonly name: string }): string => name;
  return {
    ...{ cluster, stackName, now, stack, served, parts, inCluster, objects, webhook, scoring },
    errors: await each(functions, nameOf, ({ functionName }) => inspector.lastError(functionName, now - ERRORS_MS)),
    deadLetters: await each(deadLetters, nameOf, ({ url }) => inspector.depth(url)),
    schedules: await each(schedules, String, (schedule) => inspector.isScheduleEnabled(schedule)),
    sweeps: await each(
      functions.filter(({ name }) => isSwept(name)),
      nameOf,
      async ({ functionName }) => {
        // Only a schedule starts these functions asynchronously; their queues wait for the answer.
        const metric = { namespace: "AWS/Lambda", name: "AsyncEventsReceived", statistic: "Sum" } as const;
        const points = await inspector.metric({ ...metric, dimensions: { FunctionName: functionName }, since: now - SWEEPS_MS });
        return points.findLast(({ value }) => value > 0)?.at;
      },
    ),
    pauses: await observedPauses(cluster, stack, { clusterApi, records, now: clock }),
    circuits: await observedCircuits(cluster, stack, { records }),
    prices: table === undefined ? { error: "there is no table" } : await observed(inspector.pricesAsOf(table)),
  };
}
