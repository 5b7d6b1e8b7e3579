import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import { intersectAll, requirementsFrom, requirementsFromLabels } from "../requirements/requirements.ts";

/**
 * Keys for which no value meets all requirements: valid, but without any effect. The requirements must be readable
 * (isReadable).
 */
export function contradictions(
  requirements: readonly NodeSelectorRequirementWithMinValues[],
  labels: Readonly<Record<string, string>>,
): readonly string[] {
  const all = intersectAll(requirementsFrom(requirements), requirementsFromLabels(labels));
  return [...all.values()].flatMap(({ key, never }) => (never ? [key] : []));
}
