import { jsonBytes, jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { isLaunchedByOther } from "#core/lifecycle/identity.ts";
import type { Pod } from "#core/model/pod.ts";
import { judgeReadings, lacksMost, type Readings } from "#core/passes/readings.ts";
import { isActive, isTerminating } from "#core/pods/predicates.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

type Deps = Pick<ClusterDeps, "cluster" | "kubernetes" | "store" | "memory" | "log" | "now">;

const nameOf = ({ cluster }: Deps): string => `readings/${cluster.name}`;

/** The state with the nodes out of reach that disruption must leave alone. */
export const withinReach = (state: ClusterState, wakeTimes: number[], deps: Deps): Promise<ClusterState> =>
  withoutDoubted(withoutOthers(state), wakeTimes, deps);

/**
 * The state with the nodes of NodeClaims that another controller has launched out of reach: they have no record, and
 * are left alone until a user adopts them.
 */
function withoutOthers(state: ClusterState): ClusterState {
  const { nodeClaims, untouchable = new Map() } = state.snapshot;
  const known = new Set(state.records.map(({ name }) => name));
  const others = nodeClaims.filter((claim) => !known.has(claim.metadata.name) && isLaunchedByOther(claim));
  if (others.length === 0) return state;
  const reasons = others.map(({ metadata, status }) => {
    const why = `NodeClaim ${metadata.name} was launched by another controller; the command adopt takes it over`;
    return [status?.nodeName ?? "", why] as const;
  });
  return { ...state, snapshot: { ...state.snapshot, untouchable: new Map([...untouchable, ...reasons]) } };
}

/**
 * The state with all nodes out of reach while its lists lack most pods or nodes that were there a moment ago, and no
 * later list has said the same. In quiet times the table is read once by each process.
 * @param wakeTimes when the lists are looked at again is added
 */
async function withoutDoubted(state: ClusterState, wakeTimes: number[], deps: Deps): Promise<ClusterState> {
  const { snapshot } = state;
  const now = deps.now();
  const counts = countsOf(snapshot.pods, snapshot.nodes.length);
  const known = deps.memory.recall("readings", now);
  const before = known === undefined || lacksMost(known, counts) ? await readReadings(deps) : known;
  const { verdict, next, lookAt = now } = judgeReadings(before, counts, now);
  const isPlausible = verdict === "plausible" || (verdict === "confirm" && (await agrees(before ?? counts, deps)));
  const kept = isPlausible || verdict === "doubtful" ? next : undefined;
  if (kept) await deps.store.putDocument(nameOf(deps), jsonBytes(kept), String(now));
  const seen = kept ?? before;
  if (seen) deps.memory.keep("readings", seen, now);
  if (isPlausible) return state;
  wakeTimes.push(lookAt);
  const why = `the API server lists ${counts.pods} pods and ${counts.nodes} nodes, and a moment ago it listed ${before?.pods} and ${before?.nodes}; until a second list says the same nothing is ended because of it`;
  if (verdict === "doubtful") deps.log.error("lists of the API server are doubted", { controller: "disruption", error: why });
  const held = new Map(snapshot.nodes.map(({ metadata }) => [metadata.name, why]));
  return { ...state, snapshot: { ...snapshot, untouchable: new Map([...(snapshot.untouchable ?? []), ...held]) } };
}

async function readReadings(deps: Deps): Promise<Readings | undefined> {
  const reading = { name: nameOf(deps), what: "How many pods and nodes there were", parse: parsed };
  return (await readDocument(deps, reading))?.value;
}

function parsed(bytes: Uint8Array): Readings | undefined {
  const read = jsonIn(bytes) as Readings;
  return [read.pods, read.nodes, read.doubtedAt ?? 0].every(Number.isFinite) ? read : undefined;
}

/** Whether lists that no process remembers, read from the API server as a whole, lack most, too. */
async function agrees(before: Readings, { kubernetes }: Deps): Promise<boolean> {
  const [pods, nodes] = await Promise.all([kubernetes.list("Pod"), kubernetes.list("Node")]);
  return lacksMost(before, countsOf(pods, nodes.length));
}

const countsOf = (pods: readonly Pod[], nodes: number) => ({
  pods: pods.filter(isActive).length,
  endingPods: pods.filter(isTerminating).length,
  nodes,
});
