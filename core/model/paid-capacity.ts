/**
 * What a commitment pays for: one instance type, in one zone where it says so; all sizes of a family; or any type.
 * @example
 * { kind: "type", type: "m5.large", zone: "us-west-2a" } // a zonal reserved instance
 * { kind: "family", family: "m5" } // an EC2 Instance Savings Plan, or a regional reserved instance
 * { kind: "any" } // a Compute Savings Plan
 */
export type PaidFor =
  | { readonly kind: "type"; readonly type: string; readonly zone?: string }
  | { readonly kind: "family"; readonly family: string }
  | { readonly kind: "any" };

export type PaidKind = PaidFor["kind"];

/**
 * On-demand capacity that Savings Plans and reserved instances of the account pay for, used or not, as far as one
 * cluster may count on it. Amounts are USD per hour at on-demand prices: within a family these follow the sizes, as the
 * normalization factors of reserved instances do.
 */
export interface PaidShare {
  readonly of: PaidFor;
  /** What nodes that run and new nodes of the cluster may use together. */
  readonly perHour: number;
  /** What nodes that run may use and count as paid for; at least `perHour`, so that a short dip moves no pods. */
  readonly keeps: number;
}

/** The family of an instance type: "m5" of "m5.large". */
export function familyOf(instanceType: string): string {
  return instanceType.slice(0, Math.max(0, instanceType.indexOf(".")));
}

/** A text by which equal commitments are known. */
export function paidKey(of: PaidFor): string {
  switch (of.kind) {
    case "type":
      return of.zone === undefined ? of.type : `${of.type} in ${of.zone}`;
    case "family":
      return `family ${of.family}`;
    case "any":
      return "any family";
  }
}

/** Whether a commitment pays for an instance type in a zone. */
export function paysFor(of: PaidFor, instanceType: string, zone: string): boolean {
  switch (of.kind) {
    case "type":
      return of.type === instanceType && (of.zone === undefined || of.zone === zone);
    case "family":
      return of.family === familyOf(instanceType);
    case "any":
      return true;
  }
}

/** The order in which AWS applies commitments, and in which they are counted: the narrowest first. */
export const PAID_KINDS: readonly PaidKind[] = ["type", "family", "any"];

/** Commitments in the order in which they are used up; of one type, those of a zone first. */
export function inOrderOfUse<T extends { readonly of: PaidFor }>(shares: readonly T[]): readonly T[] {
  const rank = ({ of }: T): number => 2 * PAID_KINDS.indexOf(of.kind) + (of.kind === "type" && of.zone === undefined ? 1 : 0);
  return shares.toSorted((a, b) => rank(a) - rank(b) || (paidKey(a.of) < paidKey(b.of) ? -1 : 1));
}
