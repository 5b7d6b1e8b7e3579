import { isAlive } from "../lifecycle/garbage-collection.ts";
import type { Instance } from "../model/instance.ts";
import { CLAIM_UID_TAG } from "../model/tags.ts";

/** The instance that was launched for the claim of a UID, by its tag; undefined when none of those given was. */
export function launchedFor(uid: string | undefined, instances: readonly Instance[]): Instance | undefined {
  return uid === undefined ? undefined : instances.find((instance) => instance.tags[CLAIM_UID_TAG] === uid && isAlive(instance));
}
