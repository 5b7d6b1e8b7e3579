import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { Pod } from "../model/pod.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podUid } from "../pods/predicates.ts";

/** Wait after the first refusal of a NodeClaim; each further refusal doubles it. No benchmark has tuned these. */
const FIRST_WAIT_MS = 60_000;
const MAX_WAIT_MS = 16 * 60_000;
/** How long pods of one demand are planned without the other pods of a NodeClaim that was refused. */
const TURN_MS = 20_000;
/** Demands that are planned one by one; with more demands, several share a turn. */
const MAX_TURNS = 8;

/** A record whose NodeClaim the API server has refused. */
type Refused = NodeClaimRecord & { readonly refused: NonNullable<NodeClaimRecord["refused"]> };

/** Why a refused NodeClaim terminates: the `reason` label of nodeclaims_disrupted_total. */
export const CREATION_REFUSED = "creation_refused";

/** When the pods of a refused NodeClaim are planned again although nothing has changed, ms since the epoch. */
export function retryAt({ refused, refusals = 0 }: Refused): number {
  return refused.at + Math.min(FIRST_WAIT_MS * 2 ** refusals, MAX_WAIT_MS);
}

/** When the record of a refused NodeClaim is removed: its next refusal must find how many there were. */
export function forgetAt(record: Refused): number {
  return retryAt(record) + Math.max(retryAt(record) - record.refused.at, 2 * MAX_TURNS * TURN_MS);
}

export function isRefused(record: NodeClaimRecord): record is Refused {
  return record.refused !== undefined;
}

/** How often the API server has refused a NodeClaim for some of these pods. */
export function refusalsOf(podUids: readonly string[], records: readonly NodeClaimRecord[]): number {
  const uids = new Set(podUids);
  const refused = records.filter((record) => isRefused(record) && record.podUids.some((uid) => uids.has(uid)));
  return Math.max(0, ...refused.map(({ refusals = 0 }) => refusals + 1));
}

/** Pods for which no NodeClaim is planned now, because the API server would refuse it as it did the last one. */
interface RefusedPods {
  /** Pod UID to the reason. */
  readonly reasons: ReadonlyMap<string, string>;
  /** When some of them are planned again, ms since the epoch. */
  readonly nextAt: number | undefined;
}

/**
 * What the API server refuses once, it refuses again: the pods wait, longer after each refusal, until the NodePool
 * changes or the wait is over. Whose demand was refused is unknown when pods of several demands shared the NodeClaim:
 * they are then planned one demand at a time, so that the others get their nodes.
 */
export function refusedPods(
  { pods, virtualPods = [], nodePools, now }: Pick<Snapshot, "pods" | "virtualPods" | "nodePools" | "now">,
  records: readonly NodeClaimRecord[],
): RefusedPods {
  const inOrder = records.filter(isRefused).sort((a, b) => a.refused.at - b.refused.at);
  const lastOf = new Map(inOrder.flatMap((record) => record.podUids.map((uid) => [uid, record] as const)));
  const reasons = new Map<string, string>();
  const times: number[] = [];
  if (lastOf.size === 0) return { reasons, nextAt: undefined };
  const generations = new Map(nodePools.map(({ metadata }) => [metadata.name, metadata.generation]));
  const waiting = Map.groupBy([...pods, ...virtualPods], (pod) => lastOf.get(podUid(pod)));
  for (const [record, own] of waiting) {
    if (record === undefined || generations.get(record.nodePool ?? "") !== record.nodePoolGeneration) continue;
    const turns = turnsOf(own);
    const turn = Math.floor((now - record.refused.at) / TURN_MS);
    const held = turns.length > 1 ? turns.filter((_, index) => index !== turn % turns.length).flat() : now < retryAt(record) ? own : [];
    if (held.length === 0) continue;
    times.push(turns.length > 1 ? record.refused.at + (turn + 1) * TURN_MS : retryAt(record));
    for (const pod of held) reasons.set(podUid(pod), reasonOf(record));
  }
  return { reasons, nextAt: times.length === 0 ? undefined : Math.min(...times) };
}

function reasonOf({ nodePool, refused }: Refused): string {
  return `the API server refuses the NodeClaim that NodePool ${nodePool} would make for the pod (${refused.message}); change the pod, the NodePool, or the policy that refuses it`;
}

/** Pods by their demand, at most MAX_TURNS lists, in an order that does not depend on the order of the pods. */
function turnsOf(pods: readonly Pod[]): readonly (readonly Pod[])[] {
  const byDemand = Map.groupBy(pods, demandText);
  const inOrder = [...byDemand.keys()].sort();
  return [...Map.groupBy(inOrder.entries(), ([index]) => index % MAX_TURNS).values()].map((texts) =>
    texts.flatMap(([, text]) => byDemand.get(text) ?? []),
  );
}

/** An equal text for pods that ask the same of a NodeClaim's requirements. */
function demandText({ spec }: Pod): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, volumes = [] } = spec;
  const claims = volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  return JSON.stringify([nodeSelector, affinity, tolerations, topologySpreadConstraints, claims]);
}
