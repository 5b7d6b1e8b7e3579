import { NODE_CLAIM_TAG } from "../../core/launch/tags.ts";
import { isDoneWith } from "../../core/lifecycle/identity.ts";
import { NODE_CLASS_GROUP, REGISTERED } from "../../core/model/labels.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { Instance, NodeClaimRecord } from "../../core/model/record.ts";
import type { WakeUp } from "../../core/ports/wake-ups.ts";
import { isTrue } from "../../core/status/conditions.ts";
import type { LifecycleDeps } from "../cluster-deps.ts";
import { endClaim } from "../end-claim.ts";
import { claimFields } from "./claim-fields.ts";

const HOUR_MS = 60 * 60_000;

/** A wake-up that is this late was lost. */
const LATE_MS = 5_000;

/** Older than the longest chain of retries around a launch (traps.md 22): an instance that no claim owns by then has none coming. */
const ORPHAN_AGE_MS = 5 * 60_000;

/**
 * The net under all wake-ups: wakes claims that are overdue, takes claims without a record into care, and clears both ways between claims
 * and instances (nodeclaim-lifecycle.md §8).
 */
export async function sweep(deps: LifecycleDeps): Promise<void> {
  const { cluster, kubernetes, store, fleet, wakeUps, now } = deps;
  // Claims before instances: a claim launched in between is then not taken for one whose instance has gone.
  const [records, claims, nodes] = await Promise.all([
    store.list(cluster.name),
    kubernetes.list("NodeClaim"),
    kubernetes.list("Node", { labelSelector: `${REGISTERED}=true` }),
  ]);
  const byName = new Map(records.map((record) => [record.name, record]));
  const changed = claims.filter((claim) => isForeignToRecord(claim, byName.get(claim.metadata.name)));
  const due = records.filter((record) => record.dueAt <= now() - LATE_MS);
  const lost = claimless(records, claims);
  const leaving = new Set(nodes.flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? [] : [spec.providerID])));
  const left = claims.filter(({ metadata, status }) => leaving.has(status?.providerID) && !byName.get(metadata.name)?.terminating);
  const names = new Set([...changed, ...left].map(({ metadata }) => metadata.name).concat([...due, ...lost].map(({ name }) => name)));
  await wakeUps.wake([...names].sort().map((claim): WakeUp => ({ kind: "claim", cluster: cluster.name, claim })));
  const instances = await fleet.list(cluster.name);
  await collectClaims(records, claims, instances, deps);
  await collectInstances(records, instances, deps);
  await collectLaunchTemplates(deps);
}

/** EC2 allows 5,000 templates; one is made anew by the launch that misses it. */
async function collectLaunchTemplates({ cluster, store, fleet, log, now }: LifecycleDeps): Promise<void> {
  if (fleet.removeLaunchTemplates === undefined) return;
  if (!(await store.firstSighting(cluster.name, `launch-templates/${Math.floor(now() / HOUR_MS)}`, now(), 2 * HOUR_MS))) return;
  const removed = await fleet.removeLaunchTemplates(cluster.name, now() - 24 * HOUR_MS);
  if (removed > 0) log.debug("deleted launch templates", { controller: "lifecycle", count: removed });
}

/** Records whose custom resource was there and is no more, its finalizer taken off by force: nobody else will tell that their machine must go. */
function claimless(records: readonly NodeClaimRecord[], claims: readonly NodeClaim[]): readonly NodeClaimRecord[] {
  const names = new Set(claims.map(({ metadata }) => metadata.name));
  return records.filter(({ name, uid, terminating }) => uid !== undefined && terminating === undefined && !names.has(name));
}

/** A claim that nobody looks after: made by hand, or deleted while its deletion was not heard of. */
function isForeignToRecord(claim: NodeClaim, record: NodeClaimRecord | undefined): boolean {
  if (claim.spec.nodeClassRef.group !== NODE_CLASS_GROUP) return false;
  if (record === undefined) return !isDoneWith(claim);
  return claim.metadata.deletionTimestamp !== undefined && record.terminating === undefined;
}

/** Claims whose machine EC2 no longer lists: they end, and their pods find other room. */
async function collectClaims(
  records: readonly NodeClaimRecord[],
  claims: readonly NodeClaim[],
  instances: readonly Instance[],
  deps: LifecycleDeps,
): Promise<void> {
  const listed = new Set(instances.filter(({ state }) => state !== "terminated" && state !== "shutting-down").map(({ id }) => id));
  const byName = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  for (const record of records) {
    if (record.instance === undefined || record.terminating || listed.has(record.instance.id)) continue;
    if (!isTrue(byName.get(record.name)?.status?.conditions, "Registered")) continue;
    // One id asked for by name: the listing may lag behind.
    const [instance] = await deps.fleet.describe([record.instance.id]);
    if (instance !== undefined && instance.state !== "terminated" && instance.state !== "shutting-down") continue;
    if (await endClaim(record.name, "garbage_collected", deps)) {
      deps.log.info("garbage collecting nodeclaim with no cloudprovider representation", claimFields(record.name));
    }
  }
}

/** Machines that carry our tags and that no claim owns. */
async function collectInstances(records: readonly NodeClaimRecord[], instances: readonly Instance[], deps: LifecycleDeps): Promise<void> {
  const owned = new Set(records.flatMap(({ instance }) => (instance ? [instance.id] : [])));
  // A launch whose answer was not stored yet belongs to the claim that its tag names.
  const pending = new Set(records.filter(({ instance }) => instance === undefined).map(({ name }) => name));
  for (const instance of instances) {
    const running = instance.state !== "terminated" && instance.state !== "shutting-down";
    const old = deps.now() - instance.launchedAt > ORPHAN_AGE_MS;
    if (!running || !old || owned.has(instance.id) || pending.has(instance.tags[NODE_CLAIM_TAG] ?? "")) continue;
    await deps.fleet.terminate(instance.id);
    deps.log.info("garbage collected cloudprovider instance", {
      controller: "instance.garbagecollection",
      "provider-id": `aws:///${instance.zone}/${instance.id}`,
    });
    const nodes = await deps.kubernetes.list("Node");
    const node = nodes.find(({ spec }) => spec.providerID?.endsWith(`/${instance.id}`));
    if (node) await deps.kubernetes.delete("Node", node.metadata.name);
  }
}
