import type { Pod, PodSpec } from "#core/model/pod.ts";
import { timestamp } from "#manifests/api-object.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { debounced, isTerminal, isTerminating, podsOf, withCondition } from "./actor.ts";
import { createPod, deletePod, endOf, type Job, setStatus, user, workloads } from "./owned-pods.ts";

const DELAY_MS = 20;
/**
 * A finished pod keeps this finalizer until its Job has counted it
 * (kubernetes: staging/src/k8s.io/api/batch/v1/types.go, JobTrackingFinalizer).
 */
const TRACKING = "batch.kubernetes.io/job-tracking";
const DEFAULT_BACKOFF_LIMIT = 6;

/**
 * The Job controller. The status of a Job remembers the pods that have finished, so that none of them runs again after
 * its record was removed with its node. A pod that was deleted before it finished counts as failed and is replaced, at
 * once: the back-off of the real controller (10 s and more) is left out. Indexed Jobs run as plain ones.
 */
export function startJobs(world: LabWorld): void {
  const expiring = new Set<string>();
  const sync = debounced(world, "Job controller", DELAY_MS, () => {
    const tracked = podsOf(world).filter(({ metadata }) => metadata.finalizers?.includes(TRACKING));
    const byJob = Map.groupBy(tracked, ({ metadata }) => metadata.ownerReferences?.find((o) => o.controller)?.uid ?? "");
    for (const job of workloads(world, "Job") as readonly Job[]) {
      const uid = job.metadata.uid ?? "";
      syncJob(world, job, byJob.get(uid) ?? []);
      byJob.delete(uid);
      const ended = world.store.byUid(uid) as Job | undefined;
      if (ended !== undefined && !expiring.has(uid) && expire(world, ended)) expiring.add(uid);
    }
    // The Jobs of the other pods are deleted.
    for (const pods of byJob.values()) for (const pod of pods) release(world, pod);
  });
  world.onChange(({ kind, subresource }) => {
    if (kind === "Pod" || kind === "PriorityClass" || (kind === "Job" && subresource !== "status")) sync();
  });
}

/** `pods` are those that the Job has not counted yet. */
function syncJob(world: LabWorld, job: Job, pods: readonly Pod[]): void {
  const { completions, parallelism = 1, backoffLimit = DEFAULT_BACKOFF_LIMIT, suspend = false, podReplacementPolicy } = job.spec;
  const ended = pods.filter((pod) => isTerminal(pod) || (isTerminating(pod) && !isRunningOut(pod)));
  const finished = ended.filter(({ status }) => status?.phase === "Succeeded");
  const succeeded = (job.status?.succeeded ?? 0) + finished.length;
  const failed = (job.status?.failed ?? 0) + (disruptionsCount(job) ? ended.length - finished.length : 0);
  const stopping = pods.filter((pod) => isTerminating(pod) && !ended.includes(pod));
  const running = pods.filter((pod) => !isTerminating(pod) && !isTerminal(pod));
  // A Job without completions is a work queue: it ends when one pod has succeeded and the others have ended too.
  const all = completions === undefined ? succeeded > 0 && running.length === 0 : succeeded >= completions;
  const end = endOf(job)?.type ?? (failed > backoffLimit ? "Failed" : all ? "Complete" : undefined);
  const left = completions === undefined ? (succeeded > 0 ? running.length : parallelism) : Math.min(parallelism, completions - succeeded);
  const wanted = suspend || end !== undefined ? 0 : Math.max(0, left);
  for (const pod of ended) release(world, pod);
  for (const pod of running.slice(wanted)) {
    // The controller deletes it itself, so it is no failure.
    release(world, pod);
    deletePod(world, pod, "job-controller");
  }
  const occupied = running.length + (podReplacementPolicy === "Failed" ? stopping.length : 0);
  for (let i = occupied; i < wanted; i++) startPod(world, job);
  writeStatus(world, job, { active: wanted, succeeded, failed, end });
}

/** Whether the pod still runs within its grace period: the node's kubelet ends it. */
const isRunningOut = ({ metadata }: Pod): boolean => (metadata.deletionGracePeriodSeconds ?? 0) > 0;

/** Whether a pod that was deleted before it finished counts as failed. Nothing else makes a pod of the lab fail. */
const disruptionsCount = ({ spec }: Job): boolean =>
  !spec.podFailurePolicy?.rules?.some(
    ({ action, onPodConditions }) => action === "Ignore" && onPodConditions?.some(({ type }) => type === "DisruptionTarget"),
  );

function startPod(world: LabWorld, job: Job): void {
  const { name, uid = "" } = job.metadata;
  const { restartPolicy = "Never" } = job.spec.template.spec as { readonly restartPolicy?: string };
  createPod(world, job, {
    labels: {
      "job-name": name,
      "batch.kubernetes.io/job-name": name,
      "controller-uid": uid,
      "batch.kubernetes.io/controller-uid": uid,
    },
    spec: { restartPolicy } as Partial<PodSpec>,
    finalizers: [TRACKING],
  });
}

function release(world: LabWorld, { metadata: { name, namespace } }: Pod): void {
  world.store.patch("Pod", name, namespace, user("job-controller"), (o: MutableObject) => {
    o.metadata.finalizers = o.metadata.finalizers?.filter((finalizer: string) => finalizer !== TRACKING);
    return o;
  });
}

interface Count {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly end: string | undefined;
}

function writeStatus(world: LabWorld, job: Job, { active, succeeded, failed, end }: Count): void {
  const now = world.clock.now();
  const suspended = job.spec.suspend === true && end === undefined;
  let conditions = job.status?.conditions;
  if (end !== undefined && endOf(job) === undefined) {
    const [reason, message] =
      end === "Complete"
        ? ["CompletionsReached", "Reached expected number of succeeded pods"]
        : ["BackoffLimitExceeded", "Job has reached the specified backoff limit"];
    conditions = withCondition(conditions, { type: end, status: "True", reason, message }, now);
  }
  if (suspended || conditions?.some(({ type }) => type === "Suspended")) {
    const [status, reason, message] = suspended
      ? (["True", "JobSuspended", "Job suspended"] as const)
      : (["False", "JobResumed", "Job resumed"] as const);
    conditions = withCondition(conditions, { type: "Suspended", status, reason, message }, now);
  }
  setStatus(world, job, {
    active,
    succeeded,
    failed,
    uncountedTerminatedPods: {},
    startTime: job.status?.startTime ?? (suspended ? undefined : timestamp(now)),
    completionTime: job.status?.completionTime ?? (end === "Complete" ? timestamp(now) : undefined),
    conditions,
  });
}

/**
 * Schedules the deletion of a Job that has ended and has a ttlSecondsAfterFinished. False when nothing is scheduled.
 */
function expire(world: LabWorld, job: Job): boolean {
  const { ttlSecondsAfterFinished: ttl } = job.spec;
  const end = endOf(job);
  if (ttl === undefined || end === undefined) return false;
  const { name, namespace, uid } = job.metadata;
  world.clock.at(Date.parse(end.lastTransitionTime ?? "") + ttl * 1_000, `TTL of Job ${name}`, () => {
    world.store.delete("Job", name, { namespace, uid }, user("ttl-after-finished-controller"));
  });
  return true;
}
