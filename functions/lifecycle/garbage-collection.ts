import { logEvent } from "#core/announcements/log-events.ts";
import { collected } from "#core/history/claim-entries.ts";
import {
  type Inventory,
  lossOf,
  orphanInstances,
  ownerlessNodes,
  stoppedMachines,
  withoutMachine,
} from "#core/lifecycle/garbage-collection.ts";
import { foreignCluster } from "#core/lifecycle/identity.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { withoutFinalizer } from "#core/lifecycle/registration.ts";
import { rfc3339 } from "#core/model/conditions.ts";
import { type Instance, providerIdOf } from "#core/model/instance.ts";
import { NODE_POOL } from "#core/model/labels.ts";
import { isPausedForKarpenter } from "../shared/beside-karpenter.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { takeTurn } from "../shared/disruption-rate.ts";
import { interruptClaim } from "../shared/interrupt-claim.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { pausedFor } from "../shared/pauses.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";
import { terminateInstance } from "./measured-fleet.ts";
import { reportHeldInstances } from "./reports.ts";

const HOUR_MS = 60 * 60_000;

/**
 * Removes what has lost its counterpart: NodeClaims without an instance, instances without a NodeClaim, nodes without
 * either (karpenter: pkg/controllers/nodeclaim/garbagecollection/controller.go, Controller.Reconcile)
 * (karpenter-provider-aws: pkg/controllers/nodeclaim/garbagecollection/controller.go, Controller.Reconcile).
 */
export async function collectGarbage(inventory: Inventory, deps: LifecycleDeps): Promise<void> {
  await collectClaims(inventory, deps);
  const { ended, held } = orphanInstances(inventory);
  const isAnyLost = ended.length + held.length + ownerlessNodes(inventory).length > 0;
  // What has lost its NodeClaim may be an instance that a running Karpenter has just launched.
  if (isAnyLost && (await isPausedForKarpenter(deps))) return;
  await collectInstances(inventory, deps);
  await collectNodes(inventory, deps);
  await collectLaunchTemplates(deps);
}

/** Ends NodeClaims whose instance EC2 no longer has, or a user stopped: their pods are scheduled elsewhere. */
async function collectClaims(inventory: Inventory, deps: LifecycleDeps): Promise<void> {
  for (const record of stoppedMachines(inventory)) await interruptClaim(record, "instance_stopped", deps);
  const suspects = withoutMachine(inventory);
  if (suspects.length === 0) return;
  const instances = await deps.fleet.describe(suspects.flatMap(({ instance }) => (instance ? [instance.id] : [])));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  for (const record of suspects) {
    const { name, instance: { id = "" } = {} } = record;
    const loss = lossOf(record, { ...inventory, found: byId.get(id) });
    if (loss === "instance_terminated") await interruptClaim(record, loss, deps);
    if (loss !== "garbage_collected") continue;
    if (await terminateClaim(name, loss, deps, { detail: `EC2 does not list ${id}` })) {
      deps.log.info("garbage collecting nodeclaim with no cloudprovider representation", claimLogFields(name));
    }
  }
}

async function collectInstances(inventory: Inventory, deps: LifecycleDeps): Promise<void> {
  const { cluster, kubernetes, log, store } = deps;
  const { ended, held } = orphanInstances(inventory);
  if (held.length > 0) {
    const ids = held.map(({ id }) => id);
    await reportHeldInstances(`${held.length} instances have lost both record and NodeClaim`, ids, deps);
  }
  if (ended.length === 0 || (await pausedFor("disruption", deps)) !== undefined) return;
  const nodes = await kubernetes.list("Node");
  for (const instance of ended) {
    const { id, zone } = instance;
    if (foreignCluster(instance, cluster.name) !== undefined) continue;
    const node = nodes.find(({ spec }) => spec.providerID?.endsWith(`/${id}`));
    if (node && !(await mayEnd(instance, deps))) continue;
    // It has no record, so its history entry comes first: a repeated run replaces the entry.
    await store.addHistory([collected(instance, cluster.name, deps.now())]);
    await terminateInstance(id, { zone }, deps);
    log.info("garbage collected cloudprovider instance", {
      controller: "instance.garbagecollection",
      "provider-id": providerIdOf({ zone, id }),
    });
    if (node) await kubernetes.delete("Node", node.metadata.name, { known: node });
  }
}

/** An instance that was a node may have pods, so its end counts in the cluster's disruption rate. */
async function mayEnd({ id, tags }: Instance, deps: LifecycleDeps): Promise<boolean> {
  const turn = await takeTurn(id, tags[NODE_POOL], [], deps);
  if (turn === undefined) return true;
  const until = rfc3339(turn);
  deps.log.info("instance without a NodeClaim is kept, the cluster's disruption rate is used up", { "instance-id": id, until });
  return false;
}

async function collectNodes(inventory: Inventory, { kubernetes, log }: LifecycleDeps): Promise<void> {
  for (const { node, action } of ownerlessNodes(inventory)) {
    const { name, finalizers } = node.metadata;
    if (action === "delete") await kubernetes.delete("Node", name, { known: node });
    else {
      const metadata = { ...node.metadata, finalizers: withoutFinalizer(finalizers) };
      await ignoreConflictOrGone(kubernetes.update("Node", { ...node, metadata }));
    }
    logEvent(log, "garbage collected node", { controller: "node.garbagecollection", Node: { name }, "provider-id": node.spec.providerID });
  }
}

/**
 * Deletes old launch templates once an hour, because EC2 allows 5,000 per region. A launch that misses its template
 * creates it again.
 */
async function collectLaunchTemplates({ cluster, store, fleet, log, now }: LifecycleDeps): Promise<void> {
  if (fleet.removeLaunchTemplates === undefined) return;
  if (!(await store.isFirstWithin(cluster.name, `launch-templates/${Math.floor(now() / HOUR_MS)}`, now(), 2 * HOUR_MS))) return;
  const removed = await fleet.removeLaunchTemplates(cluster.name, now() - 24 * HOUR_MS);
  if (removed > 0) log.debug("deleted launch templates", { controller: "lifecycle", count: removed });
}
