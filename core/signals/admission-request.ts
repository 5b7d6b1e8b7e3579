import { getAt, type JsonObject, textAt } from "../lib/json.ts";
import { isStarting, isStillStarting, nameAt, nodeChanged, type Signal } from "./signal.ts";

/**
 * The signal of an AdmissionReview's request, if any. The webhook's match conditions let few other requests through,
 * but a person can change them, so nothing here relies on them: a field of another type counts as missing.
 */
export function readAdmissionRequest(request: JsonObject): Signal | undefined {
  const resource = textAt(request, ["resource", "resource"]);
  const namespace = nameAt(request, ["namespace"]);
  const name = nameAt(request, ["name"]);
  switch (resource) {
    case "events":
      return failedScheduling(request);
    case "pods":
      return podChanged(request, `${namespace}/${name}`);
    case "nodes": {
      const providerId = textAt(request, ["object", "spec", "providerID"]) ?? textAt(request, ["oldObject", "spec", "providerID"]);
      const [before, after] = [getAt(request, ["oldObject"]), getAt(request, ["object"])];
      if (name === undefined || isStillStarting(before, after)) return undefined;
      return nodeChanged(name, providerId, textAt(request, ["operation"]) === "CREATE" && isStarting(after));
    }
    case "nodeclaims":
      return name === undefined ? undefined : { kind: "claim-changed", claim: name };
    case "nodepools":
    case "ec2nodeclasses":
    case "nodeoverlays":
      return { kind: "pool-or-class-changed", name: `${resource}/${name}` };
    case "capacitybuffers":
    case "podtemplates":
      return { kind: "buffer-changed", name: `${resource}/${namespace}/${name}` };
    default:
      return undefined;
  }
}

function podChanged(request: JsonObject, pod: string): Signal | undefined {
  const phase = textAt(request, ["object", "status", "phase"]);
  const isBound = getAt(request, ["oldObject", "spec", "nodeName"]) !== undefined;
  const isGone = textAt(request, ["operation"]) === "DELETE" || (isBound && (phase === "Succeeded" || phase === "Failed"));
  return isGone ? { kind: "pod-moved", pod } : undefined;
}

/** Of an Event of either group: that kube-scheduler could not place a pod. */
function failedScheduling(request: JsonObject): Signal | undefined {
  const about = getAt(request, ["object", "regarding"]) ?? getAt(request, ["object", "involvedObject"]);
  const isFailure = textAt(request, ["object", "reason"]) === "FailedScheduling" && textAt(about, ["kind"]) === "Pod";
  return isFailure ? { kind: "pod-unschedulable", pod: `${nameAt(about, ["namespace"])}/${nameAt(about, ["name"])}` } : undefined;
}
