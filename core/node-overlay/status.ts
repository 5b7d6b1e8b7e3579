import { withCondition, withReady } from "../model/conditions.ts";
import type { NodeOverlay } from "../model/node-overlay.ts";
import { explainVerdict, type OverlayVerdict } from "./verdict.ts";

/** An overlay's status: whether it is applied, and if not, why not and what to change. `now` in ms. */
export function nodeOverlayStatus(
  { metadata, status }: NodeOverlay,
  verdict: OverlayVerdict,
  now: number,
): NonNullable<NodeOverlay["status"]> {
  const at = { now, ...(metadata.generation !== undefined && { generation: metadata.generation }) };
  const type = "ValidationSucceeded";
  const message = explainVerdict(verdict);
  const change =
    verdict.outcome === "Applied"
      ? ({ type, status: "True", message } as const)
      : ({ type, status: "False", reason: verdict.outcome, message } as const);
  return { ...status, conditions: withReady(withCondition(status?.conditions ?? [], change, at), [type], at) };
}
