import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import { BESIDE_READY, conditionOf } from "#core/model/conditions.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import { foreignNodeClass } from "#core/node-pool/foreign-class.ts";
import { podKey } from "#core/pods/predicates.ts";
import { pendingPods } from "#core/scheduling/solve.ts";
import { andOthers } from "#functions/provision/report-plan.ts";
import { readClusterState } from "#functions/shared/cluster-state.ts";
import type { Lab } from "./host.ts";
import { missingNodeProblem, missingNodes } from "./missing-nodes.ts";
import { type RefusedPods, refusedText } from "./refused-pods.ts";
import { renderBuffers, renderJobs, renderNodeClaims, renderNodes } from "./render.ts";
import { firstRun } from "./world/actors/cron-jobs.ts";
import type { CronJob, Job } from "./world/actors/owned-pods.ts";

/**
 * The state of the cluster at the end, in parts: its nodes and those that are missing, Jobs, CapacityBuffers, NodePools
 * and NodeOverlays that cannot be used, pods that were refused, and why each pending pod waits.
 */
export async function summary(
  lab: Lab,
  waiting: ReadonlyMap<string, string>,
  refused: readonly RefusedPods[],
  width?: number,
): Promise<readonly string[]> {
  const { store, clock } = lab.world;
  const pods = store.list("Pod") as readonly Pod[];
  const claims = store.list("NodeClaim") as readonly NodeClaim[];
  const nodes = store.list("Node") as readonly Node[];
  const tables =
    claims.length + nodes.length === 0
      ? ["There are no nodes."]
      : [renderNodeClaims(claims, clock.now(), width), renderNodes(nodes, pods, clock.now(), width)];
  const buffers = store.list("CapacityBuffer") as unknown as readonly CapacityBuffer[];
  const jobs = store.list("Job") as unknown as readonly Job[];
  const unrun = (store.list("CronJob") as unknown as readonly CronJob[]).flatMap((cronJob) => nextOf(cronJob, clock.now()));
  const unusable = [
    ...(store.list("NodePool") as readonly NodePool[]).flatMap(poolProblem),
    ...(store.list("NodeOverlay") as readonly NodeOverlay[]).flatMap(overlayProblem),
    ...buffers.flatMap(bufferProblem),
  ];
  const missing = missingNodes(lab);
  const pending = pods.filter(({ status }) => status?.phase === "Pending");
  const reasons = pending.length === 0 ? [] : [pendingText(pending, await pendingReasons(lab, waiting))];
  return [
    ...tables,
    ...(jobs.length > 0 ? [renderJobs(jobs, clock.now(), width)] : []),
    ...(unrun.length > 0 ? [unrun.join("\n")] : []),
    ...(buffers.length > 0 ? [renderBuffers(buffers, clock.now(), width)] : []),
    ...(missing.length > 0 ? [missing.map((claim) => missingNodeProblem(claim, lab)).join("\n")] : []),
    ...(unusable.length > 0 ? [unusable.join("\n")] : []),
    ...(refused.length > 0 ? [refused.map(refusedText).join("\n")] : []),
    ...reasons,
  ];
}

/** When a CronJob that has not run yet would run. */
function nextOf(cronJob: CronJob, now: number): readonly string[] {
  const { metadata } = cronJob;
  const next = firstRun(cronJob, now);
  if (next === undefined) return [];
  const minutes = Math.ceil((next - now) / 60_000) + 5;
  const at = new Date(next).toISOString().slice(0, 16);
  return [`CronJob ${metadata.namespace}/${metadata.name} has not run: its next run is at ${at}Z; give --minutes ${minutes} to play it`];
}

function poolProblem({ metadata, spec, status }: NodePool): readonly string[] {
  const foreign = foreignNodeClass({ spec });
  if (foreign !== undefined) return [`NodePool ${metadata.name} cannot be used: ${foreign}`];
  const ready = conditionOf(status?.conditions, "Ready");
  if (ready?.status === "True") return [];
  const isFault = ({ type, status: state }: Condition): boolean => type !== "Ready" && !BESIDE_READY.has(type) && state === "False";
  const bad = status?.conditions?.find(isFault) ?? ready;
  return [`NodePool ${metadata.name} cannot be used: ${bad?.message || bad?.reason || "it has not been looked at yet"}`];
}

function overlayProblem({ metadata, status }: NodeOverlay): readonly string[] {
  const verdict = conditionOf(status?.conditions, "ValidationSucceeded");
  if (verdict?.status === "True" && !verdict.message) return [];
  const problem = verdict?.status === "True" ? "has no effect" : "is not applied";
  return [`NodeOverlay ${metadata.name} ${problem}: ${verdict?.message ?? "it has not been looked at yet"}`];
}

function bufferProblem({ metadata, status }: CapacityBuffer): readonly string[] {
  const bad = status?.conditions?.find((condition) => condition.status === "False");
  return bad === undefined ? [] : [`CapacityBuffer ${metadata.namespace}/${metadata.name}: ${bad.message}`];
}

async function ignoredPods({ deps }: Lab): Promise<ReadonlyMap<string, string>> {
  const { snapshot } = await readClusterState(deps);
  return new Map(pendingPods(snapshot).ignored.map(({ pod, reason }) => [podKey(pod), reason]));
}

/** Why each pending pod waits, by "namespace/name". `waiting` holds the reasons that the functions logged. */
export async function pendingReasons(lab: Lab, waiting: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
  const pending = (lab.world.store.list("Pod") as readonly Pod[]).filter(({ status }) => status?.phase === "Pending");
  if (pending.length === 0) return new Map();
  const ignored = await ignoredPods(lab);
  const names = missingNodes(lab).map(({ metadata }) => metadata.name);
  const planned = names.length === 0 ? undefined : `the pods wait for nodes that are missing: ${andOthers(names)}`;
  const reasonOf = (pod: Pod): string => {
    const left = ignored.get(podKey(pod));
    if (left !== undefined) return left === "" ? "it asks not to run on nodes of a NodePool" : left;
    const scheduler = conditionOf(pod.status?.conditions, "PodScheduled")?.message;
    return waiting.get(podKey(pod)) ?? planned ?? scheduler ?? "kube-scheduler has not looked at it yet";
  };
  return new Map(pending.map((pod) => [podKey(pod), reasonOf(pod)]));
}

function pendingText(pending: readonly Pod[], reasons: ReadonlyMap<string, string>): string {
  const groups = Map.groupBy(pending, (pod) => reasons.get(podKey(pod)) ?? "");
  return [
    `${pending.length} ${pending.length === 1 ? "pod is" : "pods are"} pending. Why:`,
    ...[...groups].map(([reason, group]) => `  ${andOthers(group.map(podKey))}: ${reason}`),
  ].join("\n");
}
