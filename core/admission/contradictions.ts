import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { intersectAll, requirementsFrom, requirementsFromLabels } from "../requirements/requirements.ts";

/** Keys of which no value meets all that is asked: lawful, but no node will ever come of it. The items must be readable. */
export function contradictions(
  requirements: readonly NodeSelectorRequirementWithMinValues[],
  labels: Readonly<Record<string, string>>,
  where: string,
): readonly string[] {
  const all = intersectAll(requirementsFrom(requirements), requirementsFromLabels(labels));
  return [...all.values()].flatMap(({ key, never }) =>
    never ? [`${where}: no value of ${key} meets all that labels and requirements ask of it, so no node can be made`] : [],
  );
}
