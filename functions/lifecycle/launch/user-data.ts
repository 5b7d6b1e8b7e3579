import { USER_DATA_LIMIT } from "../../../core/launch/user-data.ts";
import { utf8 } from "../../../core/lib/fnv.ts";
import type { LaunchTemplate } from "../../../core/model/fleet.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";

/** From here on a longer node pool name, or one more label, may be too much. */
const NEAR = 0.9;

/** Tells how long the longest user data of a NodeClass's templates is, and warns before EC2 refuses it. */
export function reportUserDataSize(
  nodeClass: string,
  templates: readonly LaunchTemplate[],
  { metrics, log }: Pick<LifecycleDeps, "metrics" | "log">,
): void {
  const bytes = Math.max(...templates.map(({ userData }) => utf8(userData).length));
  metrics.gauge("ec2nodeclasses_userdata_bytes", { nodeclass: nodeClass }, bytes);
  if (bytes < NEAR * USER_DATA_LIMIT) return;
  log.info("userData is close to what EC2 takes: shorten spec.userData", {
    EC2NodeClass: { name: nodeClass },
    bytes,
    limit: USER_DATA_LIMIT,
  });
}
