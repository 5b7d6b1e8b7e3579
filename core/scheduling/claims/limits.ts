import type { Resources } from "../../model/quantity.ts";
import type { Template } from "../problem/template.ts";
import { type Bitset, members } from "../tables/bitset.ts";
import type { PlannedClaim } from "./planned-claim.ts";

interface Account {
  /** Milli-units by resource. */
  readonly left: Record<string, number>;
  /** The most that one claim can be charged. */
  readonly most: Resources;
  readonly claims: PlannedClaim[];
  /** False while no limit can be reached whatever the claims become: then nobody counts. */
  isExact: boolean;
  /** The answer of `typesWithin` while nothing changes: pods that fit nowhere ask again and again. */
  within: Bitset | undefined;
}

/** What the limits of pools leave while claims are planned. A claim is charged for the largest type that it may still become. */
export class Limits {
  readonly #accounts: readonly (Account | undefined)[];

  constructor(templates: readonly Template[]) {
    this.#accounts = templates.map((template) => {
      if (template.remaining === undefined) return undefined;
      const most = Object.keys(template.remaining).map((name) => [name, largest(template, template.types, name)]);
      return { left: { ...template.remaining }, most: Object.fromEntries(most), claims: [], isExact: false, within: undefined };
    });
  }

  /** Milli-units by resource; undefined without limits. */
  left({ index }: Template): Resources | undefined {
    const account = this.#accounts[index];
    if (account !== undefined) countExactly(account);
    return account?.left;
  }

  /** Writes a claim that has its first pod to its pool's account. */
  open(claim: PlannedClaim): void {
    const account = this.#accounts[claim.template.index];
    account?.claims.push(claim);
    if (account?.isExact) charge(account, claim.template, claim.types, 1);
  }

  /** Types that a claim is charged for, to be handed to `narrowed` after it took a pod; undefined while nobody counts. */
  chargedFor(claim: PlannedClaim): Bitset | undefined {
    return this.#accounts[claim.template.index]?.isExact ? claim.types : undefined;
  }

  narrowed(claim: PlannedClaim, before: Bitset | undefined): void {
    const account = this.#accounts[claim.template.index];
    if (account === undefined || before === undefined) return;
    charge(account, claim.template, before, -1);
    charge(account, claim.template, claim.types, 1);
  }

  /** Types of a pool that would not exceed what is left: the pool's own list when none would. */
  typesWithin(template: Template): Bitset {
    const account = this.#accounts[template.index];
    if (account === undefined || isFarAway(account)) return template.types;
    countExactly(account);
    account.within ??= withinLeft(template, account);
    return account.within;
  }
}

/** The pool's own list when nothing is cut from it. */
function withinLeft(template: Template, { left, most }: Account): Bitset {
  if (Object.keys(left).every((name) => (most[name] ?? 0) <= (left[name] ?? 0))) return template.types;
  const within = Uint32Array.from(template.types);
  if ((left["nodes"] ?? 1000) < 1000) return within.fill(0);
  let isCut = false;
  for (const t of members(template.types)) {
    const capacity = template.table.capacity[t] ?? {};
    for (const name in left) {
      if (name === "nodes" || (capacity[name] ?? 0) <= (left[name] ?? 0)) continue;
      within[t >>> 5] = (within[t >>> 5] ?? 0) & ~(1 << (t & 31));
      isCut = true;
    }
  }
  return isCut ? within : template.types;
}

/** Whether one more claim is within the limits even if all became the largest type. */
function isFarAway({ left, most, claims, isExact }: Account): boolean {
  if (isExact) return false;
  for (const name in left) if ((claims.length + 1) * (most[name] ?? 0) > (left[name] ?? 0)) return false;
  return true;
}

function countExactly(account: Account): void {
  if (account.isExact) return;
  account.isExact = true;
  for (const claim of account.claims) charge(account, claim.template, claim.types, 1);
}

function charge(account: Account, template: Template, types: Bitset, sign: 1 | -1): void {
  const { left } = account;
  account.within = undefined;
  for (const name in left) left[name] = (left[name] ?? 0) - sign * largest(template, types, name);
}

function largest(template: Template, types: Bitset, name: string): number {
  return name === "nodes" ? 1000 : template.table.largest(types, name);
}
