// core/admission: what the admission webhooks decide: defaults, problems and warnings of NodePools, EC2NodeClasses and
// NodeOverlays. Objects as JSON, after the CRD's schema, come in; verdicts and JSON Patch steps go out. HTTP and
// AdmissionReviews must not be known here.

import type { JsonObject } from "../lib/json.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import { ALL_GATES, type Gates } from "./gates.ts";
import { reviewNodeClass } from "./node-class.ts";
import { reviewNodeOverlay } from "./node-overlay.ts";
import { reviewNodePool } from "./node-pool.ts";
import { shapeProblem } from "./shape.ts";
import { ACCEPTED, type AdmissionVerdict, ofChange } from "./verdict.ts";

/**
 * Reviews a NodePool, EC2NodeClass (v1) or NodeOverlay that has passed its schema; accepts every other kind. `old` is
 * the object before an update. An object without a required part has that problem alone.
 */
export function review(object: JsonObject, old?: JsonObject, gates: Gates = ALL_GATES): AdmissionVerdict {
  return ofChange(reviewObject(object, gates), old && reviewObject(old, gates));
}

function reviewObject(object: JsonObject, gates: Gates): AdmissionVerdict {
  const problem = shapeProblem(object);
  if (problem !== undefined) return { problems: [problem], warnings: [] };
  switch (object["kind"]) {
    case "NodePool":
      return reviewNodePool(object as unknown as NodePool, gates);
    case "EC2NodeClass":
      return reviewNodeClass(object as unknown as EC2NodeClass);
    case "NodeOverlay":
      return reviewNodeOverlay(object as unknown as NodeOverlay, gates);
    default:
      return ACCEPTED;
  }
}
