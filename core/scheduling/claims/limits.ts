import { ownValue } from "../../lib/own-value.ts";
import type { Resources } from "../../model/quantity.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, members } from "../tables/bitset.ts";
import type { PlannedClaim } from "./planned-claim.ts";

/** What is left of one pool's limits. */
interface Account {
  /** Milli-units by resource. */
  readonly left: Record<string, number>;
  /** The highest charge of one claim, in milli-units by resource. */
  readonly maxCharge: Resources;
  /** Claims of the pool in this run. */
  readonly claims: PlannedClaim[];
  /** False while no limit can be reached even at the highest charge for each claim; `left` is not updated then. */
  isExact: boolean;
  /** The last answer of `typesWithin`; undefined after a change. Pods that fit nowhere need it again and again. */
  within: Bitset | undefined;
}

/**
 * What NodePool limits leave while claims are planned. A claim is charged, resource by resource, for the largest type
 * that it may still be launched as (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, subtractMax).
 */
export class Limits {
  readonly #accounts: readonly (Account | undefined)[];

  constructor(templates: readonly Template[]) {
    this.#accounts = templates.map((template) => {
      if (template.remaining === undefined) return undefined;
      const maxCharge = Object.keys(template.remaining).map((name) => [name, largest(template, template.types, name)]);
      return { left: { ...template.remaining }, maxCharge: Object.fromEntries(maxCharge), claims: [], isExact: false, within: undefined };
    });
  }

  /** What is left of a pool's limits, in milli-units by resource; undefined without limits. */
  left({ index }: Template): Resources | undefined {
    const account = this.#accounts[index];
    if (account !== undefined) countExactly(account);
    return account?.left;
  }

  /** Charges a new claim, which has its first pod, to its pool. */
  open(claim: PlannedClaim): void {
    const account = this.#accounts[claim.template.index];
    account?.claims.push(claim);
    if (account?.isExact) charge(account, claim.template, claim.types, 1);
  }

  /**
   * Types that a claim is charged for, for `narrowed` after the claim took a pod; undefined while charges are not
   * counted.
   */
  chargedFor(claim: PlannedClaim): Bitset | undefined {
    return this.#accounts[claim.template.index]?.isExact ? claim.types : undefined;
  }

  /** Charges a claim that took a pod for its present types instead of those before. */
  narrowed(claim: PlannedClaim, before: Bitset | undefined): void {
    const account = this.#accounts[claim.template.index];
    if (account === undefined || before === undefined) return;
    charge(account, claim.template, before, -1);
    charge(account, claim.template, claim.types, 1);
  }

  /** Types of a pool that do not exceed what is left; the pool's own list when no type does. */
  typesWithin(template: Template): Bitset {
    const account = this.#accounts[template.index];
    if (account === undefined || isFarFromLimits(account)) return template.types;
    countExactly(account);
    account.within ??= withinLeft(template, account);
    return account.within;
  }
}

/**
 * Types that fit into what is left
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources).
 */
function withinLeft(template: Template, { left, maxCharge }: Account): Bitset {
  if (Object.keys(left).every((name) => (ownValue(maxCharge, name) ?? 0) <= (left[name] ?? 0))) return template.types;
  const within = Uint32Array.from(template.types);
  if ((left["nodes"] ?? 1000) < 1000) return within.fill(0);
  let isCut = false;
  for (const t of members(template.types)) {
    const capacity = template.table.capacity[t] ?? {};
    for (const name in left) {
      if (name === "nodes" || (ownValue(capacity, name) ?? 0) <= (left[name] ?? 0)) continue;
      within[t >>> 5] = (within[t >>> 5] ?? 0) & ~(1 << (t & 31));
      isCut = true;
    }
  }
  return isCut ? within : template.types;
}

/** Whether one more claim is within the limits even at the highest charge for each claim. */
function isFarFromLimits({ left, maxCharge, claims, isExact }: Account): boolean {
  if (isExact) return false;
  for (const name in left) if ((claims.length + 1) * (ownValue(maxCharge, name) ?? 0) > (left[name] ?? 0)) return false;
  return true;
}

/** Starts to count: charges all claims of the pool for their present types. */
function countExactly(account: Account): void {
  if (account.isExact) return;
  account.isExact = true;
  for (const claim of account.claims) charge(account, claim.template, claim.types, 1);
}

/** Charges types to an account, or gives their charge back with sign -1. */
function charge(account: Account, template: Template, types: Bitset, sign: 1 | -1): void {
  const { left } = account;
  account.within = undefined;
  for (const name in left) left[name] = (left[name] ?? 0) - sign * largest(template, types, name);
}

/** The largest amount of a resource that one of the types has, in milli-units; one node counts 1000 "nodes". */
function largest(template: Template, types: Bitset, name: string): number {
  return name === "nodes" ? 1000 : template.table.largest(types, name);
}
