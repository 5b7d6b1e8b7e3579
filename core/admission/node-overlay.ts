import type { NodeOverlay } from "../model/node-overlay.ts";
import { nodeOverlayProblems } from "../node-overlay/validate.ts";
import { contradictions } from "./contradictions.ts";
import type { Gates } from "./gates.ts";
import type { AdmissionVerdict } from "./verdict.ts";

/** Problems and warnings of one NodeOverlay; conflicts with other overlays are in its status. */
export function reviewNodeOverlay(overlay: NodeOverlay, gates: Gates): AdmissionVerdict {
  const problems = nodeOverlayProblems(overlay);
  const clashes = problems.length === 0 ? contradictions(overlay.spec.requirements, {}) : [];
  return {
    problems,
    warnings: [
      ...clashes.map((key) => `spec.requirements: no value of ${key} meets all of them, so the overlay covers nothing`),
      ...(gates.NodeOverlay
        ? []
        : ["feature gate NodeOverlay is off, so the overlay has no effect; add it to FEATURE_GATES and deploy again"]),
    ],
  };
}
