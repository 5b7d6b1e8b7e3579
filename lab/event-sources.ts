import type { JsonObject } from "#core/lib/json.ts";
import { readAdmissionRequest } from "#core/signals/admission-request.ts";
import { isUnschedulable } from "#core/signals/audit-record.ts";
import { type Signal, wakeUpsFor } from "#core/signals/signal.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { PRODUCT } from "./world/api-server.ts";
import type { Change } from "./world/store.ts";
import type { LabWorld } from "./world/world.ts";

/**
 * How long an audit record takes from the API server through the log group to the function. AWS says "within a few
 * minutes"; seconds are usual.
 */
const AUDIT_LAG_MS = 2_000;

/**
 * Turns changes of objects into wake-ups, as the real sources do: the webhook at once, the audit log a little later.
 * Without a source only the sweep sees a change.
 */
export function sendWakeUpsOnChanges(world: LabWorld, deps: ClusterDeps, sources: readonly ("audit" | "notify")[]): void {
  const lag = sources.includes("notify") ? 0 : AUDIT_LAG_MS;
  if (sources.length === 0) return;
  world.onChange((change) => {
    const signal = signalOf(change);
    if (signal === undefined) return;
    world.clock.after(lag, "event source", async () => {
      const claimOf = await claimOfNode(signal, deps);
      await deps.wakeUps.wake(wakeUpsFor(world.cluster, [signal], claimOf));
    });
  });
}

async function claimOfNode(signal: Signal, { store }: ClusterDeps): Promise<ReadonlyMap<string, string>> {
  if (signal.kind !== "node-changed" || signal.providerId === undefined) return new Map();
  const record = await store.byInstance(signal.providerId.slice(signal.providerId.lastIndexOf("/") + 1));
  return record ? new Map([[signal.providerId, record.name]]) : new Map();
}

const RESOURCES: Readonly<Record<string, string>> = {
  Pod: "pods",
  Node: "nodes",
  NodeClaim: "nodeclaims",
  NodePool: "nodepools",
  EC2NodeClass: "ec2nodeclasses",
  NodeOverlay: "nodeoverlays",
  CapacityBuffer: "capacitybuffers",
  PodTemplate: "podtemplates",
};

/**
 * The change as the webhook receives it, under the match conditions of infra/webhook. The lab's kube-scheduler writes
 * no Event when a pod fits nowhere: its write of the pod's status replaces the Event.
 */
function signalOf(change: Change): Signal | undefined {
  const { kind, object, old, user, type } = change;
  const resource = RESOURCES[kind];
  if (resource === undefined || user === PRODUCT) return undefined;
  // Heartbeats change no generation, and neither do status writes. Only the spec of these kinds matters.
  const sameSpec = type === "MODIFIED" && old?.metadata.generation === object.metadata.generation;
  if (sameSpec && resource !== "pods" && (resource !== "nodes" || ready(old) === ready(object))) return undefined;
  const { namespace, name } = object.metadata;
  if (kind === "Pod" && type !== "DELETED" && isUnschedulable(conditionsOf(object))) {
    const event = { reason: "FailedScheduling", regarding: { kind, namespace: namespace ?? "", name } };
    return readAdmissionRequest({ resource: { resource: "events" }, operation: "CREATE", object: event });
  }
  const request = {
    resource: { resource },
    operation: type === "DELETED" ? "DELETE" : change.verb.toUpperCase(),
    name,
    namespace,
    object: type === "DELETED" ? null : object,
    oldObject: old ?? (type === "DELETED" ? object : null),
  };
  return readAdmissionRequest(request as unknown as JsonObject);
}

function conditionsOf(object: Change["object"] | undefined): readonly { readonly type: string; readonly status: string }[] {
  const status = object?.status as { readonly conditions?: ReturnType<typeof conditionsOf> } | undefined;
  return status?.conditions ?? [];
}

const ready = (object: Change["object"] | undefined): string | undefined =>
  conditionsOf(object).find((condition) => condition.type === "Ready")?.status;
