import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { type CircuitBreaker, CLOSED, look, type Move, withLost, withMove } from "#core/disruption/limits/circuit-breaker.ts";
import { isCountedMethod } from "#core/disruption/limits/counted.ts";
import { inCommon } from "#core/disruption/limits/in-common.ts";
import { withMoved } from "#core/disruption/limits/pod-health.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";
import { publishOnce } from "../shared/publish-once.ts";

// The circuit breaker is a small document of the table, written under the cluster's lease, and only when it changes.

type Deps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "memory" | "log" | "now">;
type State = Pick<ClusterState, "snapshot" | "records" | "commands">;

const nameOf = ({ cluster }: Deps): string => `circuit-breaker/${cluster.name}`;

/** The breaker after a look at the pods of the pass; an event on the NodePool says when it opens. */
export async function readBreaker({ snapshot, records, commands }: State, deps: Deps): Promise<CircuitBreaker> {
  const reading = { name: nameOf(deps), what: "How the pods are that were moved", parse: parsed };
  const before = (await readDocument(deps, reading))?.value ?? CLOSED;
  const after = look(before, {
    ...{ now: deps.now(), pods: snapshot.pods, commands, nodePools: snapshot.nodePools },
    claims: new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name)),
    going: new Set(records.flatMap(({ name, terminating }) => (terminating ? [name] : []))),
    commonOf: (moved) => inCommon(moved, snapshot.pods, snapshot.nodeClaims),
  });
  return keep(before, after, { snapshot }, deps);
}

/** Follows a step of a command: what it moves when it begins, and that its replacements did not come up. */
export async function followMoves(
  command: CommandRecord,
  next: CommandRecord | undefined,
  { snapshot }: Pick<State, "snapshot">,
  breaker: CircuitBreaker,
  deps: Deps,
): Promise<CircuitBreaker> {
  const { id, phase, reason } = command;
  const now = deps.now();
  if (phase === "Replacing" && next?.phase === "RollingBack") {
    const pools = [...new Set(command.candidates.map(({ nodePool }) => nodePool))];
    return keep(breaker, withLost(breaker, { id, reason }, pools, { now, nodePools: snapshot.nodePools }), { snapshot }, deps);
  }
  if (phase !== "Validating" || (next?.phase !== "Replacing" && next?.phase !== "Deleting")) return breaker;
  const counted = isCountedMethod(next.method) ? next.candidates.filter(({ pods }) => pods.length > 0) : [];
  const claims = counted.map(({ nodeClaim }) => nodeClaim);
  const moving = new Set(counted.flatMap(({ pods }) => pods));
  const moved = withMoved(
    {},
    snapshot.pods.filter((pod) => moving.has(podKey(pod))),
    snapshot.pods,
  );
  const move: Move = { command: id, reason, pools: [...new Set(counted.map(({ nodePool }) => nodePool))], claims, at: now, moved };
  return keep(breaker, withMove(breaker, move), { snapshot }, deps);
}

async function keep(
  before: CircuitBreaker,
  after: CircuitBreaker,
  { snapshot }: Pick<State, "snapshot">,
  deps: Deps,
): Promise<CircuitBreaker> {
  if (after === before) return before;
  await deps.store.putDocument(nameOf(deps), jsonBytes(after), String(deps.now()));
  for (const [key, { why, until, trips }] of Object.entries(after.open)) {
    if (before.open[key]?.trips === trips) continue;
    const [name = "", reason = ""] = key.split("/");
    const clock = new Date(until).toISOString().slice(11, 16);
    const message = `Disruption reason ${reason} stands still until ${clock} UTC: ${why}`;
    deps.log.error("circuit breaker opens", { controller: "disruption", NodePool: { name }, reason, why });
    const pool = snapshot.nodePools.find(({ metadata }) => metadata.name === name);
    if (pool)
      await publishOnce(
        { type: "Warning", reason: "CircuitBreakerOpen", message, about: { kind: "NodePool", metadata: pool.metadata } },
        deps,
      );
  }
  return after;
}

function parsed(bytes: Uint8Array): CircuitBreaker | undefined {
  const read = jsonIn(bytes) as CircuitBreaker;
  const isWhole =
    Array.isArray(read.moves) && [read.open, read.provenAt, read.lost].every((part) => typeof part === "object" && part !== null);
  return isWhole ? read : undefined;
}
