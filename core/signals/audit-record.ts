import type { Signal } from "./signal.ts";

type Json = Readonly<Record<string, unknown>>;

/** Names that the product's own functions write under: what they did themselves is no news to them. */
const OUR_GROUP = "karpenter-serverless:";

/**
 * What an audit record of EKS means for us, if anything (iam-infra.md §8, traps.md 31–35). Refused requests mean nothing; bodies may be
 * missing or cut, so only what is surely there is used.
 */
export function readAuditRecord(record: Json): Signal | undefined {
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

function isOurs(user: Json): boolean {
  const groups = Array.isArray(user["groups"]) ? user["groups"] : [];
  return groups.some((group) => String(group).startsWith(OUR_GROUP));
}

const WRITES = new Set(["create", "update", "patch", "delete"]);

function customResource(ref: Json, verb: string): Signal | undefined {
  // `kubectl scale nodepool` writes by way of a subresource.
  const part = ref["subresource"];
  if (!WRITES.has(verb) || (part !== undefined && part !== "scale") || typeof ref["name"] !== "string") return undefined;
  if (ref["resource"] === "nodeclaims") return { kind: "claim-changed", claim: ref["name"] };
  return { kind: "pool-or-class-changed", name: `${ref["resource"]}/${ref["name"]}` };
}

/** A CapacityBuffer, or a PodTemplate, which little else makes use of. */
function buffer(ref: Json, verb: string): Signal | undefined {
  if (!WRITES.has(verb) || ref["subresource"] !== undefined || typeof ref["name"] !== "string") return undefined;
  return { kind: "buffer-changed", name: `${ref["resource"]}/${ref["namespace"]}/${ref["name"]}` };
}

function pod(record: Json, ref: Json, verb: string): Signal | undefined {
  const name = `${ref["namespace"]}/${ref["name"]}`;
  if (ref["subresource"] === "binding" && verb === "create") return { kind: "pod-moved", pod: name };
  if (ref["subresource"] === "status" && verb === "patch") return podStatus(record, name);
  // A pod is deleted twice: by whoever asks, then by its node with no grace left. Only then is it gone.
  if (ref["subresource"] === undefined && verb === "delete" && object(record["requestObject"])["gracePeriodSeconds"] === 0) {
    return { kind: "pod-moved", pod: name };
  }
  return undefined;
}

/** A repeated patch leaves out what has not changed, so the response is read; the request when there is none (Level Request). */
function podStatus(record: Json, name: string): Signal | undefined {
  const response = object(object(record["responseObject"])["status"]);
  const request = object(object(record["requestObject"])["status"]);
  if (request["phase"] === "Succeeded" || request["phase"] === "Failed") return { kind: "pod-moved", pod: name };
  if (typeof request["nominatedNodeName"] === "string" && request["nominatedNodeName"] !== "") return undefined;
  if (isDaemon(record)) return undefined;
  const status = Object.keys(response).length > 0 ? response : request;
  return isUnschedulable(status["conditions"]) ? { kind: "pod-unschedulable", pod: name } : undefined;
}

function isDaemon(record: Json): boolean {
  const owners = object(object(record["responseObject"])["metadata"])["ownerReferences"];
  return Array.isArray(owners) && owners.some((owner) => object(owner)["kind"] === "DaemonSet");
}

/** Whether some condition says that kube-scheduler gave the pod up. Takes raw JSON: anything of another shape says no. */
export function isUnschedulable(conditions: unknown): boolean {
  if (!Array.isArray(conditions)) return false;
  return conditions
    .map(object)
    .some(({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable");
}

function node(record: Json, ref: Json, verb: string): Signal | undefined {
  // Heartbeats come at level Request and would be the bulk of the log.
  if (!WRITES.has(verb) || record["level"] === "Request") return undefined;
  const name = String(ref["name"]);
  const providerId =
    object(object(record["responseObject"])["spec"])["providerID"] ?? object(object(record["requestObject"])["spec"])["providerID"];
  return { kind: "node-changed", node: name, ...(typeof providerId === "string" && { providerId }) };
}

/** A JSON object, or an empty one in place of anything else. */
export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
