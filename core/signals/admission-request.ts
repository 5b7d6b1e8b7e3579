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
    case "pods": {
      const pod = `${request["namespace"]}/${name}`;
      const status = object(changed["status"]);
      const isBound = object(old["spec"])["nodeName"] !== undefined;
      if (request["operation"] === "DELETE" || (isBound && (status["phase"] === "Succeeded" || status["phase"] === "Failed"))) {
        return { kind: "pod-moved", pod };
      }
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
