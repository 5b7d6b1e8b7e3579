import type { InstanceType, Offering } from "../model/instance-type.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import { admitsOffering, offeringRequirementsOf } from "../requirements/offerings.ts";
import {
  compatible,
  intersectAll,
  normalizeKey,
  type Requirements,
  requirementsFrom,
  requirementsFromLabels,
} from "../requirements/requirements.ts";

/**
 * Labels that all nodes of a NodePool have. The template's requirements are not among them, because they say what nodes
 * may be, not what they are.
 */
export function poolFacts({ metadata, spec }: NodePool): Requirements {
  return intersectAll(requirementsFromLabels({ [NODE_POOL]: metadata.name }), requirementsFromLabels(spec.template.metadata?.labels));
}

/**
 * Labels that all nodes of an instance type have, limited to `keys`: a type has dozens of other labels, which need not
 * be read.
 */
export function typeFacts(type: InstanceType, keys: ReadonlySet<string>): Requirements {
  return requirementsFrom(type.requirements.filter(({ key }) => keys.has(normalizeKey(key))));
}

/**
 * The offerings of an instance type that an overlay selects, available or not. `facts` are the labels that NodePool and
 * type have together; without all labels that the overlay requires, no offering is selected
 * (karpenter: pkg/controllers/nodeoverlay/controller.go, getOverlaidOfferings).
 */
export function matchingOfferings(facts: Requirements, type: InstanceType, wanted: Requirements): readonly Offering[] {
  const onOfferings = offeringRequirementsOf(wanted);
  return compatible(facts, wanted) ? type.offerings.filter((offering) => admitsOffering(onOfferings, offering)) : [];
}
