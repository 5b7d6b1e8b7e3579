import type { EC2NodeClass } from "../model/node-class.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { Fields } from "./fields.ts";
import { reviewNodeClass } from "./node-class.ts";
import { reviewNodePool } from "./node-pool.ts";
import { CONTENT, ofChange, type Verdict } from "./verdict.ts";

/** What admission says of an object of kind NodePool or EC2NodeClass (v1, past its schema), and of nothing else. `old` is what a change replaces. */
export function review(object: Fields, old?: Fields): Verdict {
  return ofChange(reviewObject(object), old && reviewObject(old));
}

function reviewObject(object: Fields): Verdict {
  switch (object["kind"]) {
    case "NodePool":
      return reviewNodePool(object as unknown as NodePool);
    case "EC2NodeClass":
      return reviewNodeClass(object as unknown as EC2NodeClass);
    default:
      return CONTENT;
  }
}
