import { keepCircuits, readCircuits } from "#adapters/store/circuit-breaker.ts";
import {
  type CircuitBreaker,
  CLOSED,
  circuitText,
  look,
  type Move,
  namesIn,
  openCircuits,
  withLost,
  withMove,
} from "#core/disruption/limits/circuit-breaker.ts";
import { isCountedMethod } from "#core/disruption/limits/counted.ts";
import { driftTargets, scopesOf } from "#core/disruption/limits/drift-targets.ts";
import { inCommon } from "#core/disruption/limits/in-common.ts";
import { withMoved } from "#core/disruption/limits/pod-health.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { publishOnce } from "../shared/publish-once.ts";

// The circuit breaker is written under the cluster's lease, and only when it changes.

type Deps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "memory" | "log" | "metrics" | "now">;
type State = Pick<ClusterState, "snapshot" | "records" | "commands" | "nodeClasses">;

/** The breaker after a look at the pods of the pass; an event on the NodePool says when it opens. */
export async function readBreaker(state: State, deps: Deps): Promise<CircuitBreaker> {
  const { snapshot, records, commands } = state;
  // Without nodes there is nothing to hold, and an idle cluster is not to read.
  if (snapshot.nodeClaims.length === 0 && commands.length === 0) return CLOSED;
  const before = (await readCircuits(deps.cluster.name, deps)) ?? CLOSED;
  const after = look(before, {
    ...{ ...factsOf(state, deps), pods: snapshot.pods, commands },
    claims: new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name)),
    going: new Set(records.flatMap(({ name, terminating }) => (terminating ? [name] : []))),
    commonOf: (moved) => inCommon(moved, snapshot.pods, snapshot.nodeClaims),
  });
  for (const { scope, reason } of openCircuits(after, deps.now())) deps.metrics.gauge("circuit_breaker_open", { scope, reason }, 1);
  return keep(before, after, state, deps);
}

const factsOf = ({ snapshot, nodeClasses }: State, { now }: Pick<Deps, "now">) => ({
  ...{ now: now(), nodePools: snapshot.nodePools, targets: driftTargets(snapshot.nodePools, nodeClasses) },
});

/** Follows a step of a command: what it moves when it begins, and that its replacements did not come up. */
export async function followMoves(
  command: CommandRecord,
  next: CommandRecord | undefined,
  state: State,
  breaker: CircuitBreaker,
  deps: Deps,
): Promise<CircuitBreaker> {
  if (command.phase === "Replacing" && next?.phase === "RollingBack") {
    const pools = [...new Set(command.candidates.map(({ nodePool }) => nodePool))];
    const lost = { pools, replacements: notComeUp(command, state) };
    return keep(breaker, withLost(breaker, command, lost, factsOf(state, deps)), state, deps);
  }
  const begins = command.phase === "Validating" && (next?.phase === "Replacing" || next?.phase === "Deleting");
  return begins ? keep(breaker, withMove(breaker, moveOf(next, state, deps)), state, deps) : breaker;
}

/** Replacements that have a machine and no initialized node. One that EC2 had no machine for says nothing of nodes. */
function notComeUp({ replacementClaims }: CommandRecord, { records }: State): readonly string[] {
  return records.flatMap(({ name, instance, initializedAt }) =>
    replacementClaims.includes(name) && instance !== undefined && initializedAt === undefined ? [name] : [],
  );
}

function moveOf({ id, method, reason, candidates }: CommandRecord, state: State, deps: Pick<Deps, "now">): Move {
  const { pods, nodePools } = state.snapshot;
  const counted = isCountedMethod(method) ? candidates.filter((one) => one.pods.length > 0) : [];
  const moving = new Set(counted.flatMap((one) => one.pods));
  const pools = [...new Set(counted.map(({ nodePool }) => nodePool))];
  const { targets, now } = factsOf(state, deps);
  const scopes = nodePools.flatMap((pool) => (reason === "Drifted" && pools.includes(pool.metadata.name) ? scopesOf(pool) : []));
  return {
    ...{ command: id, reason, pools, claims: counted.map(({ nodeClaim }) => nodeClaim), at: now },
    targets: Object.fromEntries(scopes.map((scope) => [scope, targets[scope] ?? ""])),
    moved: withMoved(
      {},
      pods.filter((pod) => moving.has(podKey(pod))),
      pods,
    ),
  };
}

async function keep(before: CircuitBreaker, after: CircuitBreaker, { snapshot }: State, deps: Deps): Promise<CircuitBreaker> {
  if (after === before) return before;
  const { cluster, store, log, now } = deps;
  const opened = Object.entries(after.open).flatMap(([key, circuit]) =>
    before.open[key]?.trips === circuit.trips ? [] : [{ ...circuit, ...namesIn(key) }],
  );
  const closed = Object.entries(before.open).flatMap(([key, circuit]) =>
    after.open[key] === undefined ? [{ ...circuit, ...namesIn(key) }] : [],
  );
  const entryOf = ({ scope, reason, pools, until }: (typeof opened)[number]) => ({
    ...{ cluster: cluster.name, at: now(), scope, reason, nodePools: pools, until },
  });
  await store.addHistory([
    ...opened.map((one) => ({ ...entryOf(one), type: "CircuitOpened", why: one.why }) as const),
    ...closed.map((one) => ({ ...entryOf(one), type: "CircuitClosed" }) as const),
  ]);
  await keepCircuits(cluster.name, after, store, now());
  for (const circuit of opened) {
    const { scope, reason, why, pools } = circuit;
    log.error("circuit breaker opens", { controller: "disruption", scope, reason, why });
    for (const { metadata } of snapshot.nodePools.filter((pool) => pools.includes(pool.metadata.name))) {
      const about = { kind: "NodePool", metadata } as const;
      await publishOnce({ type: "Warning", reason: "CircuitBreakerOpen", message: circuitText(circuit), about }, deps);
    }
  }
  return after;
}
