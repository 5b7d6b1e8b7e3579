import { costed } from "#core/disruption/prices/cost.ts";
import { perHour } from "#core/disruption/prices/money.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE, ZONE } from "#core/model/labels.ts";
import type { Plan, PlannedNodeClaim } from "#core/model/plan.ts";
import { podRequests } from "#core/model/pod-requests.ts";
import { HOURS_A_MONTH } from "#core/model/prices.ts";
import { addResources, parseResources, type Resources } from "#core/model/quantity.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { allocatableOf } from "#core/offerings/overhead.ts";
import { NEW_PAID_SHARE } from "#core/offerings/paid.ts";
import { OFFERING_KEYS, offeringRequirementsOf } from "#core/requirements/offerings.ts";
import { requirementsFrom } from "#core/requirements/requirements.ts";
import { nodeViews } from "#core/scheduling/problem/node-view.ts";
import { counted, listed } from "#core/scheduling/reasons/words.ts";
import type { SolveOptions } from "#core/scheduling/solve.ts";
import { admits } from "#core/scheduling/tables/offering-table.ts";
import { roomBars } from "#terminal/bars.ts";
import { labelled, wrapped } from "#terminal/columns.ts";
import { overlaidNotes } from "../scenario/overlays.ts";
import { otherPools, withNodesFilled } from "./alternative-pools.ts";
import { podsLeftAlone } from "./unplanned-pods.ts";

/**
 * For how many kinds of new nodes the other NodePools are tried, and how many pools are shown for each; each trial is a
 * solve. No benchmark has tuned them.
 */
const MAX_KINDS_TRIED = 12;
const MAX_POOLS_SHOWN = 6;

/**
 * The plan as text, at most 100 columns wide: its price, the new nodes and why they were chosen, where pods are placed,
 * and how to fix the rest.
 */
export function explainPlan(plan: Plan, snapshot: Snapshot, settings: SolveOptions = {}): string {
  const filled = withNodesFilled(snapshot, plan);
  const kinds = alike(plan.newNodeClaims);
  const pools = poolReasons(kinds, filled, settings);
  const alone = podsLeftAlone(plan, snapshot);
  const sections = [
    [...wrapped(summary(plan)), ...(snapshot.nodePools.length === 0 ? ["there is no NodePool, so no node can be bought"] : [])],
    ...(kinds.length === 0
      ? []
      : [
          [
            "NEW NODES",
            ...wrapped(decidedBy(plan, snapshot, settings), 2),
            ...kinds.flatMap((claims, i) => newNode(claims, filled, pools[i] ?? [])),
          ],
        ]),
    ...(plan.existingNodes.length === 0 ? [] : [["NODES THAT ARE THERE", ...existingNodes(plan, filled)]]),
    ...(Object.keys(plan.podErrors).length === 0 ? [] : [["PODS LEFT", ...podsLeft(plan.podErrors)]]),
    ...(alone.length === 0 ? [] : [["LEFT ALONE", "", ...alone.flatMap((line) => wrapped(line, 2))]]),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function summary({ newNodeClaims, existingNodes: present, podErrors }: Plan): string {
  const total = (claims: readonly PlannedNodeClaim[]): number => claims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const price = total(newNodeClaims.filter(({ paidFor }) => paidFor === undefined));
  const paid = total(newNodeClaims.filter(({ paidFor }) => paidFor !== undefined)) / NEW_PAID_SHARE;
  const month = price * HOURS_A_MONTH;
  const bought = newNodeClaims.reduce((sum, { pods }) => sum + pods.length, 0);
  const settled = present.reduce((sum, { pods }) => sum + pods.length, 0);
  const here = settled === 0 ? "" : ` (${settled} on ${counted(present.length, "node")} that ${present.length === 1 ? "is" : "are"} there)`;
  const cost = `${counted(newNodeClaims.length, "new node")}, ${perHour(price)} (~$${month.toFixed(month < 10 ? 2 : 0)} a month)${paid > 0 ? ` beside ${perHour(paid)} that is paid for` : ""}`;
  return `${cost}; ${counted(bought + settled, "pod")} placed${here}, ${Object.keys(podErrors).length} left`;
}

/** What counted beside the prices, because the plan with the lowest bill need not be the one that was chosen. */
function decidedBy({ newNodeClaims }: Plan, snapshot: Snapshot, settings: SolveOptions): string {
  const nodes = costed(newNodeClaims, snapshot, settings).map(({ nodeCost }) => nodeCost);
  const [least, most] = [Math.min(...nodes), Math.max(...nodes)].map(perHour);
  const surplus = newNodeClaims.reduce((sum, { surplusPerHour = 0 }) => sum + surplusPerHour, 0);
  const credits = surplus > 0 ? `, and surplus credits of burstable types ${perHour(surplus)} (BURSTABLE_PRICE)` : "";
  return `each node counted ${least === most ? least : `${least} to ${most}`} more, for its volumes and NODE_OVERHEAD_PRICE${credits}`;
}

/** Claims grouped by kind of node, the fullest claim first; the groups that cost most come first. */
function alike(claims: readonly PlannedNodeClaim[]): readonly (readonly PlannedNodeClaim[])[] {
  const byText = new Map<string, PlannedNodeClaim[]>();
  for (const claim of claims) {
    const { nodePool, instanceTypes, pricePerHour, requirements, paidFor } = claim;
    const where = requirements.filter(({ key }) => OFFERING_KEYS.includes(key));
    const text = JSON.stringify([nodePool, instanceTypes, pricePerHour.toFixed(9), where, paidFor]);
    const known = byText.get(text);
    if (known === undefined) byText.set(text, [claim]);
    else known.push(claim);
  }
  const cost = (list: readonly PlannedNodeClaim[]): number => list.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const size = ({ requests }: PlannedNodeClaim): number => parseResources(requests)["cpu"] ?? 0;
  return [...byText.values()].map((list) => list.sort((a, b) => size(b) - size(a))).sort((a, b) => cost(b) - cost(a));
}

/** What nodes of a kind are, hold and cost. `pools` says why this NodePool gets them. */
function newNode(claims: readonly PlannedNodeClaim[], snapshot: Snapshot, pools: readonly string[]): readonly string[] {
  const [claim] = claims;
  if (claim === undefined) return [];
  const priced = pricedTypes(claim, snapshot);
  const [first] = priced;
  const isOne = claims.length === 1;
  const where = first === undefined ? "" : `, ${first.how}`;
  const paid = claim.paidFor === undefined ? "" : ", paid for by a Savings Plan or reserved instance";
  const price = claim.paidFor === undefined ? claim.pricePerHour : claim.pricePerHour / NEW_PAID_SHARE;
  const name = first?.type.name ?? claim.instanceTypes[0];
  return [
    "",
    ...wrapped(
      `${isOne ? "" : `${claims.length} × `}${name} at ${perHour(price)}${isOne ? "" : " each"}${where}, NodePool ${claim.nodePool}${paid}`,
      2,
    ),
    ...labelled("pods", podsText(claims), 4),
    ...roomLines(isOne ? "room" : "full", parseResources(claim.requests), typeRoom(first?.type)),
    ...labelled("type", typeText(claim, priced), 4),
    ...overlaidNotes(priced.map(({ type }) => type)).flatMap((text) => labelled("", text, 4)),
    ...pools.flatMap((text, i) => labelled(i === 0 ? "pool" : "", text, 4)),
  ];
}

function podsText(claims: readonly PlannedNodeClaim[]): string {
  const names = claims.flatMap(({ pods }) => pods);
  const counts = claims.map(({ pods }) => pods.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const each = claims.length === 1 ? counted(names.length, "pod") : `${least === most ? least : `${least} to ${most}`} a node`;
  return `${each}: ${listed(names, 3)}`;
}

/**
 * Why each kind of node belongs to its NodePool, where there are other pools and not too many kinds. A text that was
 * shown before is not repeated.
 */
function poolReasons(
  kinds: readonly (readonly PlannedNodeClaim[])[],
  filled: Snapshot,
  settings: SolveOptions,
): readonly (readonly string[])[] {
  const shown = new Set<string>();
  return kinds.map(([claim], i) => {
    if (claim === undefined || filled.nodePools.length < 2 || i >= MAX_KINDS_TRIED) return [];
    const lines = poolText(claim, filled, settings);
    const text = lines.join();
    if (shown.has(text)) return ["as above"];
    shown.add(text);
    return lines;
  });
}

interface PricedType {
  readonly type: InstanceType;
  /** USD per hour. */
  readonly price: number;
  /** "spot in zone-a". */
  readonly how: string;
}

/** Types of a claim with their cheapest offerings, cheapest first. */
function pricedTypes(claim: PlannedNodeClaim, { instanceTypes }: Snapshot): readonly PricedType[] {
  const requirements = requirementsFrom(claim.requirements);
  const wanted = offeringRequirementsOf(requirements);
  const byName = new Map((instanceTypes.get(claim.nodePool) ?? []).map((type) => [type.name, type]));
  return claim.instanceTypes.flatMap((name) => {
    const type = byName.get(name);
    const [cheapest] = (type?.offerings ?? [])
      .filter((offering) => offering.available && admits(wanted, offering))
      .sort((a, b) => a.price - b.price || (a.zone < b.zone ? -1 : 1));
    return type === undefined || cheapest === undefined
      ? []
      : [{ type, price: cheapest.price, how: `${cheapest.capacityType} in ${cheapest.zone}` }];
  });
}

function typeText({ minValuesRelaxed }: PlannedNodeClaim, [first, ...others]: readonly PricedType[]): string {
  const relaxed = minValuesRelaxed ? "; minValues was lowered, as too few types hold them" : "";
  if (first === undefined || others.length === 0) return `the only one that holds them and can be had${relaxed}`;
  const next = others.slice(0, 3).map(({ type, price }) => `${type.name} ${perHour(price)} (${more(price, first.price)})`);
  return `the cheapest of ${others.length + 1} that hold them; next ${listed(next)}${relaxed}`;
}

function more(price: number, than: number): string {
  if (than <= 0) return "more";
  const percent = Math.round((price / than - 1) * 100);
  return percent < 1 ? "the same" : `+${percent}%`;
}

/**
 * The other NodePools in the order in which the solver tries them, each with its price, or why it does not take the
 * pods.
 */
function poolText(claim: PlannedNodeClaim, filled: Snapshot, settings: SolveOptions): readonly string[] {
  const others = otherPools(claim, filled, settings);
  const weight = filled.nodePools.find(({ metadata }) => metadata.name === claim.nodePool)?.spec.weight ?? 0;
  const lines = others.slice(0, MAX_POOLS_SHOWN).map(({ name, weight: theirs, price, text }) => {
    const pool = `${name} (weight ${theirs})`;
    return price === undefined ? `${pool} does not take them: ${text}` : `${pool} would cost ${perHour(price)} (${text})`;
  });
  const rest = others.length > MAX_POOLS_SHOWN ? [`and ${others.length - MAX_POOLS_SHOWN} more NodePools`] : [];
  return [`the first that takes them, by weight (${weight}) and name`, ...lines, ...rest];
}

/** Allocatable of a type, in milli-units. */
function typeRoom(type: InstanceType | undefined): Resources {
  return type === undefined ? {} : allocatableOf(type);
}

/** A bar for each resource, beside the label. */
const roomLines = (label: string, used: Resources, room: Resources): readonly string[] =>
  roomBars(used, room).map((line, i) => `    ${(i === 0 ? label : "").padEnd(7)}${line}`);

function existingNodes({ existingNodes: present }: Plan, filled: Snapshot): readonly string[] {
  const views = new Map(nodeViews(filled).map((view) => [view.name, view]));
  const requests = new Map<string, Resources>();
  for (const pod of filled.pods) {
    const name = pod.spec.nodeName ?? "";
    if (name !== "" && pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed") {
      requests.set(name, addResources(requests.get(name) ?? {}, podRequests(pod)));
    }
  }
  return present.flatMap(({ name, pods }) => {
    const view = views.get(name);
    const kind = [view?.labels[INSTANCE_TYPE], view?.labels[CAPACITY_TYPE], view?.labels[ZONE]].filter((text) => text !== undefined);
    const state = view?.initialized === false ? ", on its way" : "";
    return [
      "",
      `  ${name}${kind.length > 0 ? ` (${kind.join(", ")})` : ""}${state}`,
      ...labelled("pods", `${counted(pods.length, "pod")} more: ${listed(pods, 3)}`, 4),
      ...roomLines("room", requests.get(name) ?? {}, view?.allocatable ?? {}),
    ];
  });
}

function podsLeft(podErrors: Plan["podErrors"]): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const [pod, reason] of Object.entries(podErrors)) {
    const known = byReason.get(reason);
    if (known === undefined) byReason.set(reason, [pod]);
    else known.push(pod);
  }
  return [...byReason].flatMap(([reason, pods]) => [
    "",
    ...wrapped(`${counted(pods.length, "pod")}: ${listed(pods, 3)}`, 2),
    // The reason of each NodePool starts a line.
    ...reason.split(/; (?=NodePools? )/).flatMap((part) => wrapped(part, 4)),
  ]);
}
