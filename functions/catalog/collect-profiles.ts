import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { profilePath } from "#core/node-class/instance-profile.ts";
import { unusedProfiles } from "#core/node-class/unused-profiles.ts";
import type { CatalogDeps } from "./deps.ts";

const PERIOD_MS = 30 * 60_000;

/**
 * Removes the cluster's instance profiles that no EC2NodeClass and no NodeClaim uses, twice an hour. A profile is
 * removed only when the previous round found it unused too, because a launch may be under way with it whose NodeClaim
 * does not show it yet.
 */
export async function collectProfiles(
  nodeClasses: readonly EC2NodeClass[],
  claims: readonly NodeClaim[],
  region: string,
  { inventory, cluster, store, settings, log, now }: CatalogDeps,
): Promise<void> {
  if (inventory.instanceProfiles === undefined || inventory.removeInstanceProfile === undefined || settings.isolatedVpc) return;
  const round = Math.floor(now() / PERIOD_MS);
  if (!(await store.isFirstWithin(cluster.name, `instance-profiles/${round}`, now(), 2 * PERIOD_MS))) return;
  const listed = await inventory.instanceProfiles(profilePath(cluster.name, region));
  for (const name of unusedProfiles(listed, nodeClasses, claims, now())) {
    await store.isFirstWithin(cluster.name, `unused-profile/${round}/${name}`, now(), 3 * PERIOD_MS);
    if (await store.isFirstWithin(cluster.name, `unused-profile/${round - 1}/${name}`, now(), PERIOD_MS)) continue;
    await inventory.removeInstanceProfile(name);
    log.info("garbage collected instance profile", { controller: "instanceprofile.garbagecollection", "instance-profile": name });
  }
}
