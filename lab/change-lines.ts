import type { Pod } from "#core/model/pod.ts";
import { endOf, FAILED_CREATE, type Job, type OwnerEvent } from "./world/actors/owned-pods.ts";
import { isPreempted } from "./world/actors/preemption.ts";
import type { Change } from "./world/store.ts";

/** What a line of the story says of a change in the cluster. */
interface ChangeLine {
  readonly what: string;
  /** "namespace/name" of its object. */
  readonly which: string;
  readonly why: string;
}

/** What the controllers of Kubernetes did, which the functions do not log. Undefined for changes that are no news. */
export function changeLine({ type, kind, object, old }: Pick<Change, "type" | "kind" | "object" | "old">): ChangeLine | undefined {
  if (type === "DELETED") return undefined;
  if (kind === "Job") return jobLine(object as unknown as Job, old as unknown as Job | undefined);
  if (kind === "Pod") return preemptionLine(object as unknown as Pod, old as unknown as Pod | undefined);
  if (kind === "Event") return refusalLine(object as unknown as OwnerEvent);
  return undefined;
}

/** Pods that the API server refuses. */
function refusalLine({ involvedObject: { namespace, name }, reason, message }: OwnerEvent): ChangeLine | undefined {
  return reason === FAILED_CREATE ? { what: "failed to create pods", which: `${namespace}/${name}`, why: message } : undefined;
}

/** A Job that a CronJob started, or that has ended. */
function jobLine(job: Job, old: Job | undefined): ChangeLine | undefined {
  const { metadata, status } = job;
  const which = `${metadata.namespace}/${metadata.name}`;
  if (old === undefined) {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === "CronJob");
    return owner && { what: "started job", which, why: `by the schedule of CronJob ${owner.name}` };
  }
  const end = endOf(old) === undefined ? endOf(job) : undefined;
  const counts = `${status?.succeeded ?? 0} succeeded${status?.failed ? `, ${status.failed} failed` : ""}`;
  return end && { what: end.type === "Complete" ? "completed job" : "failed job", which, why: `(pods: ${counts})` };
}

/** A pod that gives way to one of higher priority. */
function preemptionLine(pod: Pod, old: Pod | undefined): ChangeLine | undefined {
  const { metadata, spec } = pod;
  if (!isPreempted(pod) || (old && isPreempted(old))) return undefined;
  return {
    what: "preempted pod",
    which: `${metadata.namespace}/${metadata.name}`,
    why: `from ${spec.nodeName}, for a pod of higher priority`,
  };
}
