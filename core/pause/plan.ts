import type { Pause } from "../model/pause.ts";
import type { Plan } from "../model/plan.ts";
import { pauseText } from "./pause.ts";

/** The plan while launches are paused: nothing is bought, and the pods that wait for it have the reason. */
export function withoutPurchases(plan: Plan, pause: Pause): Plan {
  const reason = `no node is launched: ${pauseText(pause)}`;
  const held = plan.newNodeClaims.flatMap(({ pods }) => pods.map((pod) => [pod, reason] as const));
  return { ...plan, newNodeClaims: [], podErrors: { ...plan.podErrors, ...Object.fromEntries(held) } };
}
