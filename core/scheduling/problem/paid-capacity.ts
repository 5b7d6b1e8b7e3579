import { oncePer } from "../../lib/once-per.ts";
import type { InstanceType } from "../../model/instance-type.ts";
import { CAPACITY_RESERVATION_TYPE, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import { inOrderOfUse, type PaidKind, type PaidShare, paidKey } from "../../model/paid-capacity.ts";
import { micros } from "../../model/prices.ts";
import type { Resources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { countPaid, type Payable } from "../../offerings/commitments.ts";
import { payablePrice } from "../../offerings/paid.ts";
import { machinesOf, type NodeView, nodeViews } from "./node-view.ts";
import { isToBeLaunched } from "./price-caps.ts";

/** The begin of a limit's name that means what a commitment still pays for; no resource has such a name. */
const PAID_LIMIT = "$ an hour that are paid for: ";

/**
 * The limit of a commitment for one instance type of it. Zones of one type are counted together: a machine in the wrong
 * one costs its price until it is consolidated.
 */
export function paidLimit({ of }: PaidShare): string {
  return PAID_LIMIT + (of.kind === "type" ? of.type : paidKey(of));
}

export const isPaidLimit = (name: string): boolean => name.startsWith(PAID_LIMIT);

/** A machine that commitments may pay for. */
interface PayableNode extends Payable {
  /** The view of a machine, or a NodeClaim that has none yet. */
  readonly machine: NodeView | NodeClaim;
}

const typesByName: (types: readonly InstanceType[]) => ReadonlyMap<string, InstanceType> = oncePer(
  (types) => new Map(types.map((type) => [type.name, type])),
);
const NO_TYPES: readonly InstanceType[] = [];
/** In text order after each time: a NodeClaim that the API server has not seen yet is the youngest. */
const LATEST = "~";

/**
 * The machines of NodePools that commitments may pay for, the oldest first: a new machine takes nothing from one that
 * runs. NodeClaims on their way come last.
 */
const payables: (snapshot: Snapshot) => readonly PayableNode[] = oncePer((snapshot) => {
  const dated: (PayableNode & { readonly since: string; readonly name: string })[] = [];
  const onTheirWay: PayableNode[] = [];
  for (const view of machinesOf(nodeViews(snapshot))) {
    const { labels, claim, node, nodePool = "" } = view;
    const [type, zone, capacityType] = [labels[INSTANCE_TYPE], labels[ZONE], labels[CAPACITY_TYPE]];
    const types = typesByName(snapshot.instanceTypes.get(nodePool) ?? NO_TYPES);
    if (type === undefined || zone === undefined || capacityType === undefined) {
      if (claim !== undefined) onTheirWay.push(...onItsWay(view, claim, types));
      continue;
    }
    // Instances in a capacity reservation are billed on demand, and commitments pay for them too.
    const isReserved = capacityType === "reserved" && labels[CAPACITY_RESERVATION_TYPE] !== "capacity-block";
    if (capacityType !== "on-demand" && !isReserved) continue;
    const price = micros(payablePrice(labels, types.get(type), zone));
    const since = (claim ?? node)?.metadata.creationTimestamp ?? LATEST;
    if (price > 0) dated.push({ machine: view, type, zone, price, since, name: view.name });
  }
  dated.sort((a, b) => (a.since === b.since ? (a.name < b.name ? -1 : 1) : a.since < b.since ? -1 : 1));
  for (const claim of snapshot.nodeClaims) {
    if (!isToBeLaunched(claim)) continue;
    const types = typesByName(snapshot.instanceTypes.get(claim.metadata.labels?.[NODE_POOL] ?? "") ?? NO_TYPES);
    onTheirWay.push(...onItsWay(claim, claim, types));
  }
  return [...dated, ...onTheirWay];
});

/** A NodeClaim that will be launched on demand counts as its cheapest type, which EC2 takes if there is capacity. */
function onItsWay(machine: PayableNode["machine"], { spec }: NodeClaim, types: ReadonlyMap<string, InstanceType>): readonly PayableNode[] {
  const valuesOf = (wanted: string): readonly string[] =>
    spec.requirements.find(({ key, operator }) => key === wanted && operator === "In")?.values ?? [];
  const capacityTypes = valuesOf(CAPACITY_TYPE);
  if (capacityTypes.length !== 1 || capacityTypes[0] !== "on-demand") return [];
  const zones = valuesOf(ZONE);
  const zone = zones.length === 1 ? zones[0] : undefined;
  const priced = valuesOf(INSTANCE_TYPE).flatMap((type): readonly PayableNode[] => {
    const known = types.get(type);
    const prices = (known?.offerings ?? []).map((offering) => payablePrice({}, known, offering.zone)).filter((price) => price > 0);
    return prices.length === 0 ? [] : [{ machine, type, zone, price: micros(Math.min(...prices)) }];
  });
  return priced.length === 0 ? [] : [priced.reduce((best, one) => (one.price < best.price ? one : best))];
}

const NONE: ReadonlySet<NodeView | NodeClaim> = new Set();

/** The nodes of a snapshot, and its NodeClaims on their way, that commitments pay for. */
const paidMachines: (snapshot: Snapshot) => ReadonlySet<NodeView | NodeClaim> = oncePer((snapshot) => {
  const shares = inOrderOfUse(snapshot.paid ?? []);
  if (shares.length === 0) return NONE;
  const present = payables(snapshot).filter(({ machine }) => !("markedForDeletion" in machine && machine.markedForDeletion));
  const { by } = countPaid(
    shares.map(({ of, keeps }) => ({ of, amount: micros(keeps) })),
    present,
  );
  return new Set(present.flatMap(({ machine }, m) => ((by[m] ?? -1) >= 0 ? [machine] : [])));
});

/** Names of the NodeClaims, or of the nodes without one, that commitments pay for. */
export const paidNodes: (snapshot: Snapshot) => ReadonlySet<string> = oncePer(
  (snapshot) =>
    new Set(
      [...paidMachines(snapshot)].map((machine) =>
        "metadata" in machine ? machine.metadata.name : (machine.claim?.metadata.name ?? machine.name),
      ),
    ),
);

/** What commitments leave for new machines, beside some nodes. */
export interface PaidLeft {
  /** The commitments of which something is left. */
  readonly shares: readonly PaidShare[];
  /** By limit (paidLimit), millionths of a dollar an hour. */
  readonly left: Resources;
}

const NOTHING_LEFT: PaidLeft = { shares: [], left: {} };

/** What commitments leave for new machines beside the nodes of `views`, and beside NodeClaims on their way. */
export function paidLeft(snapshot: Snapshot, views: readonly NodeView[]): PaidLeft {
  const shares = inOrderOfUse(snapshot.paid ?? []);
  if (shares.length === 0) return NOTHING_LEFT;
  const present = new Set<NodeView | NodeClaim>(views.filter(({ markedForDeletion }) => !markedForDeletion));
  const machines = payables(snapshot).filter(({ machine }) => "metadata" in machine || present.has(machine));
  const { left } = countPaid(
    shares.map(({ of, perHour }) => ({ of, amount: micros(perHour) })),
    machines,
  );
  const amounts = new Map<string, number>();
  for (const [i, share] of shares.entries()) amounts.set(paidLimit(share), (amounts.get(paidLimit(share)) ?? 0) + (left[i] ?? 0));
  return { shares: shares.filter((_, i) => (left[i] ?? 0) > 0), left: Object.fromEntries(amounts) };
}

/** Commitments of a kind, as limits of the NodePool's machines that they pay for. */
export function limitsOf({ shares, left }: PaidLeft, kind: PaidKind): Resources {
  return Object.fromEntries(shares.flatMap((share) => (share.of.kind === kind ? [[paidLimit(share), left[paidLimit(share)] ?? 0]] : [])));
}
