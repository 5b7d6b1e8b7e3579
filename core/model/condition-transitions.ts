import { BESIDE_READY, conditionOf } from "./conditions.ts";
import type { Condition } from "./kubernetes.ts";

/** A condition whose status has changed. */
export interface Transition {
  readonly from: Condition["status"];
  readonly to: Condition;
}

/**
 * The conditions whose status differs. A condition that appears is a transition from Unknown while the object has no
 * Ready yet, because Karpenter's objects begin with Unknown conditions; one that appears later, such as Drifted, is
 * none, as in Karpenter (operatorpkg's status controller reports a type only when it has seen the type before).
 */
export function transitionsOf(before: readonly Condition[] | undefined, after: readonly Condition[] | undefined): readonly Transition[] {
  const begins = conditionOf(before, "Ready") === undefined;
  return (after ?? []).flatMap((to) => {
    const from = conditionOf(before, to.type)?.status ?? (begins && !BESIDE_READY.has(to.type) ? "Unknown" : to.status);
    return from === to.status ? [] : [{ from, to }];
  });
}

/** What an event says of a transition. */
export function transitionText({ from, to }: Transition): string {
  const message = to.message ? `, Message: ${to.message}` : "";
  return `Status condition transitioned, Type: ${to.type}, Status: ${from} -> ${to.status}, Reason: ${to.reason}${message}`;
}
