/** The price of a planned claim worked out from the scenario alone: cheapest available offering that its requirements admit. */
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Scenario {
  readonly instanceTypes: readonly {
    readonly name: string;
    readonly offerings: readonly { zone: string; capacityType: string; price: number; available: boolean; reservationId?: string }[];
  }[];
}

export function valueAllowed({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  const n = value !== undefined && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  const bound = Number(values[0]);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return n > bound;
    case "Gte":
      return n >= bound;
    case "Lt":
      return n < bound;
    case "Lte":
      return n <= bound;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

export function claimPrice(
  scenario: Scenario,
  claim: { readonly requirements: readonly Requirement[]; readonly instanceTypes: readonly string[] },
): number {
  const named = new Set(claim.instanceTypes);
  let least = Number.POSITIVE_INFINITY;
  for (const { name, offerings } of scenario.instanceTypes) {
    if (!named.has(name)) continue;
    for (const offering of offerings) {
      if (!offering.available || offering.price >= least) continue;
      const labels: Record<string, string | undefined> = {
        "topology.kubernetes.io/zone": offering.zone,
        "karpenter.sh/capacity-type": offering.capacityType,
        "karpenter.k8s.aws/capacity-reservation-id": offering.reservationId,
      };
      if (claim.requirements.every((r) => !(r.key in labels) || valueAllowed(r, labels[r.key]))) least = offering.price;
    }
  }
  return least;
}
