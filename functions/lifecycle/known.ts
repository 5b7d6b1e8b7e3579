import type { ClaimView } from "#core/lifecycle/action.ts";
import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { Node } from "#core/model/node.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";

/**
 * What a pass over one NodeClaim has read, or what its own writes returned; a part that is absent is read when it is
 * needed. So a pass reads each object once, however many steps it takes. It is safe, because each write names the
 * version that it was decided from: when another was faster, the pass forgets all of it and reads again.
 */
export type Known = Partial<Pick<ClaimView, "record" | "claim" | "instance">> & {
  readonly nodes?: readonly Node[];
  readonly otherYoungNodes?: readonly Node[];
  /** The nodes that are not initialized, as the look that this pass began with has listed them. */
  readonly youngNodes?: readonly Node[];
  /** The nodes that this pass is the one to open, as a key (open-together.ts). */
  readonly opens?: string;
  /** Another has changed or removed what was about to be written: nothing is taken for granted. */
  readonly isContested?: true;
  /** As this pass has written it. */
  readonly launchGroup?: LaunchGroup;
  /** Of the NodeClaim's launch. */
  readonly nodeClass?: EC2NodeClass;
};

/**
 * What a performed action means for the rest of its step. A function says what the action has changed; the rest of the
 * step follows. "look again" ends the step, and the next one is decided from what is read then; with `lookAgainWith`,
 * what that holds is not read, and the passes of `others` go on with what is known of them. "later": it was refused,
 * and is tried again after a pause.
 */
export type Performed = "done" | "look again" | "later" | Change | LookAgain;

export interface LookAgain {
  readonly lookAgainWith: Known;
  readonly others?: readonly OtherPass[];
}

/** Another NodeClaim whose next step this pass has taken with its own. */
export interface OtherPass {
  readonly name: string;
  readonly known: Known;
}

type Change = (known: Known) => Known;

/** The parts as the API server or the table returned them. */
export const keep =
  (written: Known): Change =>
  (known) => ({ ...known, ...written });

/** The node of the same name in its place. */
export const keepNode =
  (node: Node): Change =>
  ({ nodes, ...known }) => ({
    ...known,
    ...(nodes && { nodes: nodes.map((one) => (one.metadata.name === node.metadata.name ? node : one)) }),
  });

/** Parts that are read again, because the write did not return them. */
export const forgetPart =
  (part: keyof Known): Change =>
  ({ [part]: _, ...known }) =>
    known;
