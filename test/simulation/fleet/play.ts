import type { LogRecord } from "#adapters/telemetry/log.ts";
import type { FunctionName } from "#infra/functions.ts";
import { virtualClock } from "#lab/world/clock.ts";
import type { Violation } from "../observe.ts";
import { CATALOGUE, START } from "../story.ts";
import { type ClusterSpec, type PlayedCluster, playCluster } from "./cluster.ts";
import { type FunctionTotals, lambda } from "./lambda.ts";
import { deployStack } from "./stack.ts";

/** What came of one cluster. */
export interface ClusterOutcome {
  readonly spec: ClusterSpec;
  /** From Unschedulable until CreateFleet has answered with the pod's machine, ms. */
  readonly waits: readonly number[];
  /** Pods for which no machine has started within `LOST_MS`. */
  readonly lostPods: number;
  /** Decisions that another one has overtaken, or that did not end in time. */
  readonly lostDecisions: number;
  readonly violations: readonly Violation[];
  /** Messages of the cluster that no try could handle. */
  readonly deadLetters: number;
  /** Error lines of its functions, by their text. */
  readonly errors: ReadonlyMap<string, number>;
}

export interface FleetOutcome {
  readonly clusters: readonly ClusterOutcome[];
  readonly functions: ReadonlyMap<FunctionName, FunctionTotals>;
  /** Most invocations at once, in the account. */
  readonly peak: number;
  readonly ec2Throttles: number;
  readonly minutes: number;
}

export interface FleetOptions {
  readonly clusters: readonly ClusterSpec[];
  /** Virtual minutes. */
  readonly minutes: number;
  readonly accountConcurrency: number;
  readonly onMinute?: (minute: number) => void;
}

/** A pod without a machine after this time has been forgotten by somebody: the sweep finds each within a minute. */
const LOST_MS = 100_000;
const LOST = /LeaseLost|took too long and another one has begun|did not end in the/;

/** Plays one stack with these clusters. */
export async function playFleet({ clusters: specs, minutes, accountConcurrency, onMinute }: FleetOptions): Promise<FleetOutcome> {
  const clock = virtualClock(START);
  const endsAt = START + minutes * 60_000;
  const clusters = specs.map((spec) => playCluster(spec, clock, endsAt));
  const service = lambda({ clock, accountConcurrency });
  const lines = new Map<string, LogRecord[]>();
  const stack = await deployStack({
    ...{ clock, clusters, service, catalogue: CATALOGUE },
    onLog(cluster, record) {
      if (record.level !== "error") return;
      const name = cluster ?? String(record.fields["cluster"] ?? "");
      lines.set(name, [...(lines.get(name) ?? []), record]);
    },
  });
  for (let minute = 1; minute <= minutes; minute++) {
    await clock.run({ until: START + minute * 60_000 });
    onMinute?.(minute);
  }
  for (const watching of stack.observers.values()) await watching.finish();
  const letters = Object.values(stack.queues).flatMap((queue) => (typeof queue === "object" ? queue.deadLetters : []));
  const outcomeOf = (cluster: PlayedCluster): ClusterOutcome => {
    const { spec, waits, waiting } = cluster;
    const errors = lines.get(spec.name) ?? [];
    const violations = stack.observers.get(spec.name)?.violations ?? [];
    return {
      ...{ spec, waits, violations },
      lostPods: waiting().filter((ms) => ms > LOST_MS).length,
      lostDecisions: errors.filter((record) => LOST.test(textOf(record))).length,
      deadLetters: letters.filter(({ body }) => body.includes(`"cluster":"${spec.name}"`)).length,
      errors: countedBy(errors.map(textOf)),
    };
  };
  const outcome = {
    clusters: clusters.map(outcomeOf),
    functions: service.totals,
    peak: service.peak(),
    ec2Throttles: stack.ec2Throttles(),
    minutes,
  };
  stack.close();
  return outcome;
}

function textOf({ message, fields }: LogRecord): string {
  const { error } = fields as { readonly error?: unknown };
  const why = error instanceof Error ? `${error.name}: ${error.message}` : typeof error === "string" ? error : undefined;
  return why === undefined ? message : `${message}: ${why}`;
}

function countedBy(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
