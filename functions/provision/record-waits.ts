import { aboutClaim } from "#core/history/claim-entries.ts";
import { subjectOfMachine } from "#core/history/keys.ts";
import { isToldOf, type NominatedAbout, nominatedEntry, type ToldPlace } from "#core/history/nominated.ts";
import { type WaitingPod, waitsToWrite } from "#core/history/waiting.ts";
import { roundRobin } from "#core/lib/round-robin.ts";
import { fromRfc3339 } from "#core/model/conditions.ts";
import type { PodsNominated, PodsWaited } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey, podUid } from "#core/pods/predicates.ts";
import { type WaitingPlace, waitingPlaces } from "#core/provisioning/waiting-places.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";

const DAY_MS = 24 * 60 * 60_000;

/**
 * Machines that one pass records, each a query and a write; each tenant's first. The next pass records the others. No
 * benchmark has tuned it.
 */
const MAX_PLACES = 50;
const TURN_MS = 60_000;

/**
 * Writes into the history which pods wait, and why or for which machine. What it says already is read first, so that a
 * wait of hours costs a few writes. No NodeClaim record has these pods; a kill costs an entry, which the next pass
 * writes.
 */
export async function recordWaits(plan: Plan, snapshot: Snapshot, records: readonly NodeClaimRecord[], deps: ClusterDeps): Promise<void> {
  const { store, memory } = deps;
  const at = deps.now();
  const places = placesToRecord(plan, snapshot, (pod) => memory.recall("recordedPlaces", at, { key: podUid(pod) }), at);
  const abouts = await Promise.all(places.map((place) => entryOf(place, records, at, deps)));
  const entries = [...(await waitsOf(plan, snapshot, at, deps)), ...abouts.filter((entry) => entry !== undefined)];
  if (entries.length > 0) await store.addHistory(entries);
  for (const place of places)
    for (const pod of place.pods) memory.keep("recordedPlaces", { subject: subjectOfMachine(place), at }, at, podUid(pod));
}

async function waitsOf(
  { podErrors }: Plan,
  { pods }: Snapshot,
  at: number,
  { cluster, store }: ClusterDeps,
): Promise<readonly PodsWaited[]> {
  const errors = new Map(Object.entries(podErrors));
  const waiting = pods.flatMap((pod): WaitingPod[] => {
    const error = errors.get(podKey(pod));
    return error === undefined ? [] : [{ pod, error }];
  });
  if (waiting.length === 0) return [];
  const known = await store.history(cluster.name, { since: at - DAY_MS, until: at + 1, about: "pod/" });
  return waitsToWrite(
    cluster.name,
    waiting,
    known.filter((entry) => entry.type === "PodsWaited"),
    at,
  );
}

/** The machines that pods wait for, with those pods of which this process has not recorded it. */
function placesToRecord(
  plan: Plan,
  snapshot: Snapshot,
  recorded: (pod: Pod) => ToldPlace | undefined,
  at: number,
): readonly WaitingPlace[] {
  const places = waitingPlaces(plan, snapshot)
    .map((place) => ({ ...place, pods: place.pods.filter((pod) => !isToldOf(recorded(pod), subjectOfMachine(place), at)) }))
    .filter(({ pods }) => pods.length > 0);
  const tenant = ({ pods: [first] }: WaitingPlace): string => first?.metadata.namespace ?? "default";
  return roundRobin(places, tenant, Math.floor(at / TURN_MS)).slice(0, MAX_PLACES);
}

/** Undefined when the history has an entry for each of the pods: another process may have written it. */
async function entryOf(
  place: WaitingPlace,
  records: readonly NodeClaimRecord[],
  at: number,
  { cluster, store }: ClusterDeps,
): Promise<PodsNominated | undefined> {
  const { pods, node, nodeClaim, nodePool, isReady } = place;
  const record = records.find(({ name }) => name === nodeClaim);
  const about: NominatedAbout = {
    ...(record ? aboutClaim(record, at) : { cluster: cluster.name, at, nodeClaim, intent: "", nodePool }),
    ...(node !== undefined && { node }),
    isReady,
  };
  // No entry about a pod is older than the pod.
  const created = pods.map(({ metadata }) => fromRfc3339(metadata.creationTimestamp)).filter((ms) => !Number.isNaN(ms));
  const since = Math.max(at - DAY_MS, Math.min(at, ...created));
  const known = await store.history(cluster.name, { since, until: at + 1, about: subjectOfMachine(place) });
  return nominatedEntry(about, pods, known);
}
