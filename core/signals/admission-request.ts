import type { JsonObject } from "../lib/json.ts";
import { isUnschedulable, object } from "./audit-record.ts";
import type { Signal } from "./signal.ts";

/**
 * The signal of an AdmissionReview's request, if any. The webhook's match conditions let few other requests through,
 * but a person can change them, so nothing here relies on them.
 */
export function readAdmissionRequest(request: Readonly<Record<string, unknown>>): Signal | undefined {
  const { resource } = object(request["resource"]);
  const name = String(request["name"]);
  const changed = object(request["object"]);
  const old = object(request["oldObject"]);
  switch (resource) {
    case "events":
      return failedScheduling(changed);
    case "pods": {
      const pod = `${request["namespace"]}/${name}`;
      const status = object(changed["status"]);
      const isBound = object(old["spec"])["nodeName"] !== undefined;
      if (request["operation"] === "DELETE" || (isBound && (status["phase"] === "Succeeded" || status["phase"] === "Failed"))) {
        return { kind: "pod-moved", pod };
      }
      // An older webhook configuration sends the status of pods, and no Events.
      return isUnschedulable(status["conditions"]) ? { kind: "pod-unschedulable", pod } : undefined;
    }
    case "nodes": {
      const providerId = object(changed["spec"])["providerID"] ?? object(old["spec"])["providerID"];
      return { kind: "node-changed", node: name, ...(typeof providerId === "string" && { providerId }) };
    }
    case "nodeclaims":
      return { kind: "claim-changed", claim: name };
    case "nodepools":
    case "ec2nodeclasses":
    case "nodeoverlays":
      return { kind: "pool-or-class-changed", name: `${resource}/${name}` };
    case "capacitybuffers":
    case "podtemplates":
      return { kind: "buffer-changed", name: `${resource}/${request["namespace"]}/${name}` };
    default:
      return undefined;
  }
}

/** Of an Event of either group: that kube-scheduler could not place a pod. */
function failedScheduling({ reason, regarding, involvedObject }: JsonObject): Signal | undefined {
  const { kind, namespace, name } = object(regarding ?? involvedObject);
  return reason === "FailedScheduling" && kind === "Pod" ? { kind: "pod-unschedulable", pod: `${namespace}/${name}` } : undefined;
}
