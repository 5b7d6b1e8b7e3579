import { canonicalJson, fnv1a32 } from "../lib/fnv.ts";
import type { FleetOverride, ReservationTarget } from "../model/fleet.ts";
import type { CapacityType, InstanceType } from "../model/instance-type.ts";
import type { EC2NodeClass, KubeletConfiguration, ResolvedAmi, ResolvedSubnet } from "../model/node-class.ts";
import { amiFor } from "../node-class/ami.ts";
import { expressionsOf, RESERVED_FIELDS } from "../node-class/kubelet-expressions.ts";
import type { LaunchCandidate } from "./launch-candidate.ts";

/** Instance types that share one launch template. */
export interface TemplateGroup {
  readonly ami: ResolvedAmi;
  readonly maxPods: number;
  /** The NodeClass's kubelet settings, with the values that their expressions have for these types. */
  readonly kubelet?: KubeletConfiguration;
  readonly efaInterfaces: number;
  readonly reservation?: ReservationTarget;
  readonly candidates: readonly LaunchCandidate[];
}

/**
 * Groups instance types that can share a template: equal image, pod limit, kubelet settings, reservation and, when the
 * NodeClaim requests EFA, number of EFA interfaces.
 */
export function groupByTemplate(
  candidates: readonly LaunchCandidate[],
  nodeClass: EC2NodeClass,
  requests: Readonly<Record<string, number>>,
): readonly TemplateGroup[] {
  const kubeletFor = kubeletOfCandidates(nodeClass.spec.kubelet);
  const wantsEfa = (requests["vpc.amazonaws.com/efa"] ?? 0) > 0;
  const groups = new Map<string, TemplateGroup & { readonly candidates: LaunchCandidate[] }>();
  for (const candidate of candidates.flatMap(byReservation)) {
    const ami = amiFor(candidate.type, nodeClass);
    if (ami === undefined) continue;
    const maxPods = Number(candidate.type.capacity["pods"] ?? 0);
    const efaInterfaces = wantsEfa ? Number(candidate.type.capacity["vpc.amazonaws.com/efa"] ?? 0) : 0;
    const { reservation } = candidate;
    const kubelet = kubeletFor(candidate.type);
    const key = `${ami.id} ${maxPods} ${efaInterfaces} ${reservation?.id} ${kubelet === nodeClass.spec.kubelet ? "" : canonicalJson(kubelet)}`;
    const shared = { ami, maxPods, efaInterfaces, ...(kubelet && { kubelet }), ...(reservation && { reservation }) };
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ...shared, candidates: [candidate] });
    else group.candidates.push(candidate);
  }
  return [...groups.values()];
}

/** The settings for a type, with the values that plans have counted with in place of expressions. */
function kubeletOfCandidates(kubelet: KubeletConfiguration | undefined): (type: InstanceType) => KubeletConfiguration | undefined {
  if (kubelet === undefined || expressionsOf(kubelet).length === 0) return () => kubelet;
  return ({ capacity, overhead }) => ({
    ...kubelet,
    ...(typeof kubelet.maxPods === "string" && { maxPods: Number(capacity["pods"] ?? 0) }),
    ...Object.fromEntries(
      RESERVED_FIELDS.flatMap((field) => {
        const amounts = overhead[field] ?? {};
        const names = Object.keys(kubelet[field] ?? {}).filter((name) => amounts[name] !== undefined);
        return kubelet[field] === undefined ? [] : [[field, Object.fromEntries(names.map((name) => [name, amounts[name]]))] as const];
      }),
    ),
  });
}

/** The candidate split by the reservation that it may use; whole when nothing is reserved. */
function byReservation({ type, offerings }: LaunchCandidate): readonly (LaunchCandidate & Pick<TemplateGroup, "reservation">)[] {
  return [...Map.groupBy(offerings, ({ reservationId }) => reservationId)].map(([id, own]) => {
    if (id === undefined) return { type, offerings: own };
    const [{ reservationType = "default", reservationInterruptible = false } = {}] = own;
    return { type, offerings: own, reservation: { id, type: reservationType, interruptible: reservationInterruptible } };
  });
}

/**
 * What CreateFleet may launch of a group: each type in the chosen subnet of each zone where it is offered as
 * `capacityType`. Of offerings with one price EC2 takes the first in the request, so each request names the zones in
 * an order of its own: many NodeClaims of one plan are spread over all zones.
 */
export function overridesOf(
  { ami, candidates }: TemplateGroup,
  capacityType: CapacityType,
  subnets: ReadonlyMap<string, ResolvedSubnet>,
  zoneOrder: ZoneOrder,
): readonly FleetOverride[] {
  const overrides: FleetOverride[] = [];
  for (const { type, offerings } of candidates) {
    for (const { zone, price, capacityType: offered } of offerings.toSorted((a, b) => zoneOrder(a.zone) - zoneOrder(b.zone))) {
      const subnet = subnets.get(zone);
      if (offered !== capacityType || subnet === undefined) continue;
      overrides.push({ instanceType: type.name, subnetId: subnet.id, zone, imageId: ami.id, price });
    }
  }
  return overrides;
}

/** The place of a zone in the order that a request names zones in. */
type ZoneOrder = (zone: string) => number;

/** The order of the request of one NodeClaim. */
export const inOrderOf =
  (claim: string): ZoneOrder =>
  (zone) =>
    fnv1a32(`${zone} ${claim}`);

/** The order of the request of a group: its own zone first, then those that follow. */
export function inTurn(zones: readonly string[], turn: number): ZoneOrder {
  const sorted = zones.toSorted();
  return (zone) => (sorted.indexOf(zone) - (turn % sorted.length) + sorted.length) % sorted.length;
}
