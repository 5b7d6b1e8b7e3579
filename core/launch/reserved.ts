import type { Offering } from "../model/instance-type.ts";
import type { LaunchCandidate } from "./launch-candidate.ts";

/** Kinds of reserved capacity that one request cannot combine, in order of preference at equal price. */
type Kind = "default" | "capacity-block" | "interruptible";
const KINDS: readonly Kind[] = ["default", "capacity-block", "interruptible"];

function kindOf({ reservationType = "default", reservationInterruptible }: Offering): Kind {
  return reservationType === "default" && reservationInterruptible ? "interruptible" : reservationType;
}

/**
 * If anything is reserved, only reserved offerings are asked for, because they are already paid for. The cheapest kind
 * of reservation is taken: of capacity blocks a single one, of other kinds one per type and zone, the one with most
 * instances left. Without reserved offerings the candidates are returned unchanged
 * (karpenter-provider-aws: pkg/providers/instance/filter/filter.go, ReservedOfferingFilter).
 */
export function reservedFirst(candidates: readonly LaunchCandidate[]): readonly LaunchCandidate[] {
  const kind = cheapestKind(candidates);
  if (kind === undefined) return candidates;
  const reserved = candidates
    .map(({ type, offerings }) => ({ type, offerings: offerings.filter((o) => o.capacityType === "reserved" && kindOf(o) === kind) }))
    .filter(({ offerings }) => offerings.length > 0);
  return kind === "capacity-block"
    ? cheapestAlone(reserved)
    : reserved.map(({ type, offerings }) => ({ type, offerings: roomiest(offerings) }));
}

/** Without reserved offerings. */
export function unreserved(candidates: readonly LaunchCandidate[]): readonly LaunchCandidate[] {
  return candidates
    .map(({ type, offerings }) => ({ type, offerings: offerings.filter(({ capacityType }) => capacityType !== "reserved") }))
    .filter(({ offerings }) => offerings.length > 0);
}

function cheapestKind(candidates: readonly LaunchCandidate[]): Kind | undefined {
  let best: { readonly kind: Kind; readonly price: number } | undefined;
  for (const kind of KINDS) {
    for (const { offerings } of candidates) {
      for (const offering of offerings) {
        if (offering.capacityType !== "reserved" || kindOf(offering) !== kind) continue;
        if (best === undefined || offering.price < best.price) best = { kind, price: offering.price };
      }
    }
  }
  return best?.kind;
}

function cheapestAlone(candidates: readonly LaunchCandidate[]): readonly LaunchCandidate[] {
  const all = candidates.flatMap(({ type, offerings }) => offerings.map((offering) => ({ type, offering })));
  const [first] = all.toSorted((a, b) => a.offering.price - b.offering.price || compareIds(a.offering, b.offering));
  return first === undefined ? [] : [{ type: first.type, offerings: [first.offering] }];
}

/** For each zone the reservation with most instances left. */
function roomiest(offerings: readonly Offering[]): readonly Offering[] {
  const byZone = new Map<string, Offering>();
  for (const offering of offerings.toSorted(compareIds)) {
    const rival = byZone.get(offering.zone);
    if (rival === undefined || (offering.reservationCapacity ?? 0) > (rival.reservationCapacity ?? 0)) byZone.set(offering.zone, offering);
  }
  return [...byZone.values()];
}

function compareIds({ reservationId: a = "" }: Offering, { reservationId: b = "" }: Offering): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
