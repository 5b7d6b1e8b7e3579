import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { ClaimView } from "./action.ts";

/** How long after a launch EC2 may not show the instance: "not found" is no proof of its end before. */
const LAUNCH_UNSEEN_MS = 60_000;

export function isGone({ instance, now }: ClaimView, { launchedAt = 0 }: NodeClaimRecord): boolean {
  if (instance === "gone") return now - launchedAt > LAUNCH_UNSEEN_MS;
  return instance?.state === "terminated";
}

export const isStopped = ({ instance }: ClaimView): boolean => instance !== "gone" && instance?.state === "stopped";
