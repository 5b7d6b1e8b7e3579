import { BESIDE_READY, conditionOf } from "../model/conditions.ts";
import type { Condition } from "../model/kubernetes.ts";
import type { EC2NodeClass } from "../model/node-class.ts";

interface NotReady {
  readonly kind: "InsufficientCapacity" | "NodeClassNotReady" | "Refused";
  readonly reason: string;
  readonly message: string;
}

/**
 * Why nothing may be launched from a NodeClass now; undefined when launches are possible. A missing or deleted
 * NodeClass removes the NodeClaim, like a lack of capacity. A Ready condition of another generation than the spec's
 * counts as not ready. An unknown condition is retried
 * (karpenter: pkg/controllers/nodeclaim/lifecycle/launch.go, Launch.Reconcile).
 */
export function launchReadiness(nodeClass: EC2NodeClass | undefined): NotReady | undefined {
  if (nodeClass === undefined) {
    return {
      kind: "InsufficientCapacity",
      reason: "NodeClassNotFound",
      message: "Failed resolving NodeClass: there is no EC2NodeClass of that name",
    };
  }
  const { name, generation, deletionTimestamp } = nodeClass.metadata;
  if (deletionTimestamp !== undefined) {
    return {
      kind: "InsufficientCapacity",
      reason: "NodeClassTerminating",
      message: `Failed resolving NodeClass: EC2NodeClass ${name} is being deleted`,
    };
  }
  const ready = conditionOf(nodeClass.status?.conditions, "Ready");
  if (ready === undefined || ready.status === "Unknown") {
    return { kind: "Refused", reason: "NodeClassReadinessUnknown", message: `EC2NodeClass ${name} was not looked at yet` };
  }
  if (ready.status === "False") {
    return {
      kind: "NodeClassNotReady",
      reason: ready.reason ?? "NodeClassNotReady",
      message: notReadyMessage(nodeClass),
    };
  }
  if (generation !== undefined && ready.observedGeneration !== undefined && ready.observedGeneration !== generation) {
    const message = `EC2NodeClass ${name} has changed since it was found ready (generation ${generation}, seen ${ready.observedGeneration})`;
    return { kind: "NodeClassNotReady", reason: "NodeClassNotReady", message };
  }
  return undefined;
}

/**
 * Why an EC2NodeClass is not ready, in one sentence for its NodePools, NodeClaims and pods: its name, the condition at
 * fault, and that condition's message, which says what to do.
 */
export function notReadyMessage({ metadata, status }: EC2NodeClass): string {
  const { type, reason, message } = conditionAtFault(status?.conditions ?? []) ?? {};
  const which = type === undefined || type === "Ready" ? "" : ` (${type})`;
  return `EC2NodeClass ${metadata.name} is not ready${which}: ${message || reason || "see its status"}`;
}

/** A False condition comes before an Unknown one, and ValidationSucceeded, which repeats the others, comes last. */
function conditionAtFault(conditions: readonly Condition[]): Condition | undefined {
  const causes = conditions.filter(({ type, status }) => status !== "True" && type !== "Ready" && !BESIDE_READY.has(type));
  const first = causes.filter(({ type }) => type !== "ValidationSucceeded");
  return [...first, ...causes].find(({ status }) => status === "False") ?? first[0] ?? causes[0] ?? conditionOf(conditions, "Ready");
}
