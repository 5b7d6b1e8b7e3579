import { logEvent } from "#core/announcements/log-events.ts";
import { CONSEQUENCES } from "#core/interruption/consequence.ts";
import type { InterruptionKind } from "#core/interruption/parse.ts";
import { machineFields } from "#core/lifecycle/log-fields.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { reservationMark, UNAVAILABLE_MS } from "#core/offerings/unavailable.ts";
import { isVoluntaryEnd } from "#core/pause/voluntary.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";
import { pausedFor } from "./pauses.ts";
import { publishOnce } from "./publish-once.ts";
import { recordFailedLaunch } from "./registration-health.ts";
import { terminateClaim } from "./terminate-claim.ts";

/**
 * Carries out an interruption of one NodeClaim: marks its offering as unavailable, terminates the NodeClaim, so that
 * its pods are planned for at once, and publishes events. A NodeClaim that is terminating already is left as it is,
 * unless a pause holds its end.
 */
export async function interruptClaim(record: NodeClaimRecord, kind: Exclude<InterruptionKind, "no_op">, deps: ClusterDeps): Promise<void> {
  const { cluster, log, wakeUps, now } = deps;
  const { action } = CONSEQUENCES[kind];
  if (record.terminating && (kind === "instance_terminated" || kind === "instance_stopped")) {
    // The end that we have asked for: its NodeClaim waits for it.
    await wakeUps.wake([{ kind: "claim", cluster: cluster.name, claim: record.name, about: "node" }]);
    return;
  }
  await markSoldOut(record, kind, deps);
  // Before the planner is woken, so that it does not buy again at once.
  if (kind === "instance_terminated" && record.nodeName === undefined) await recordFailedLaunch(record, "unregistered", deps);
  const deadline = action === "ForcefulTermination" ? now() : undefined;
  const replacesPaused = isVoluntaryEnd(record) && (await pausedFor("disruption", deps)) !== undefined;
  const facts = { replacesPaused, ...(deadline !== undefined && { deadline }) };
  const ended = action !== "NoAction" && (await terminateClaim(record.name, kind, deps, facts));
  if (ended) {
    logEvent(log, "initiating delete from interruption message", {
      controller: "interruption",
      messageKind: kind,
      NodeClaim: { name: record.name },
      ...machineFields(record),
      action,
    });
  }
  await publishEvents(record, kind, ended, deps);
}

/** Marks the offering of an instance that EC2 takes back for want of capacity. */
async function markSoldOut(
  { instance }: NodeClaimRecord,
  kind: Exclude<InterruptionKind, "no_op">,
  { cluster, store, now }: ClusterDeps,
): Promise<void> {
  const { soldOut } = CONSEQUENCES[kind];
  if (soldOut === undefined || instance === undefined) return;
  const { instanceType, zone, reservationId } = instance;
  const expiresAt = now() + UNAVAILABLE_MS;
  // An instance that is taken back from a reservation says only that this reservation has no room.
  const mark = soldOut === "reserved" && reservationId ? reservationMark(reservationId, expiresAt) : undefined;
  const cause = { code: "Interruption", message: `EC2 has just taken back capacity of ${instanceType} in ${zone}` };
  await store.markUnavailable(cluster.name, [{ ...(mark ?? { instanceType, zone, capacityType: soldOut, expiresAt }), cause }]);
}

async function publishEvents(
  record: NodeClaimRecord,
  kind: Exclude<InterruptionKind, "no_op">,
  ended: boolean,
  deps: ClusterDeps,
): Promise<void> {
  const claim = await deps.kubernetes.get("NodeClaim", record.name);
  if (claim === undefined) return;
  const nodeName = claim.status?.nodeName;
  const abouts: readonly PublishedEvent["about"][] = [
    { kind: "NodeClaim", metadata: claim.metadata },
    ...(nodeName === undefined ? [] : [{ kind: "Node", metadata: { name: nodeName } } as const]),
  ];
  for (const about of abouts) {
    await publishOnce({ ...CONSEQUENCES[kind].event, about }, deps);
    if (!ended) continue;
    const message = `Interruption triggered termination for the ${about.kind}`;
    await publishOnce({ type: "Warning", reason: "TerminatingOnInterruption", message, about }, deps);
  }
}
