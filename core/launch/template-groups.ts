import type { FleetOverride, ReservationTarget } from "../model/fleet.ts";
import type { CapacityType } from "../model/instance-type.ts";
import type { EC2NodeClass, ResolvedAmi, ResolvedSubnet } from "../model/node-class.ts";
import { amiFor } from "../node-class/ami.ts";
import type { LaunchCandidate } from "./launch-candidate.ts";

/** Types that one template serves. */
export interface TemplateGroup {
  readonly ami: ResolvedAmi;
  readonly maxPods: number;
  readonly efaInterfaces: number;
  readonly reservation?: ReservationTarget;
  readonly candidates: readonly LaunchCandidate[];
}

/** Types that can share a template: same image, same pod limit, same number of EFA interfaces if the claim asks for any, same reservation (launch.md §3). */
export function groupByTemplate(
  candidates: readonly LaunchCandidate[],
  nodeClass: EC2NodeClass,
  requests: Readonly<Record<string, number>>,
): readonly TemplateGroup[] {
  const wantsEfa = (requests["vpc.amazonaws.com/efa"] ?? 0) > 0;
  const groups = new Map<string, TemplateGroup & { readonly candidates: LaunchCandidate[] }>();
  for (const candidate of candidates.flatMap(byReservation)) {
    const ami = amiFor(candidate.type, nodeClass);
    if (ami === undefined) continue;
    const maxPods = Number(candidate.type.capacity["pods"] ?? 0);
    const efaInterfaces = wantsEfa ? Number(candidate.type.capacity["vpc.amazonaws.com/efa"] ?? 0) : 0;
    const { reservation } = candidate;
    const key = `${ami.id} ${maxPods} ${efaInterfaces} ${reservation?.id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ami, maxPods, efaInterfaces, ...(reservation && { reservation }), candidates: [candidate] });
    else group.candidates.push(candidate);
  }
  return [...groups.values()];
}

/** The candidate in parts, one for each reservation that it may go into; whole where nothing is reserved. */
function byReservation({ type, offerings }: LaunchCandidate): readonly (LaunchCandidate & Pick<TemplateGroup, "reservation">)[] {
  return [...Map.groupBy(offerings, ({ reservationId }) => reservationId)].map(([id, own]) => {
    if (id === undefined) return { type, offerings: own };
    const [{ reservationType = "default", reservationInterruptible = false } = {}] = own;
    return { type, offerings: own, reservation: { id, type: reservationType, interruptible: reservationInterruptible } };
  });
}

/** What a fleet may start of a group: each type in the chosen subnet of each zone where it is sold as `capacityType`. */
export function overridesOf(
  { ami, candidates }: TemplateGroup,
  capacityType: CapacityType,
  subnets: ReadonlyMap<string, ResolvedSubnet>,
): readonly FleetOverride[] {
  const overrides: FleetOverride[] = [];
  for (const { type, offerings } of candidates) {
    for (const { zone, price, capacityType: offered } of offerings) {
      const subnet = subnets.get(zone);
      if (offered !== capacityType || subnet === undefined) continue;
      overrides.push({ instanceType: type.name, subnetId: subnet.id, zone, imageId: ami.id, price });
    }
  }
  return overrides;
}
