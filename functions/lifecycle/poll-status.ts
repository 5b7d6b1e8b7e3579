import { statusProblems } from "#core/interruption/instance-status.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { InstanceStatus } from "#core/ports/fleet.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { interruptClaim } from "../shared/interrupt-claim.ts";

/** A status problem that lasts, or returns within this time, is counted once. */
const REPORT_WINDOW_MS = 60 * 60_000;

/**
 * Terminates the NodeClaims of instances whose EC2 status checks fail or for which EC2 has scheduled an event
 * (karpenter-provider-aws: pkg/providers/instancestatus/instancestatus.go, DefaultProvider.List). Makes no call for a
 * cluster without instances.
 */
export async function pollStatus(records: readonly NodeClaimRecord[], deps: LifecycleDeps): Promise<void> {
  const byInstance = new Map(records.flatMap((record) => (record.instance ? [[record.instance.id, record]] : [])));
  if (byInstance.size === 0 || deps.fleet.impaired === undefined) return;
  for (const status of await impaired(deps)) {
    const record = byInstance.get(status.instanceId);
    if (record === undefined) continue;
    for (const { category, kind } of statusProblems(status, deps.now())) {
      if (await deps.store.isFirstWithin(deps.cluster.name, `status/${status.instanceId}/${category}`, deps.now(), REPORT_WINDOW_MS))
        deps.metrics.count("interruption_instance_status_unhealthy_total", { category });
      await interruptClaim(record, kind, deps);
    }
  }
}

/** Empty when the call is throttled or not allowed: the rest of the sweep must run all the same. */
async function impaired({ cluster, fleet, store, log, now }: LifecycleDeps): Promise<readonly InstanceStatus[]> {
  try {
    return (await fleet.impaired?.()) ?? [];
  } catch (error) {
    if (error instanceof ThrottledError) return [];
    if (!(error instanceof RefusedError)) throw error;
    if (await store.isFirstWithin(cluster.name, "status-refused", now(), REPORT_WINDOW_MS))
      log.error("instance status checks are not looked at: allow ec2:DescribeInstanceStatus", { error: error.message });
    return [];
  }
}
