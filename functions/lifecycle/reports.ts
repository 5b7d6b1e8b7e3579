import { isLaunchedByOther } from "#core/lifecycle/identity.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { PROGRAM } from "#settings/program.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";

// What a sweep leaves alone, and reports to the user.

const HELD_WINDOW_MS = 10 * 60_000;

/** Logs, at most once in ten minutes, that instances are held until a user decides about them. */
export async function reportHeldInstances(
  what: string,
  names: readonly string[],
  { cluster, store, log, now }: LifecycleDeps,
): Promise<void> {
  if (!(await store.isFirstWithin(cluster.name, `held/${what}`, now(), HELD_WINDOW_MS))) return;
  const fields = { controller: "nodeclaim.lifecycle", held: names.slice(0, 5) };
  log.error(`${what}; their machines are held. See what can be made again with: ${PROGRAM} rebuild --cluster ${cluster.name}`, fields);
}

const OTHERS_WINDOW_MS = 60 * 60_000;

/**
 * Logs, at most once an hour, which NodeClaims without a record another controller has launched: they are left alone
 * until a user adopts them.
 * @param unrecorded NodeClaims without a record
 */
export async function reportOthersClaims(unrecorded: readonly NodeClaim[], { cluster, store, log, now }: LifecycleDeps): Promise<void> {
  const others = unrecorded.filter(isLaunchedByOther).map(({ metadata }) => metadata.name);
  if (others.length === 0 || !(await store.isFirstWithin(cluster.name, "others-claims", now(), OTHERS_WINDOW_MS))) return;
  log.error(
    `${others.length} NodeClaims were launched by another controller, such as Karpenter, and are left alone; once that controller has ended, take them over with: ${PROGRAM} adopt --cluster ${cluster.name}`,
    { controller: "nodeclaim.lifecycle", NodeClaims: others.slice(0, 5) },
  );
}
