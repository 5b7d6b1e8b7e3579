import { logEvent } from "#core/announcements/log-events.ts";
import { snakeCase } from "#core/insight/metrics/labels.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { CAPACITY_TYPE, NODE_POOL } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import { planRepairs, type Repair } from "#core/repair/plan.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";

const EVENT_WINDOW_MS = 15 * 60_000;

/**
 * Terminates the NodeClaims of nodes that have been unhealthy for too long (feature gate NodeRepair), by force and at
 * once (karpenter: pkg/controllers/node/health/controller.go, Controller.Reconcile). A NodeClaim that is terminating
 * already is hastened.
 */
export async function repair(nodes: readonly Node[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  if (!deps.settings.nodeRepair) return;
  const { repairs, blocked } = planRepairs({ nodes, claims, now: deps.now() });
  for (const one of repairs) await replace(one, deps);
  for (const one of blocked) await publishBlocked(one, deps);
}

async function replace({ claim, node, condition }: Repair, deps: LifecycleDeps): Promise<void> {
  const { name, labels } = claim.metadata;
  if (!(await terminateClaim(name, "unhealthy", deps, { deadline: deps.now(), detail: `condition ${condition} of the node` }))) return;
  logEvent(deps.log, "deleting unhealthy node", { ...claimLogFields(name), Node: { name: node.metadata.name }, condition });
  deps.metrics.count("nodeclaims_unhealthy_disrupted_total", {
    condition: snakeCase(condition),
    nodepool: labels?.[NODE_POOL] ?? "",
    capacity_type: labels?.[CAPACITY_TYPE] ?? "",
    image_id: claim.status?.imageID ?? "",
  });
}

async function publishBlocked({ claim, node }: Repair, deps: LifecycleDeps): Promise<void> {
  const pool = claim.metadata.labels?.[NODE_POOL];
  const message = `more than 20% nodes are unhealthy in the ${pool === undefined ? "cluster" : "nodepool"}`;
  const abouts: readonly PublishedEvent["about"][] = [
    { kind: "Node", metadata: node.metadata },
    { kind: "NodeClaim", metadata: claim.metadata },
    ...(pool === undefined ? [] : [{ kind: "NodePool", metadata: { name: pool } } as const]),
  ];
  for (const about of abouts) await publishOnce({ type: "Warning", reason: "NodeRepairBlocked", message, about }, deps, EVENT_WINDOW_MS);
}
