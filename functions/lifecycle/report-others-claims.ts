import { isLaunchedByOther } from "#core/lifecycle/identity.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { PROGRAM } from "#settings/program.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

const LOG_WINDOW_MS = 60 * 60_000;

/**
 * Logs, at most once an hour, which NodeClaims without a record another controller has launched: they are left alone
 * until a user adopts them.
 * @param unrecorded NodeClaims without a record
 */
export async function reportOthersClaims(unrecorded: readonly NodeClaim[], { cluster, store, log, now }: LifecycleDeps): Promise<void> {
  const others = unrecorded.filter(isLaunchedByOther).map(({ metadata }) => metadata.name);
  if (others.length === 0 || !(await store.isFirstWithin(cluster.name, "others-claims", now(), LOG_WINDOW_MS))) return;
  log.error(
    `${others.length} NodeClaims were launched by another controller, such as Karpenter, and are left alone; once that controller has ended, take them over with: ${PROGRAM} adopt --cluster ${cluster.name}`,
    { controller: "nodeclaim.lifecycle", NodeClaims: others.slice(0, 5) },
  );
}
