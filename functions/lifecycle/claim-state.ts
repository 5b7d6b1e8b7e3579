import type { Action, ClaimView } from "#core/lifecycle/action.ts";
import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { Node } from "#core/model/node.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

/**
 * What the reconcile of one NodeClaim has read, or what its own writes returned; a part that is absent is read when it
 * is needed. So a reconcile reads each object once, however many steps it takes. It is safe, because each write names
 * the version that it was decided from: on a conflict all of it is dropped and read again.
 */
export type ClaimState = Partial<Pick<ClaimView, "record" | "claim" | "instance">> & {
  readonly nodes?: readonly Node[];
  readonly otherYoungNodes?: readonly Node[];
  /** Why EC2 has refused a reboot. */
  readonly rebootRefused?: string;
  /** The nodes that are not initialized, as the check before this reconcile has listed them. */
  readonly youngNodes?: readonly Node[];
  /** The group of nodes that this reconcile has claimed to uncordon, as a key (held-nodes.ts). */
  readonly uncordons?: string;
  /** Another has changed or removed what was about to be written: what a new record implies is read, too. */
  readonly isContested?: true;
  /** As this reconcile has written it. */
  readonly launchGroup?: LaunchGroup;
  /** Of the NodeClaim's launch. */
  readonly nodeClass?: EC2NodeClass;
};

/** Another NodeClaim whose next step this reconcile has taken with its own. */
export interface OtherClaim {
  readonly name: string;
  readonly state: ClaimState;
}

/** What a performed action means for the rest of its step. */
export type Performed =
  /** The rest of the step follows, with this state. */
  | { readonly outcome: "done"; readonly state: ClaimState }
  /**
   * The step ends; the next one is decided from this state and what else is read. `others` are reconciled afterwards.
   */
  | { readonly outcome: "requeue"; readonly state: ClaimState; readonly others: readonly OtherClaim[] }
  /** The API server refused it: the reconcile ends, and is repeated after a pause. */
  | { readonly outcome: "refused" };

export const done = (state: ClaimState): Performed => ({ outcome: "done", state });

export const requeue = (state: ClaimState = {}, others: readonly OtherClaim[] = []): Performed => ({ outcome: "requeue", state, others });

/** What an action is performed with. */
export interface ActionContext {
  /** Of the NodeClaim. */
  readonly name: string;
  readonly state: ClaimState;
  readonly deps: LifecycleDeps;
}

/** Performs one type of action. */
export type Performer<T extends Action["type"]> = (
  action: Extract<Action, { readonly type: T }>,
  context: ActionContext,
) => Promise<Performed>;

/** The state with a written node in the place of the node of its name. */
export const withNode = (state: ClaimState, node: Node): ClaimState => ({
  ...state,
  ...(state.nodes && { nodes: state.nodes.map((one) => (one.metadata.name === node.metadata.name ? node : one)) }),
});

/** The state without a part that the write did not return, so that it is read again. */
export function without(state: ClaimState, part: keyof ClaimState): ClaimState {
  const { [part]: _, ...rest } = state;
  return rest;
}
