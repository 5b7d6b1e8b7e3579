import { isJsonObject, type JsonObject } from "../lib/json.ts";
import type { Signal } from "./signal.ts";

/** Prefix of the groups that the product's own functions write under; their own writes are no signal. */
const OUR_GROUP = "karpenter-serverless:";

/**
 * The signal of an EKS audit record, if any. A refused request has none. Bodies may be missing or truncated, so only
 * fields that are certainly present are used.
 */
export function readAuditRecord(record: JsonObject): Signal | undefined {
  const ref = object(record["objectRef"]);
  const code = Number(object(record["responseStatus"])["code"]);
  if (code < 200 || code > 299 || isOurs(object(record["user"]))) return undefined;
  const verb = String(record["verb"]);
  if (ref["apiGroup"] === "karpenter.sh" || ref["apiGroup"] === "karpenter.k8s.aws") return customResource(ref, verb);
  if (ref["apiGroup"] === "autoscaling.x-k8s.io" || ref["resource"] === "podtemplates") return buffer(ref, verb);
  if (ref["apiGroup"] !== undefined) return undefined;
  if (ref["resource"] === "pods") return pod(record, ref, verb);
  if (ref["resource"] === "nodes") return node(record, ref, verb);
  return undefined;
}

function isOurs(user: JsonObject): boolean {
  const groups = Array.isArray(user["groups"]) ? user["groups"] : [];
  return groups.some((group) => String(group).startsWith(OUR_GROUP));
}

const WRITES = new Set(["create", "update", "patch", "delete"]);

function customResource(ref: JsonObject, verb: string): Signal | undefined {
  // `kubectl scale nodepool` writes the subresource `scale`.
  const part = ref["subresource"];
  if (!WRITES.has(verb) || (part !== undefined && part !== "scale") || typeof ref["name"] !== "string") return undefined;
  if (ref["resource"] === "nodeclaims") return { kind: "claim-changed", claim: ref["name"] };
  return { kind: "pool-or-class-changed", name: `${ref["resource"]}/${ref["name"]}` };
}

/** A CapacityBuffer, or a PodTemplate, which few other controllers use. */
function buffer(ref: JsonObject, verb: string): Signal | undefined {
  if (!WRITES.has(verb) || ref["subresource"] !== undefined || typeof ref["name"] !== "string") return undefined;
  return { kind: "buffer-changed", name: `${ref["resource"]}/${ref["namespace"]}/${ref["name"]}` };
}

function pod(record: JsonObject, ref: JsonObject, verb: string): Signal | undefined {
  const name = `${ref["namespace"]}/${ref["name"]}`;
  if (ref["subresource"] === "binding" && verb === "create") return { kind: "pod-moved", pod: name };
  if (ref["subresource"] === "status" && verb === "patch") return podStatus(record, name);
  // A pod is deleted twice: on request, then by its kubelet with a grace period of 0. Only then is it removed.
  if (ref["subresource"] === undefined && verb === "delete" && object(record["requestObject"])["gracePeriodSeconds"] === 0) {
    return { kind: "pod-moved", pod: name };
  }
  return undefined;
}

/**
 * A repeated patch leaves unchanged fields out, so the response is read; without a response (audit level Request), the
 * request.
 */
function podStatus(record: JsonObject, name: string): Signal | undefined {
  const response = object(object(record["responseObject"])["status"]);
  const request = object(object(record["requestObject"])["status"]);
  if (request["phase"] === "Succeeded" || request["phase"] === "Failed") return { kind: "pod-moved", pod: name };
  if (typeof request["nominatedNodeName"] === "string" && request["nominatedNodeName"] !== "") return undefined;
  if (isDaemon(record)) return undefined;
  const status = Object.keys(response).length > 0 ? response : request;
  return isUnschedulable(status["conditions"]) ? { kind: "pod-unschedulable", pod: name } : undefined;
}

function isDaemon(record: JsonObject): boolean {
  const owners = object(object(record["responseObject"])["metadata"])["ownerReferences"];
  return Array.isArray(owners) && owners.some((owner) => object(owner)["kind"] === "DaemonSet");
}

/**
 * Whether a condition says that kube-scheduler found the pod unschedulable. Takes raw JSON; false for any other shape.
 */
export function isUnschedulable(conditions: unknown): boolean {
  if (!Array.isArray(conditions)) return false;
  return conditions
    .map(object)
    .some(({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable");
}

function node(record: JsonObject, ref: JsonObject, verb: string): Signal | undefined {
  // Heartbeats are logged at level Request; they would be most of the log.
  if (!WRITES.has(verb) || record["level"] === "Request") return undefined;
  const name = String(ref["name"]);
  const providerId =
    object(object(record["responseObject"])["spec"])["providerID"] ?? object(object(record["requestObject"])["spec"])["providerID"];
  return { kind: "node-changed", node: name, ...(typeof providerId === "string" && { providerId }) };
}

/** A JSON object, or an empty object in place of any other value. */
export function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
