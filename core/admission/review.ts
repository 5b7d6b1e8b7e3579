import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Fields } from "./fields.ts";
import { ALL_GATES, type Gates } from "./gates.ts";
import { reviewNodeClass } from "./node-class.ts";
import { reviewNodeOverlay } from "./node-overlay.ts";
import { reviewNodePool } from "./node-pool.ts";
import { CONTENT, ofChange, type Verdict } from "./verdict.ts";

/**
 * What admission says of a NodePool, EC2NodeClass (v1) or NodeOverlay that has passed its schema, and of no other kind. `old` is what a change
 * replaces.
 */
export function review(object: Fields, old?: Fields, gates: Gates = ALL_GATES): Verdict {
  return ofChange(reviewObject(object, gates), old && reviewObject(old, gates));
}

function reviewObject(object: Fields, gates: Gates): Verdict {
  switch (object["kind"]) {
    case "NodePool":
      return reviewNodePool(object as unknown as NodePool, gates);
    case "EC2NodeClass":
      return reviewNodeClass(object as unknown as EC2NodeClass);
    case "NodeOverlay":
      return reviewNodeOverlay(object as unknown as NodeOverlay, gates);
    default:
      return CONTENT;
  }
}
