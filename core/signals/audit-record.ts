import { getAt, type Json, type JsonObject, listAt, mapAt, textAt } from "../lib/json.ts";
import { nameAt, nodeChanged, type Signal } from "./signal.ts";

/** Prefix of the groups that the product's own functions write under; their own writes are no signal. */
const OUR_GROUP = "karpenter-serverless:";

/** What a record is about. Fields that hold no text, or no name, are absent. */
interface Ref {
  readonly apiGroup: string | undefined;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/**
 * The signal of an EKS audit record, if any. A refused request has none. Bodies may be missing or truncated, so only
 * fields that are certainly present are used, and a field of another type counts as missing.
 */
export function readAuditRecord(record: JsonObject): Signal | undefined {
  const code = getAt(record, ["responseStatus", "code"]);
  if (typeof code !== "number" || code < 200 || code > 299 || isOurs(record)) return undefined;
  const ref: Ref = {
    apiGroup: textAt(record, ["objectRef", "apiGroup"]),
    resource: textAt(record, ["objectRef", "resource"]),
    subresource: textAt(record, ["objectRef", "subresource"]),
    namespace: nameAt(record, ["objectRef", "namespace"]),
    name: nameAt(record, ["objectRef", "name"]),
  };
  const verb = textAt(record, ["verb"]) ?? "";
  if (ref.apiGroup === "karpenter.sh" || ref.apiGroup === "karpenter.k8s.aws") return customResource(ref, verb);
  if (ref.apiGroup === "autoscaling.x-k8s.io" || ref.resource === "podtemplates") return buffer(ref, verb);
  if (ref.apiGroup !== undefined) return undefined;
  if (ref.resource === "pods") return pod(record, ref, verb);
  if (ref.resource === "nodes") return node(record, ref, verb);
  return undefined;
}

function isOurs(record: JsonObject): boolean {
  return listAt(record, ["user", "groups"]).some((group) => typeof group === "string" && group.startsWith(OUR_GROUP));
}

const WRITES = new Set(["create", "update", "patch", "delete"]);

function customResource(ref: Ref, verb: string): Signal | undefined {
  // `kubectl scale nodepool` writes the subresource `scale`.
  const part = ref.subresource;
  if (!WRITES.has(verb) || (part !== undefined && part !== "scale") || ref.name === undefined) return undefined;
  if (ref.resource === "nodeclaims") return { kind: "claim-changed", claim: ref.name };
  return { kind: "pool-or-class-changed", name: `${ref.resource}/${ref.name}` };
}

/** A CapacityBuffer, or a PodTemplate, which few other controllers use. */
function buffer(ref: Ref, verb: string): Signal | undefined {
  if (!WRITES.has(verb) || ref.subresource !== undefined || ref.name === undefined) return undefined;
  return { kind: "buffer-changed", name: `${ref.resource}/${ref.namespace}/${ref.name}` };
}

function pod(record: JsonObject, ref: Ref, verb: string): Signal | undefined {
  const name = `${ref.namespace}/${ref.name}`;
  if (ref.subresource === "binding" && verb === "create") return { kind: "pod-moved", pod: name };
  if (ref.subresource === "status" && verb === "patch") return podStatus(record, name);
  // A pod is deleted twice: on request, then by its kubelet with a grace period of 0. Only then is it removed.
  if (ref.subresource === undefined && verb === "delete" && getAt(record, ["requestObject", "gracePeriodSeconds"]) === 0) {
    return { kind: "pod-moved", pod: name };
  }
  return undefined;
}

/**
 * A repeated patch leaves unchanged fields out, so the response is read; without a response (audit level Request), the
 * request.
 */
function podStatus(record: JsonObject, name: string): Signal | undefined {
  const response = mapAt(record, ["responseObject", "status"]);
  const request = mapAt(record, ["requestObject", "status"]);
  if (request["phase"] === "Succeeded" || request["phase"] === "Failed") return { kind: "pod-moved", pod: name };
  if (typeof request["nominatedNodeName"] === "string" && request["nominatedNodeName"] !== "") return undefined;
  if (isDaemon(record)) return undefined;
  const status = Object.keys(response).length > 0 ? response : request;
  return isUnschedulable(status["conditions"]) ? { kind: "pod-unschedulable", pod: name } : undefined;
}

function isDaemon(record: JsonObject): boolean {
  return listAt(record, ["responseObject", "metadata", "ownerReferences"]).some((owner) => textAt(owner, ["kind"]) === "DaemonSet");
}

/**
 * Whether a condition says that kube-scheduler found the pod unschedulable. Takes raw JSON; false for any other shape.
 */
export function isUnschedulable(conditions: Json | undefined): boolean {
  return listAt(conditions, []).some(
    (condition) =>
      textAt(condition, ["type"]) === "PodScheduled" &&
      textAt(condition, ["status"]) === "False" &&
      textAt(condition, ["reason"]) === "Unschedulable",
  );
}

function node(record: JsonObject, { name }: Ref, verb: string): Signal | undefined {
  // Heartbeats are logged at level Request; they would be most of the log.
  if (!WRITES.has(verb) || record["level"] === "Request" || name === undefined) return undefined;
  const providerId = textAt(record, ["responseObject", "spec", "providerID"]) ?? textAt(record, ["requestObject", "spec", "providerID"]);
  return nodeChanged(name, providerId);
}
