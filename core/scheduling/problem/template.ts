import { oncePer } from "../../lib/once-per.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { InstanceType, Offering } from "../../model/instance-type.ts";
import { INSTANCE_TYPE, NODE_POOL } from "../../model/labels.ts";
import type { NodePool } from "../../model/node-pool.ts";
import { PAID_KINDS, type PaidKind, type PaidShare, paysFor } from "../../model/paid-capacity.ts";
import { type CostSettings, micros } from "../../model/prices.ts";
import { parseResources, type Resources } from "../../model/quantity.ts";
import type { PriceCap, Snapshot } from "../../model/snapshot.ts";
import type { Taint } from "../../model/taint.ts";
import { expiryProblem, launchHold } from "../../node-pool/launch-backoff.ts";
import { isAsleep } from "../../node-pool/schedule.ts";
import { dearestOffering } from "../../offerings/dearest.ts";
import { NEW_PAID_SHARE, paidTypes } from "../../offerings/paid.ts";
import { offeringRequirementsOf } from "../../requirements/offerings.ts";
import { intersectAll, type Requirements, requirementsFrom, requirementsFromLabels } from "../../requirements/requirements.ts";
import { contradictionIn } from "../rules/preferences.ts";
import { type Bitset, emptyBitset, hasBit, intersection, setBit } from "../tables/bitset.ts";
import { Frontier, type FrontierSource } from "../tables/frontier.ts";
import { isWithinBounds, type RequirementSet, type RequirementSets } from "../tables/requirement-sets.ts";
import type { ResourceAxis } from "../tables/resource-axis.ts";
import { type TypeTable, typeTable } from "../tables/type-table.ts";
import { type Daemon, type DaemonGroup, daemonGroups } from "./daemon-overhead.ts";
import { NodeCosts, type RankedType } from "./node-costs.ts";
import { machinesOf, type NodeView } from "./node-view.ts";
import { isPaidLimit, limitsOf, type PaidLeft, paidLeft, paidLimit } from "./paid-capacity.ts";
import { isPriceLimit, isToBeLaunched, priceCapsLeft } from "./price-caps.ts";

/**
 * A NodePool prepared for a run: what a new claim of the pool starts from. Where commitments pay for on-demand machines
 * of the pool, these are a template of their own before the pool's: with low prices, and bounded by limits.
 */
export interface Template {
  /** Place in the order in which pools are tried. */
  readonly index: number;
  /** Place of its weight among the weights of all pools: 0 for the heaviest. Pools of one weight have one rank. */
  readonly rank: number;
  readonly name: string;
  readonly pool: NodePool;
  /** Set when commitments of this kind pay for its machines. */
  readonly paidFor: PaidKind | undefined;
  /** Requirements and labels of the pool's nodes. */
  readonly set: RequirementSet;
  readonly taints: readonly Taint[];
  readonly table: TypeTable;
  /** Types that the pool's own requirements allow. */
  readonly types: Bitset;
  /** Room for pods by type, in milli-units: allocatable less DaemonSets; a row of the axis' length for each type. */
  readonly room: Float64Array;
  /** Place of cpu in these rows; -1 where no pod requests it. */
  readonly cpu: number;
  readonly daemonGroups: readonly DaemonGroup[];
  /** By type: index into `daemonGroups`. */
  readonly daemonGroupOf: Int32Array;
  readonly hasDaemonPorts: boolean;
  /** What its nodes cost. */
  readonly costs: NodeCosts;
  /** Types of the pool by rising price under a set, surplus credits included: a burstable type has several entries. */
  readonly ranked: (set: RequirementSet) => readonly RankedType[];
  /** The Pareto frontier of price and room under a set. */
  readonly frontier: (set: RequirementSet) => Frontier;
  /**
   * What the pool's limits leave before the run, in milli-units, and what price caps and commitments leave
   * (price-caps.ts, paid-capacity.ts), in millionths of a dollar an hour; undefined without limits.
   */
  readonly remaining: Resources | undefined;
  readonly priceCap: PriceCap | undefined;
  /** How much of each limit a node of each type uses, in the units of `remaining`. */
  readonly limited: (name: string) => Float64Array;
  /** Keys with minValues, and how many values each needs. */
  readonly minValues: readonly { readonly key: string; readonly min: number }[];
}

const NO_TYPES: readonly InstanceType[] = [];

/**
 * Whether a pool can launch nodes for pods at `now` (ms): not static, not being deleted, not asleep, not waiting after
 * failed launches, and not unready. A missing Ready condition counts as ready.
 */
export function isUsable(pool: NodePool, now: number): boolean {
  if (pool.spec.replicas !== undefined && pool.spec.replicas !== null) return false;
  if (pool.metadata.deletionTimestamp || isAsleep(pool, now)) return false;
  if (expiryProblem(pool) !== undefined || launchHold(pool, now) !== undefined) return false;
  const ready = (pool.status?.conditions ?? []).find(({ type }) => type === "Ready");
  return ready === undefined || ready.status === "True";
}

/** Whether a NodeClaim can have a pool's own requirements. If none can, the pool leaves pods to lighter ones. */
export const isLaunchable = (own: Requirements): boolean => contradictionIn(own) === undefined && isWithinBounds(own);

/** A pool's weight; without one, the lowest (karpenter: pkg/utils/nodepool/nodepool.go, OrderByWeight). */
const weightOf = ({ spec }: NodePool): number => spec.weight ?? 0;

type TemplateSettings = CostSettings & { readonly minValuesPolicy: "Strict" | "BestEffort" };

/** The usable pools in the order in which they are tried: weight descending, then name descending, as in Karpenter. */
export function templatesOf(
  snapshot: Snapshot,
  views: readonly NodeView[],
  daemons: readonly Daemon[],
  sets: RequirementSets,
  axis: ResourceAxis,
  costSettings: TemplateSettings,
): readonly Template[] {
  const pools = snapshot.nodePools.filter((pool) => isUsable(pool, snapshot.now));
  pools.sort((a, b) => weightOf(b) - weightOf(a) || (a.metadata.name < b.metadata.name ? 1 : -1));
  const weights = [...new Set(pools.map(weightOf))];
  const capsLeft = priceCapsLeft(snapshot, views);
  const paid = paidLeft(snapshot, views);
  const sources = pools.flatMap((pool): readonly TemplateSource[] => {
    const types = snapshot.instanceTypes.get(pool.metadata.name) ?? NO_TYPES;
    const remaining = remainingOf(pool, snapshot, views, typeTable(types), capsLeft(pool));
    return [...paidSources(pool, types, remaining, paid, costSettings), { pool, types, remaining, paid: undefined }];
  });
  return sources.map(({ pool, types, remaining, paid: paidBy }, index) => {
    const table = typeTable(types);
    const { template } = pool.spec;
    // A CRD of an older version may have let a reference without a name through.
    const { group, kind, name = "" } = template.spec.nodeClassRef;
    const set = sets.intern(
      intersectAll(
        requirementsFrom(template.spec.requirements),
        requirementsFromLabels(template.metadata?.labels),
        requirementsFromLabels({ [NODE_POOL]: pool.metadata.name, [`${group}/${kind.toLowerCase()}`]: name }),
      ),
    );
    const taints = template.spec.taints ?? [];
    const { groups, groupOf } = daemonGroups(daemons, { requirements: set.requirements, taints }, table);
    const room = roomByType(table, groups, groupOf, axis);
    const cpu = axis.names.indexOf("cpu");
    const own = isLaunchable(set.requirements) ? table.admitted(set) : emptyBitset(types.length);
    const costs = new NodeCosts(table, own, (t) => groups[groupOf[t] ?? 0]?.overhead["cpu"] ?? 0, costSettings);
    const ranked = (under: RequirementSet): readonly RankedType[] => costs.rankedBy(table.prices(under));
    return {
      index,
      rank: weights.indexOf(weightOf(pool)),
      name: pool.metadata.name,
      pool,
      paidFor: paidBy?.kind,
      set,
      taints,
      table,
      types: own,
      room,
      cpu,
      daemonGroups: groups,
      daemonGroupOf: groupOf,
      hasDaemonPorts: groups.some(({ ports }) => ports.length > 0),
      costs,
      ranked,
      frontier: frontiers(table, own, { room, width: axis.names.length, most: mostRoom(room, own, axis.names.length), cpu, ranked }),
      remaining,
      priceCap: snapshot.priceCap,
      limited: limitedAmounts(table, set, paidBy),
      minValues: [...set.requirements.values()].flatMap(({ key, minValues }) => (minValues === undefined ? [] : [{ key, min: minValues }])),
    };
  });
}

/** What a template is made of. */
interface TemplateSource {
  readonly pool: NodePool;
  readonly types: readonly InstanceType[];
  readonly remaining: Resources | undefined;
  /** Set where commitments pay for the machines. */
  readonly paid: { readonly kind: PaidKind; readonly left: PaidLeft } | undefined;
}

/** For each kind of commitment of which something is left: the types of a pool that it pays for. */
function paidSources(
  pool: NodePool,
  types: readonly InstanceType[],
  remaining: Resources | undefined,
  paid: PaidLeft,
  { minValuesPolicy }: TemplateSettings,
): readonly TemplateSource[] {
  // minValues would be given up for the few types of a commitment, although the pool has enough of them.
  const relaxes = minValuesPolicy === "BestEffort" && pool.spec.template.spec.requirements.some(({ minValues }) => minValues !== undefined);
  if (paid.shares.length === 0 || relaxes) return [];
  return PAID_KINDS.flatMap((kind) => {
    const limits = limitsOf(paid, kind);
    const commitments = paid.shares.map(({ of }) => of);
    const own = Object.keys(limits).length === 0 ? NO_TYPES : paidTypes(types, kind, commitments);
    const isEnough = own.some(({ name, offerings }) =>
      paid.shares.some((share) => share.of.kind === kind && offerings.some((offering) => isWithin(share, limits, name, offering))),
    );
    return isEnough ? [{ pool, types: own, remaining: { ...remaining, ...limits }, paid: { kind, left: paid } }] : [];
  });
}

/** Whether what a commitment leaves does for one machine. */
function isWithin(share: PaidShare, limits: Resources, type: string, { zone, price }: Offering): boolean {
  return paysFor(share.of, type, zone) && micros(price / NEW_PAID_SHARE) <= (limits[paidLimit(share)] ?? 0);
}

/** Pools in lists of one rank, the heaviest first. */
export const byRank: (templates: readonly Template[]) => readonly (readonly Template[])[] = oncePer((templates) => [
  ...Map.groupBy(templates, ({ rank }) => rank).values(),
]);

/** The frontiers of a pool, made once for each set. */
function frontiers(
  table: TypeTable,
  own: Bitset,
  { ranked, ...source }: Omit<FrontierSource, "ranked" | "types"> & Pick<Template, "ranked">,
): Template["frontier"] {
  const bySet: (Frontier | undefined)[] = [];
  return (set) => {
    const known = bySet[set.id];
    if (known !== undefined) return known;
    const frontier = new Frontier({ ...source, ranked: ranked(set), types: intersection(own, table.admitted(set)) });
    bySet[set.id] = frontier;
    return frontier;
  };
}

/** By resource, the most room that one of some types has. */
function mostRoom(room: Float64Array, types: Bitset, width: number): Float64Array {
  const most = new Float64Array(width);
  for (let at = 0; at < room.length; at++) {
    const r = at % width;
    if ((room[at] ?? 0) > (most[r] ?? 0) && hasBit(types, Math.floor(at / width))) most[r] = room[at] ?? 0;
  }
  return most;
}

/** Template.room. */
function roomByType(table: TypeTable, groups: readonly DaemonGroup[], groupOf: Int32Array, axis: ResourceAxis): Float64Array {
  const width = axis.names.length;
  const room = new Float64Array(table.types.length * width);
  const overheads = groups.map(({ overhead }) => axis.vector(overhead));
  axis.names.forEach((name, r) => {
    table.amounts.allocatable(name).forEach((allocatable, t) => {
      room[t * width + r] = allocatable - (overheads[groupOf[t] ?? 0]?.[r] ?? 0);
    });
  });
  return room;
}

/**
 * Limits less what the pool's nodes use of them. NodeClaims that are created but not launched count as the largest type
 * that they may be launched as; Karpenter leaves them out and may exceed the limits.
 * @param prices what price caps leave
 */
function remainingOf(
  pool: NodePool,
  snapshot: Snapshot,
  views: readonly NodeView[],
  table: TypeTable,
  prices: Resources,
): Resources | undefined {
  const { name: poolName } = pool.metadata;
  if (!pool.spec.limits) return Object.keys(prices).length === 0 ? undefined : prices;
  const left: Record<string, number> = { ...parseResources(pool.spec.limits) };
  const subtract = (used: Resources): void => {
    for (const name in left) left[name] = (left[name] ?? 0) - (name === "nodes" ? 1000 : (ownValue(used, name) ?? 0));
  };
  for (const view of machinesOf(views)) if (view.nodePool === poolName && !view.markedForDeletion) subtract(view.capacity);
  for (const claim of snapshot.nodeClaims) {
    if (!isToBeLaunched(claim) || claim.metadata.labels?.[NODE_POOL] !== poolName) continue;
    const named = new Set(claim.spec.requirements.flatMap(({ key, values }) => (key === INSTANCE_TYPE ? (values ?? []) : [])));
    const types = emptyBitset(table.types.length);
    table.types.forEach(({ name }, t) => {
      if (named.has(name)) setBit(types, t);
    });
    subtract(Object.fromEntries(Object.keys(left).map((name) => [name, table.largest(types, name)])));
  }
  return { ...left, ...prices };
}

/** Template.limited. */
function limitedAmounts(table: TypeTable, set: RequirementSet, paid: TemplateSource["paid"]): Template["limited"] {
  let prices: Float64Array | undefined;
  const pricesOf = (): Float64Array => {
    const onOfferings = offeringRequirementsOf(set.requirements);
    // Limits count on-demand prices, also of machines that are paid for.
    const share = paid === undefined ? 1 : NEW_PAID_SHARE;
    prices ??= Float64Array.from(table.types, (type) => micros(dearestOffering(type, onOfferings) / share));
    return prices;
  };
  return (name) => {
    if (name === "nodes") return new Float64Array(table.types.length).fill(1000);
    if (isPriceLimit(name)) return pricesOf();
    if (!isPaidLimit(name)) return table.amounts.capacity(name);
    const own = (paid?.left.shares ?? []).filter((share) => share.of.kind === paid?.kind && paidLimit(share) === name);
    const isOf = ({ name: type, offerings }: InstanceType): boolean =>
      own.some(({ of }) => offerings.some(({ zone }) => paysFor(of, type, zone)));
    return pricesOf().map((price, t) => (isOf(table.types[t] as InstanceType) ? price : 0));
  };
}
