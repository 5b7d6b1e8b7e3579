import type { Instance, KnownInstance } from "../model/instance.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";

/**
 * The record with facts of its instance that CreateFleet does not return or that changed since: its security groups,
 * which drift compares, and its partition. Undefined when the record has them already, or when the instance shuts down.
 */
export function hydrated(record: NodeClaimRecord, { securityGroupIds, partition, state }: Instance): NodeClaimRecord | undefined {
  const { instance } = record;
  if (instance === undefined || record.terminating !== undefined || (state !== "pending" && state !== "running")) return undefined;
  const next: KnownInstance = {
    ...instance,
    ...(securityGroupIds && { securityGroupIds: securityGroupIds.toSorted() }),
    ...(partition !== undefined && { partition }),
  };
  const same = next.securityGroupIds?.join() === instance.securityGroupIds?.join() && next.partition === instance.partition;
  return same ? undefined : { ...record, instance: next };
}
