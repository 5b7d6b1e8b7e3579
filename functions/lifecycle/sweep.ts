import { vanishedClaims } from "#core/lifecycle/garbage-collection.ts";
import { isDoneWith, isLaunchedByOther } from "#core/lifecycle/identity.ts";
import { otherOwners } from "#core/model/instance-owner.ts";
import { REGISTERED } from "#core/model/labels.ts";
import { isOthersNode } from "#core/model/managed.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { SWEEP_MS } from "../shared/cluster-entry.ts";
import { terminateClaim } from "../shared/terminate-claim.ts";
import { collectGarbage } from "./garbage-collection.ts";
import { hydratePrices, hydrateRecords } from "./hydration.ts";
import { checkConsistency, pollStatus, repair } from "./node-health.ts";
import { reportHeldInstances, reportOthersClaims } from "./reports.ts";
import { reconcileReservations } from "./reservations.ts";

/** A wake-up that is this late counts as lost. */
const LATE_MS = 5_000;

/**
 * After a sweep, the tags of so many machines that were launched together are written, one after the other: less than
 * half of what EC2 accepts of CreateTags (10 a second), because nothing waits for them. No benchmark has tuned it.
 */
const MAX_TAGGED_PER_SWEEP = 200;
const TAG_EVERY_MS = 250;

/**
 * The safety net under all wake-ups, once a minute: wakes NodeClaims that are overdue, adopts NodeClaims without a
 * record, replaces unhealthy nodes, and garbage-collects in both directions between NodeClaims and instances.
 */
export async function sweep(deps: LifecycleDeps): Promise<void> {
  const { cluster, kubernetes, store, fleet, wakeUps, now } = deps;
  const unreadable = new Set<string>();
  // NodeClaims are listed before instances: one that is launched in between is then not taken for one whose instance is
  // gone.
  const [records, claims, registered] = await Promise.all([
    store.list(cluster.name, ({ name }) => unreadable.add(name)),
    kubernetes.list("NodeClaim"),
    kubernetes.list("Node", { labelSelector: `${REGISTERED}=true` }),
  ]);
  const nodes = registered.filter((node) => !isOthersNode(node));
  const byName = new Map(records.map((record) => [record.name, record]));
  const otherOwnerOf = otherOwners(records);
  const known = claims.filter(({ metadata }) => byName.has(metadata.name));
  const changed = claims.filter((claim) => isForeignToRecord(claim, byName.get(claim.metadata.name)));
  const leaving = new Set(nodes.flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined ? [] : [spec.providerID])));
  const left = claims.filter(({ metadata, status }) => leaving.has(status?.providerID) && !byName.get(metadata.name)?.terminating);
  const due = records.filter((record) => record.dueAt <= now() - LATE_MS);
  const untagged = records
    .filter(({ dueTags, terminating, initializedAt }) => dueTags && initializedAt !== undefined && !terminating)
    .map(({ name }) => name)
    .slice(0, MAX_TAGGED_PER_SWEEP);
  const names = new Set([...changed, ...left].map(({ metadata }) => metadata.name).concat(due.map(({ name }) => name)));
  const wakeUpOf = (claim: string): WakeUp => ({ kind: "claim", cluster: cluster.name, claim });
  const toTag = untagged.map((name, i) => ({ ...wakeUpOf(name), delayMs: i * TAG_EVERY_MS }));
  await wakeUps.wake([...[...names].sort().map(wakeUpOf), ...toTag, ...dueSoon(records, now())]);
  await inTurn([
    () => endVanished(records, claims, deps),
    // A NodeClaim whose record is lost is not replaced yet, but its node counts for the share of unhealthy ones.
    () =>
      repair(
        nodes,
        claims.filter((claim) => byName.has(claim.metadata.name) || !isLaunchedByOther(claim)),
        deps,
      ),
    () => checkConsistency(nodes, known, deps),
    () =>
      reportOthersClaims(
        claims.filter((claim) => !byName.has(claim.metadata.name) && !isDoneWith(claim) && otherOwnerOf(claim) === undefined),
        deps,
      ),
    () => pollStatus(records, deps),
    () => reconcileReservations(records, deps),
    () => hydratePrices(records, known, deps),
    async () => {
      const instances = await fleet.list(cluster.name);
      await hydrateRecords(records, instances, deps);
      await collectGarbage({ records, unreadable, claims, nodes, instances, now: now() }, deps);
    },
  ]);
}

/**
 * Wake-ups for the initialized NodeClaims that expire before the next sweep. A younger NodeClaim is polled anyway, and
 * has wake-ups of its own.
 */
function dueSoon(records: readonly NodeClaimRecord[], now: number): readonly WakeUp[] {
  return records
    .filter(
      ({ initializedAt, terminating, dueAt }) => initializedAt !== undefined && !terminating && dueAt > now && dueAt <= now + SWEEP_MS,
    )
    .map(({ cluster, name, dueAt }) => ({ kind: "claim", cluster, claim: name, delayMs: dueAt - now, dueAt }));
}

/** Runs all duties in order, also after failures; the first failure is thrown at the end. */
async function inTurn(duties: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const duty of duties) await duty().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/**
 * Whether a NodeClaim's record does not know of it: a user created the NodeClaim, its deletion was missed, or the
 * record is older than its instance.
 */
function isForeignToRecord(claim: NodeClaim, record: NodeClaimRecord | undefined): boolean {
  const isDeleted = claim.metadata.deletionTimestamp !== undefined;
  if (record === undefined) return !isDoneWith(claim) && (isDeleted || !isLaunchedByOther(claim));
  const lacksInstance = record.instance === undefined && claim.status?.providerID !== undefined;
  return (isDeleted || lacksInstance) && record.terminating === undefined;
}

async function endVanished(records: readonly NodeClaimRecord[], claims: readonly NodeClaim[], deps: LifecycleDeps): Promise<void> {
  const suspects = vanishedClaims({ records, claims });
  if (suspects.ended.length + suspects.held.length === 0) return;
  // The NodeClaims may have been listed before the records: one that was created in between has not vanished.
  const { ended, held } = vanishedClaims({ records, claims: await deps.kubernetes.list("NodeClaim") });
  // A list may come from the informer's memory; a get by name always asks the API server.
  for (const { name } of ended)
    if ((await deps.kubernetes.get("NodeClaim", name)) === undefined)
      await terminateClaim(name, "deleted", deps, { detail: "the NodeClaim vanished: its finalizer was removed" });
  if (held.length > 0) {
    const names = held.map(({ name }) => name);
    await reportHeldInstances(`${held.length} NodeClaims have vanished without being deleted`, names, deps);
  }
}
