// Where consolidation leads: the plan that a cluster would have if all its candidates were planned again, in which a
// candidate takes the place of planned nodes where it costs about as much. In come candidates, out come those that
// stay. Which of the others go first is not known here (toward-destination.ts).

import type { PlannedNodeClaim } from "../../model/plan.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import { MIN_SAVINGS, PRICE_TOLERANCE } from "../../model/prices.ts";
import { addResources, fits, maxResources, parseResources, type Resources, subtractResources } from "../../model/quantity.ts";
import { surplusPrice } from "../../offerings/node-cost.ts";
import { allocatableOf } from "../../offerings/overhead.ts";
import { isActive, podKey } from "../../pods/predicates.ts";
import type { ConsolidationTrial } from "../../scheduling/make-trial.ts";
import { type Candidate, cpuRequested } from "../cluster/candidate.ts";
import type { ClusterView } from "../cluster/view.ts";
import type { ConsolidationContext } from "../consolidation/consolidation.ts";
import { moveCostPerHour } from "../consolidation/payback.ts";
import { type RemovalTrial, tryRemoval } from "../consolidation/simulate.ts";
import { costed, totalCost } from "../prices/cost.ts";
import type { DisruptionSettings } from "../settings.ts";

/** The cluster that consolidation leads to. */
interface Destination {
  /** Candidates that cost more than the fresh plan's nodes in their place. A pod that is moved there moves again. */
  readonly go: readonly Candidate[];
  /** The most that removing all of `go` can save, USD per hour. */
  readonly potential: number;
}

/**
 * A node stays although it costs more than the planned nodes in its place, by up to this share: another plan of the
 * same pods has nodes of other sizes, and its prices differ as much. `npm run -s bench -- consolidate` chose it.
 */
const STAY_MARGIN = 0.05;

/** A planned node of the fresh plan, and how much of it no staying node has taken yet. */
interface Place {
  /** Whether all of its pods may run on a node of this name. Places whose pods ask for the same have one function. */
  readonly suits: (node: string) => boolean;
  /** USD per hour. */
  readonly cost: number;
  /** Requests of its pods together, and the largest of each resource. */
  readonly requests: Resources;
  readonly largest: Resources;
  /** How much of the planned node its pods use of the resource that they use most, 0 to 1. */
  readonly fill: number;
  /** 1 at first, 0 when staying nodes hold all of its pods. */
  left: number;
}

/** A place that a node suits; `times` is how often the node could hold the pods of the place. */
interface SuitedPlace {
  readonly place: Place;
  readonly times: number;
}

/** A share of a place that a node takes. */
interface Taken {
  readonly place: Place;
  readonly share: number;
}

/**
 * The destination of the cluster; undefined when pods have no place in a fresh plan even though their own nodes stay.
 */
export function destinationOf(
  { view, settings, simulate }: ConsolidationContext,
  candidates: readonly Candidate[],
  trial: ConsolidationTrial,
): Destination | undefined {
  const planned = (movable: readonly Candidate[]): RemovalTrial => tryRemoval(view, movable, simulate, { effort: "full" });
  let movable = candidates;
  let fresh = planned(movable);
  if (fresh.unplaced.length > 0) {
    const unplaced = new Set(fresh.unplaced.map(([pod]) => pod));
    movable = candidates.filter(({ moving }) => !moving.some((pod) => unplaced.has(podKey(pod))));
    fresh = planned(movable);
  }
  if (fresh.unplaced.length > 0) return undefined;
  const places = placesOf(fresh.newNodeClaims, movable, view, trial);
  const stay = stayingNodes(movable, places, view, settings);
  const go = movable.filter((candidate) => !stay.has(candidate));
  return { go, potential: totalCost(go) - places.reduce((sum, { cost, left }) => sum + cost * left, 0) };
}

function placesOf(
  plan: readonly PlannedNodeClaim[],
  candidates: readonly Candidate[],
  view: ClusterView,
  { trialCluster }: ConsolidationTrial,
): readonly Place[] {
  const podOf = new Map(candidates.flatMap(({ moving }) => moving.map((pod) => [podKey(pod), pod] as const)));
  return plan.map((planned) => {
    const pods = planned.pods.flatMap((key) => podOf.get(key) ?? []);
    const each = pods.map(podRequests);
    const requests = addResources(...each);
    return {
      suits: trialCluster.nodesSuiting(pods),
      cost: totalCost(costed([planned], view.snapshot, view.costs)),
      requests,
      largest: maxResources(...each),
      fill: Math.min(1, 1 / timesIn(roomOf(planned, requests, view), requests)),
      left: 1,
    };
  });
}

/**
 * The candidates that take the places of planned nodes, best value for their cost first; of equal nodes those with the
 * fewest pods go. A node that stays saves moving its pods, and a burstable one counts with the cpu of the places.
 */
function stayingNodes(
  candidates: readonly Candidate[],
  places: readonly Place[],
  view: ClusterView,
  settings: DisruptionSettings,
): ReadonlySet<Candidate> {
  const costOf = (candidate: Candidate, taken: readonly Taken[]): number => {
    const cpu = taken.reduce((sum, { place, share }) => sum + share * (place.requests["cpu"] ?? 0), cpuRequested(fixedPods(candidate)));
    const { pricePerHour, nodeCost, instanceType } = candidate;
    return pricePerHour + nodeCost + surplusPrice(instanceType, cpu, view.costs) - moveCostPerHour(settings, [candidate]);
  };
  const suitedPlaces = placesByRoom(places);
  const judged = candidates.map((candidate) => {
    const taken = filledFrom(suitedPlaces(candidate));
    const ratio = pricedShares(taken) / Math.max(MIN_SAVINGS, costOf(candidate, taken));
    return { candidate, ratio: Math.round(ratio / PRICE_TOLERANCE) };
  });
  judged.sort(
    (a, b) =>
      b.ratio - a.ratio || b.candidate.disruptionCost - a.candidate.disruptionCost || (a.candidate.node < b.candidate.node ? 1 : -1),
  );
  const stay = new Set<Candidate>();
  for (const { candidate } of judged) {
    const taken = filledFrom(suitedPlaces(candidate));
    if (costOf(candidate, taken) > (1 + STAY_MARGIN) * pricedShares(taken)) continue;
    for (const { place, share } of taken) place.left -= share;
    stay.add(candidate);
  }
  return stay;
}

/** The candidate's pods that do not move. */
function fixedPods({ machine, moving }: Candidate): readonly Pod[] {
  const moved = new Set(moving);
  return machine.pods.filter((pod) => isActive(pod) && !moved.has(pod));
}

/** Suited places that are kept for other candidates. A cluster of thousands of nodes has millions of pairs. */
const MAX_KEPT = 1_000_000;

/**
 * The places whose pods a candidate's node could hold, the most expensive room first. They are the same for candidates
 * with the same room that suit the same places, so they are kept, up to MAX_KEPT of them.
 */
function placesByRoom(places: readonly Place[]): (candidate: Candidate) => readonly SuitedPlace[] {
  const kinds = [...new Set(places.map(({ suits }) => suits))];
  const known = new Map<string, readonly SuitedPlace[]>();
  let kept = 0;
  return (candidate) => {
    const room = subtractResources(candidate.machine.allocatable, addResources(...fixedPods(candidate).map(podRequests)));
    const suitedKinds = kinds.map((suits) => suits(candidate.node));
    const text = `${JSON.stringify(Object.entries(room).sort())} ${suitedKinds.map(Number).join("")}`;
    const same = known.get(text);
    if (same !== undefined) return same;
    const suited = suitedPlaces(candidate.node, room, places);
    if (kept + suited.length > MAX_KEPT) return suited;
    kept += suited.length;
    known.set(text, suited);
    return suited;
  };
}

function suitedPlaces(node: string, room: Resources, places: readonly Place[]): readonly SuitedPlace[] {
  return places
    .flatMap((place) => {
      if (!place.suits(node) || !fits(place.largest, room)) return [];
      // The node has as little use for the last of its room as the planned node has.
      const times = timesIn(room, place.requests) * place.fill;
      return times > 0 ? [{ place, times }] : [];
    })
    .sort((a, b) => b.times * b.place.cost - a.times * a.place.cost);
}

/** Room for pods on the cheapest type of a planned node, beside its DaemonSets and pods that are pending. */
function roomOf({ nodePool, instanceTypes, requests }: PlannedNodeClaim, ofPods: Resources, { snapshot }: ClusterView): Resources {
  const type = snapshot.instanceTypes.get(nodePool)?.find(({ name }) => name === instanceTypes[0]);
  const others = subtractResources(parseResources(requests), ofPods);
  return type === undefined ? ofPods : subtractResources(allocatableOf(type), others);
}

/** How often the room holds the requests; 0 without requests. */
function timesIn(room: Resources, requests: Resources): number {
  let times = Number.POSITIVE_INFINITY;
  for (const [name, amount] of Object.entries(requests)) if (amount > 0) times = Math.min(times, (room[name] ?? 0) / amount);
  return times === Number.POSITIVE_INFINITY ? 0 : Math.max(0, times);
}

/** What one node can take of its places, until the node is full. */
function filledFrom(suited: readonly SuitedPlace[]): readonly Taken[] {
  const taken: Taken[] = [];
  let free = 1;
  for (const { place, times } of suited) {
    const share = Math.min(free * times, place.left);
    if (share <= 0) continue;
    taken.push({ place, share });
    free -= share / times;
  }
  return taken;
}

/** What the fresh plan pays for the shares, USD per hour. */
function pricedShares(taken: readonly Taken[]): number {
  return taken.reduce((sum, { place, share }) => sum + share * place.cost, 0);
}
