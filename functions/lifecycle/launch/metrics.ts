import { failureReason } from "#core/launch/failure.ts";
import { launchedViolation } from "#core/launch/request-invariants.ts";
import { USER_DATA_LIMIT } from "#core/launch/user-data.ts";
import { utf8 } from "#core/lib/fnv.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import type { FleetRequest, FleetResult, LaunchTemplate } from "#core/model/fleet.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { Metrics } from "#core/ports/metrics.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";

/**
 * Counts each offering that a launch was refused, whether or not another one was launched; the label `reason` is EC2's
 * error code (karpenter-provider-aws: pkg/providers/instance/metrics.go, InstanceLaunchFailuresTotal).
 */
export function countLaunchFailures({ errors }: FleetResult, nodeClass: EC2NodeClass | undefined, metrics: Metrics): void {
  const zoneIds = new Map(nodeClass?.status?.subnets?.map(({ zone, zoneID }) => [zone, zoneID]));
  for (const { code, zone = "", capacityType } of errors) {
    const labels = { zone, zone_id: zoneIds.get(zone) ?? "", capacity_type: capacityType, reason: code };
    metrics.count("cloudprovider_instance_launch_failures_total", labels);
  }
}

/**
 * Counts a launch that EC2 refuses as a whole, such as one that no policy allows: no offering is at fault, and it is
 * tried again. The label `reason` is EC2's code where the error begins with one.
 */
export function countRefusedLaunch({ message }: Error, { capacityType }: Pick<FleetRequest, "capacityType">, metrics: Metrics): void {
  const reason = /^(\w[\w.]*): /.exec(message)?.[1] ?? failureReason(message);
  metrics.count("cloudprovider_instance_launch_failures_total", { zone: "", zone_id: "", capacity_type: capacityType, reason });
}

/**
 * Logs that an instance is none that its request allows; it is paid for, so the NodeClaim takes it and shows its type.
 */
export function reportUnrequested(
  request: FleetRequest,
  instances: readonly KnownInstance[],
  claim: string,
  { log }: Pick<LifecycleDeps, "log">,
): void {
  for (const instance of instances) {
    const violation = launchedViolation(request, instance);
    if (violation) log.error("invariant broken", { ...claimLogFields(claim), error: `${violation.rule}, but ${violation.detail}` });
  }
}

/** From this share of EC2's limit on, a longer NodePool name or one more label may exceed it. */
const WARNING_SHARE = 0.9;

/** Publishes the size of the longest user data of an EC2NodeClass's templates, and warns before EC2 refuses it. */
export function reportUserDataSize(
  nodeClass: string,
  templates: readonly LaunchTemplate[],
  { metrics, log }: Pick<LifecycleDeps, "metrics" | "log">,
): void {
  const bytes = Math.max(...templates.map(({ userData }) => utf8(userData).length));
  metrics.gauge("ec2nodeclasses_userdata_bytes", { nodeclass: nodeClass }, bytes);
  if (bytes < WARNING_SHARE * USER_DATA_LIMIT) return;
  log.info("userData is close to what EC2 takes: shorten spec.userData", {
    EC2NodeClass: { name: nodeClass },
    bytes,
    limit: USER_DATA_LIMIT,
  });
}
