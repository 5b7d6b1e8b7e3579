import { nameTag } from "../launch/fleet-request.ts";
import type { KnownInstance } from "../model/instance.ts";
import { NODE_POOL } from "../model/labels.ts";
import type { GroupLaunch } from "../model/launch-group.ts";
import type { LaunchGroupPlan, NodeClaimRecord } from "../model/node-claim-record.ts";
import { GROUP_SCHEMA, RECORD_SCHEMA } from "../model/read-record.ts";
import { CLAIM_UID_TAG, NAME_TAG, NODE_CLAIM_TAG } from "../model/tags.ts";

/** The record of a NodeClaim that joins its group: from now on older code does not launch it. */
export function joining(record: NodeClaimRecord, plan: LaunchGroupPlan, uid: string, now: number): NodeClaimRecord {
  return { ...record, uid, launchGroup: { ...plan, joinedAt: plan.joinedAt ?? now }, schema: GROUP_SCHEMA };
}

/** The record of a NodeClaim that is launched alone from now on, or that has its instance. */
export function alone({ launchGroup: _, ...record }: NodeClaimRecord): NodeClaimRecord {
  return { ...record, schema: RECORD_SCHEMA };
}

/** The record of a member with its instance, and with the tags that the instance lacks yet. */
export function withInstance(
  record: NodeClaimRecord,
  instance: KnownInstance,
  { request }: GroupLaunch,
  launchedAt: number,
): NodeClaimRecord {
  const { name, uid = "", manifest, nodePool = "" } = record;
  // A name of the user's own, from the EC2NodeClass, stays.
  const isOurs = request.tags[NAME_TAG] === (manifest.metadata.labels?.[NODE_POOL] ?? nodePool);
  const dueTags = { ...(isOurs && { [NAME_TAG]: nameTag(manifest) }), [NODE_CLAIM_TAG]: name, [CLAIM_UID_TAG]: uid };
  return { ...alone(record), instance, launchedAt, dueTags };
}
