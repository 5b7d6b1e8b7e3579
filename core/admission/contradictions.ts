import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { intersectAll, requirementsFrom, requirementsFromLabels } from "../requirements/requirements.ts";

/** Keys of which no value meets all that is asked: lawful, but nothing will ever come of it. The items must be readable. */
export function contradictions(
  requirements: readonly NodeSelectorRequirementWithMinValues[],
  labels: Readonly<Record<string, string>>,
): readonly string[] {
  const all = intersectAll(requirementsFrom(requirements), requirementsFromLabels(labels));
  return [...all.values()].flatMap(({ key, never }) => (never ? [key] : []));
}
