import { isAlive } from "../lifecycle/garbage-collection.ts";
import type { Instance } from "../model/instance.ts";
import { CLAIM_UID_TAG } from "../model/tags.ts";

/**
 * The instance launched for the NodeClaim with this UID, by its tag; undefined when none of the given instances was.
 */
export function launchedFor(uid: string | undefined, instances: readonly Instance[]): Instance | undefined {
  return uid === undefined ? undefined : instances.find((instance) => instance.tags[CLAIM_UID_TAG] === uid && isAlive(instance));
}
