import { typesOf, valueAllowed } from "./judge-rules.ts";

// The price of a planned NodeClaim, computed from the scenario alone: the cheapest available offering that it admits.
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

export function claimPrice(
  scenario: Scenario,
  claim: { readonly nodePool?: string; readonly requirements: readonly Requirement[]; readonly instanceTypes: readonly string[] },
): number {
  const named = new Set(claim.instanceTypes);
  let least = Number.POSITIVE_INFINITY;
  for (const { name, offerings } of typesOf(scenario, claim.nodePool)) {
    if (!named.has(name)) continue;
    for (const offering of offerings) {
      if (!offering.available || offering.price >= least) continue;
      const labels: Record<string, string | undefined> = {
        "topology.kubernetes.io/zone": offering.zone,
        "karpenter.sh/capacity-type": offering.capacityType,
        "karpenter.k8s.aws/capacity-reservation-id": offering.reservationId,
      };
      if (claim.requirements.every((r) => !(r.key in labels) || valueAllowed(r.operator, r.values ?? [], labels[r.key])))
        least = offering.price;
    }
  }
  return least;
}
