import { oncePer } from "../../lib/once-per.ts";
import type { Resources } from "../../model/quantity.ts";
import { isPaidLimit } from "../problem/paid-capacity.ts";
import { CLUSTER_PRICE, isPriceLimit } from "../problem/price-caps.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, hasBit, members, setBit } from "../tables/bitset.ts";
import { neededForMinValues } from "./min-values.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/**
 * What a claim uses of its pool's limits while claims are planned:
 * - "cheapest": the cheapest type that holds its pods, with the types that minValues needs besides. `widen` then lets
 *   claims keep as many other types as the limits allow. Pools with reserved offerings use "largest" in its place.
 * - "largest": resource by resource, the largest type that holds its pods
 *   (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, subtractMax).
 * - "nothing": claims of a trial that is never launched.
 */
type Charge = "cheapest" | "largest" | "nothing";

/** What is left of one pool's limits; amounts in the units of `Template.remaining`, in the order of `names`. */
interface Account {
  readonly template: Template;
  readonly names: readonly string[];
  /** Rows of `names.length` amounts by type. */
  readonly capacity: Float64Array;
  readonly left: Float64Array;
  /** By limit: the other templates with the same limit, and its place in their accounts. */
  readonly sharers: readonly (readonly Place[])[];
  charge: Charge;
  /** Claims of the pool in this run. */
  readonly claims: Set<PlannedClaim>;
  /** The last answer of `typesWithin`; undefined after a change. Pods that fit nowhere need it again and again. */
  within: Bitset | undefined;
}

/** A limit of a template. */
interface Place {
  /** Index of the template. */
  readonly template: number;
  /** Index into the names of its account. */
  readonly limit: number;
}

/**
 * Share of what is left of a limit, after each claim is charged, that claims may use for further types. The rest stays
 * free, so that pods that arrive before the claims are launched still find room within the limits.
 */
const MAX_SHARE_FOR_FURTHER_TYPES = 0.5;

/**
 * What NodePool limits leave while claims are planned. Whatever types the claims of a finished attempt are launched as,
 * their sum is within the limits.
 *
 *     if (limits.allows(claim, type)) claim.cheapest = type; // the claim may be launched as this type
 *     limits.settle(claim); // after each change of a claim
 *     limits.widen(); // when the attempt has ended: each claim keeps the types that the limits leave it
 */
export class Limits {
  readonly #accounts: readonly (Account | undefined)[];

  constructor(templates: readonly Template[], charge: Charge) {
    const sharersOf = sharedLimits(templates);
    this.#accounts = templates.map((template) => {
      if (template.remaining === undefined) return undefined;
      const names = Object.keys(template.remaining);
      return {
        template,
        names,
        capacity: limitedCapacity(template),
        left: Float64Array.from(names, (name) => template.remaining?.[name] ?? 0),
        sharers: names.map((name) => sharersOf(template, name)),
        charge: charge === "cheapest" ? leastCharge(template) : charge,
        claims: new Set(),
        within: undefined,
      };
    });
  }

  /** What is left of a pool's limits, in milli-units by resource; undefined without limits. */
  left({ index }: Template): Resources | undefined {
    const account = this.#accounts[index];
    return account && Object.fromEntries(account.names.map((name, r) => [name, account.left[r] ?? 0]));
  }

  /** Types that a new claim of the pool may start from. */
  base(template: Template): Bitset {
    return this.#accounts[template.index]?.charge === "cheapest" ? template.types : this.typesWithin(template);
  }

  /** Types of a pool that do not exceed what is left; the pool's own list when no type does. */
  typesWithin(template: Template): Bitset {
    const account = this.#accounts[template.index];
    if (account === undefined) return template.types;
    account.within ??= typesWithinLeft(account);
    return account.within;
  }

  /** Whether the limits leave room for a claim to become a type, in place of what the claim is charged for now. */
  allows({ template, charge }: PlannedClaim, type: number): boolean {
    const account = this.#accounts[template.index];
    return account === undefined || account.charge !== "cheapest" || isWithin(account, type, charge);
  }

  /** Charges a claim that took a pod for what it is now instead of before. */
  settle(claim: PlannedClaim): void {
    const account = this.#accounts[claim.template.index];
    if (account === undefined || account.charge === "nothing") return;
    const charge = account.charge === "largest" ? largestWithin(account, claim.types) : largest(account, this.#leastTypes(claim));
    for (let r = 0; r < charge.length; r++) {
      const freed = (claim.charge?.[r] ?? 0) - (charge[r] ?? 0);
      account.left[r] = (account.left[r] ?? 0) + freed;
      this.#share(freed, account, r);
    }
    claim.charge = charge;
    account.claims.add(claim);
    account.within = undefined;
  }

  /** Adds to the other templates what one of them has freed of a limit that they share; negative for what it takes. */
  #share(freed: number, { sharers }: Account, r: number): void {
    if (freed === 0) return;
    for (const { template, limit } of sharers[r] ?? []) {
      const account = this.#accounts[template];
      if (account === undefined) continue;
      account.left[limit] = (account.left[limit] ?? 0) + freed;
      account.within = undefined;
    }
  }

  /**
   * Charges each claim for its cheapest type from now on, and returns the claims that may become other types for it:
   * those that were charged for their largest type have been cut to what that left.
   */
  chargeCheapest(): readonly PlannedClaim[] {
    const freed: PlannedClaim[] = [];
    for (const account of this.#accounts) {
      if (account === undefined) continue;
      account.charge = leastCharge(account.template);
      for (const claim of account.claims) this.settle(claim);
      if (account.charge === "cheapest") freed.push(...account.claims);
    }
    return freed;
  }

  /** The fewest types that a claim can do with: the cheapest, and those that minValues needs. */
  #leastTypes(claim: PlannedClaim): readonly number[] {
    const { template, cheapest, minValuesRelaxed, set } = claim;
    if (template.minValues.length === 0 || minValuesRelaxed) return [cheapest];
    const { types } = claim;
    const possible = template.table.prices(set).order.filter((t) => hasBit(types, t) && this.allows(claim, t));
    return [cheapest, ...neededForMinValues(template, possible, set)];
  }

  /**
   * Of some proposed nodes, each with the type that it will most likely be, those that the limits leave room for
   * together. Nodes with many pods for what they use of the limits come first.
   */
  affordable<N extends { readonly template: Template; readonly type: number; readonly pods: number }>(
    nodes: readonly (N | undefined)[],
  ): (N | undefined)[] {
    const left = this.#accounts.map((account) => account?.left.slice());
    const affordable = new Array<N | undefined>(nodes.length);
    const density = nodes.map((node) => (node === undefined ? 0 : node.pods / this.#shareOfLimits(node)));
    for (const at of [...nodes.keys()].sort((a, b) => (density[b] ?? 0) - (density[a] ?? 0) || a - b)) {
      const node = nodes[at];
      if (node === undefined) continue;
      const account = this.#accounts[node.template.index];
      const mine = left[node.template.index];
      if (account !== undefined && mine !== undefined) {
        const row = node.type * account.names.length;
        if (mine.some((amount, r) => (account.capacity[row + r] ?? 0) > amount)) continue;
        for (let r = 0; r < mine.length; r++) {
          const taken = account.capacity[row + r] ?? 0;
          mine[r] = (mine[r] ?? 0) - taken;
          for (const { template, limit } of account.sharers[r] ?? []) {
            const theirs = left[template];
            if (theirs !== undefined) theirs[limit] = (theirs[limit] ?? 0) - taken;
          }
        }
      }
      affordable[at] = node;
    }
    return affordable;
  }

  /** The largest share that a type has of what is left of one of its pool's limits; 0 without limits. */
  #shareOfLimits({ template, type }: { readonly template: Template; readonly type: number }): number {
    const account = this.#accounts[template.index];
    let share = 0;
    account?.left.forEach((amount, r) => {
      share = Math.max(share, (account.capacity[type * account.names.length + r] ?? 0) / Math.max(1, amount));
    });
    return share;
  }

  /**
   * Lets each claim of a finished attempt keep all types that hold its pods, as long as the limits are far. When they
   * are near, the widest lists are cut first: of each resource, all claims may have up to one amount, the highest at
   * which the sum of their largest types takes no more than MAX_SHARE_FOR_FURTHER_TYPES of what is left. A claim always
   * keeps the types that it is charged for. What the claims of one template may use of a limit that others share, is
   * gone for the next.
   */
  widen(): void {
    for (const account of this.#accounts) {
      if (account?.charge !== "cheapest") continue;
      widenClaims(account);
      if (account.sharers.some(({ length }) => length > 0)) {
        furtherTypesOf(account).forEach((further, r) => {
          this.#share(-further, account, r);
        });
      }
    }
  }
}

/**
 * The limits that templates share: the price cap of the cluster and what commitments leave, of all pools; every other
 * one, of the templates of one pool.
 */
function sharedLimits(templates: readonly Template[]): (template: Template, name: string) => readonly Place[] {
  const keyOf = ({ name: pool }: Template, name: string): string =>
    name === CLUSTER_PRICE || isPaidLimit(name) ? name : `${name} of NodePool ${pool}`;
  const places = new Map<string, Place[]>();
  for (const template of templates) {
    for (const [limit, name] of Object.keys(template.remaining ?? {}).entries()) {
      const key = keyOf(template, name);
      const known = places.get(key);
      if (known === undefined) places.set(key, [{ template: template.index, limit }]);
      else known.push({ template: template.index, limit });
    }
  }
  return (template, name) => (places.get(keyOf(template, name)) ?? []).filter((place) => place.template !== template.index);
}

/** Which offering a claim with reservations is launched as, and so its cheapest type, is known only when it is full. */
const leastCharge = ({ table }: Template): Charge => (table.hasReserved ? "largest" : "cheapest");

/** Capacity of the limited resources: rows by type, in the order of `remaining`. One node counts 1000 "nodes". */
const limitedCapacity: (template: Template) => Float64Array = oncePer(({ remaining, limited, table }) => {
  const names = Object.keys(remaining ?? {});
  const rows = new Float64Array(table.types.length * names.length);
  names.forEach((name, r) => {
    const column = limited(name);
    for (let t = 0; t < table.types.length; t++) rows[t * names.length + r] = column[t] ?? 0;
  });
  return rows;
});

/** Whether a type is within what is left and what is charged already. */
function isWithin({ capacity, left }: Account, type: number, charge?: Float64Array): boolean {
  const row = type * left.length;
  for (let r = 0; r < left.length; r++) if ((capacity[row + r] ?? 0) > (left[r] ?? 0) + (charge?.[r] ?? 0)) return false;
  return true;
}

/**
 * Types that fit into what is left
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources).
 */
function typesWithinLeft(account: Account): Bitset {
  const { types } = account.template;
  // Far from the limits, which is known without a look at each type.
  if (largestWithin(account, types).every((amount, r) => amount <= (account.left[r] ?? 0))) return types;
  const within = new Uint32Array(types.length);
  let isCut = false;
  for (const t of members(types)) {
    if (isWithin(account, t)) setBit(within, t);
    else isCut = true;
  }
  return isCut ? within : types;
}

/** By limited resource, the largest amount that one of the types has. */
function largestWithin({ template, names, capacity }: Account, types: Bitset): Float64Array {
  return Float64Array.from(names, (name, r) => {
    if (name === "nodes") return 1000;
    if (!isPriceLimit(name) && !isPaidLimit(name)) return template.table.largest(types, name);
    return members(types).reduce((most, t) => Math.max(most, capacity[t * names.length + r] ?? 0), 0);
  });
}

/** `largestWithin` for a short list. */
function largest({ capacity, names }: Account, types: readonly number[]): Float64Array {
  const amounts = new Float64Array(names.length);
  for (const t of types) {
    const row = t * amounts.length;
    for (let r = 0; r < amounts.length; r++) amounts[r] = Math.max(amounts[r] ?? 0, capacity[row + r] ?? 0);
  }
  return amounts;
}

/** Limits.widen for one pool: one resource after another, so that what one cuts is not cut again for the next. */
function widenClaims(account: Account): void {
  const { names, capacity, left, claims } = account;
  const width = names.length;
  const spare = left.map((amount) => Math.max(0, amount) * MAX_SHARE_FOR_FURTHER_TYPES);
  if (furtherTypesOf(account).every((amount, r) => amount <= (spare[r] ?? 0))) return;
  const lists = [...claims].map((claim) => ({ claim, charge: claim.charge ?? left, types: members(claim.types), isCut: false }));
  for (let r = 0; r < width; r++) {
    const amountOf = (t: number): number => capacity[t * width + r] ?? 0;
    const wanted = lists.map(({ types }) => types.reduce((most, t) => Math.max(most, amountOf(t)), 0));
    const most = highestLevel(
      [...new Set(lists.flatMap(({ types }) => types.map(amountOf)))],
      (level) =>
        lists.reduce((sum, { charge }, i) => sum + Math.max(0, Math.min(level, wanted[i] ?? 0) - (charge[r] ?? 0)), 0) <= (spare[r] ?? 0),
    );
    for (const list of lists) {
      const kept = list.types.filter((t) => amountOf(t) <= Math.max(most, list.charge[r] ?? 0));
      list.isCut ||= kept.length < list.types.length;
      list.types = kept;
    }
  }
  for (const { claim, types, isCut } of lists) if (isCut) claim.keepTypes(types);
}

/** By limited resource, what all claims would use beyond their charge if none was cut. */
function furtherTypesOf(account: Account): Float64Array {
  const further = new Float64Array(account.names.length);
  for (const { types, charge } of account.claims) {
    largestWithin(account, types).forEach((amount, r) => {
      further[r] = (further[r] ?? 0) + Math.max(0, amount - (charge?.[r] ?? 0));
    });
  }
  return further;
}

/** The highest of some levels that is affordable, where each level below it is affordable too; 0 without one. */
function highestLevel(levels: readonly number[], isAffordable: (level: number) => boolean): number {
  const rising = [...levels].sort((a, b) => a - b);
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAffordable(rising[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return rising[low - 1] ?? 0;
}
