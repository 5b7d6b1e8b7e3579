import type { HistoryChoice, Planned } from "../model/history-entry.ts";
import type { InstanceType } from "../model/instance-type.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import type { Pod } from "../model/pod.ts";
import { admitsOffering, offeringRequirementsOf } from "../requirements/offerings.ts";
import { requirementsFrom } from "../requirements/requirements.ts";
import { aboutClaim } from "./claim-entries.ts";

/** The choice and its runners-up. */
const MAX_CHOICES = 5;
/** Pods that one entry names: more than nodes usually take, and few enough for one write unit. */
export const MAX_PODS = 300;

/** The cheapest offering that the NodeClaim may be launched as, of each of its cheapest types. */
function choicesOf(planned: PlannedNodeClaim, types: readonly InstanceType[]): readonly HistoryChoice[] {
  const wanted = offeringRequirementsOf(requirementsFrom(planned.requirements));
  const byName = new Map(types.map((type) => [type.name, type]));
  const choices: HistoryChoice[] = [];
  for (const instanceType of planned.instanceTypes) {
    const offerings = (byName.get(instanceType)?.offerings ?? []).filter(
      (offering) => offering.available && admitsOffering(wanted, offering),
    );
    const [first, ...others] = offerings;
    if (first === undefined) continue;
    const { capacityType, zone, price } = others.reduce((best, one) => (one.price < best.price ? one : best), first);
    choices.push({ instanceType, capacityType, zone, pricePerHour: price });
    if (choices.length === MAX_CHOICES) break;
  }
  return choices;
}

interface PlanFacts {
  /** The instance types of the NodePool, with their prices. */
  readonly instanceTypes: readonly InstanceType[];
  /** When the pods of the plan were created (ms), by "namespace/name". */
  readonly createdAt: ReadonlyMap<string, number>;
  /** NodeClaims that the same decision makes. */
  readonly together: number;
}

/** When pods were created, for PlanFacts. */
export function creationTimes(pods: readonly Pod[]): ReadonlyMap<string, number> {
  return new Map(
    pods.map(({ metadata }) => [`${metadata.namespace ?? "default"}/${metadata.name}`, Date.parse(metadata.creationTimestamp ?? "")]),
  );
}

/** Why this NodeClaim, and which machines it may become. */
export function plannedEntry(
  planned: PlannedNodeClaim,
  record: NodeClaimRecord,
  { instanceTypes, createdAt, together }: PlanFacts,
): Planned {
  const at = record.createdAt;
  const ages = planned.pods.flatMap((pod) => {
    const created = createdAt.get(pod);
    return created === undefined || Number.isNaN(created) ? [] : [at - created];
  });
  const oldest = ages.reduce((max, age) => Math.max(max, age), Number.NEGATIVE_INFINITY);
  return {
    type: "Planned",
    ...aboutClaim(record, at),
    reason: record.reason,
    ...(record.commandId !== undefined && { commandId: record.commandId }),
    pods: planned.pods.slice(0, MAX_PODS),
    podCount: planned.pods.length,
    ...(oldest >= 0 && { waitedMs: oldest }),
    requests: planned.requests,
    choices: choicesOf(planned, instanceTypes),
    typeCount: planned.instanceTypes.length,
    together,
    ...(planned.paidFor !== undefined && { isPaidFor: true as const }),
  };
}
