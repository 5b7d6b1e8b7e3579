import { ownValue } from "#core/lib/own-value.ts";
import type { ApiObject } from "./api-object.ts";

/**
 * Adds what the API server fills in when an object is written: its own defaults, those of admission plugins, and those
 * of the CRDs. `priorityClass` finds a PriorityClass by its name.
 */
export function withDefaults(object: ApiObject, cluster: { readonly priorityClass: (name: string) => ApiObject | undefined }): ApiObject {
  switch (object.kind) {
    case "Pod":
      return podDefaults(object, cluster.priorityClass);
    case "Node":
      return { ...object, spec: fields(object.spec) };
    case "PersistentVolumeClaim":
      return { ...object, status: { phase: "Pending", ...fields(object.status) } };
    case "NodePool":
      return nodePoolDefaults(object);
    case "NodeClaim":
      return { ...object, spec: { expireAfter: "720h", ...fields(object.spec) } };
    case "EC2NodeClass":
      return nodeClassDefaults(object);
    case "Deployment":
    case "StatefulSet":
    case "ReplicaSet":
      return { ...object, spec: { replicas: 1, ...fields(object.spec) } };
    case "Job":
      return { ...object, spec: jobDefaults(fields(object.spec)) };
    default:
      return object;
  }
}

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** A Job with a parallelism and no completions is a work queue, so its completions stay unset. */
function jobDefaults(spec: Record<string, unknown>): Record<string, unknown> {
  return { ...(spec["parallelism"] === undefined && { completions: 1 }), parallelism: 1, ...spec };
}

/** The PriorityClasses that each cluster has. */
export const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

function podDefaults(pod: ApiObject, priorityClass: (name: string) => ApiObject | undefined): ApiObject {
  const spec = fields(pod.spec);
  const className = typeof spec["priorityClassName"] === "string" ? spec["priorityClassName"] : undefined;
  const value = className === undefined ? 0 : (ownValue(SYSTEM_PRIORITIES, className) ?? priorityClass(className)?.["value"] ?? 0);
  return {
    ...pod,
    spec: {
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      terminationGracePeriodSeconds: 30,
      priority: value,
      ...spec,
      containers: containersWithDefaults(spec["containers"], spec["hostNetwork"] === true),
      tolerations: withDefaultTolerations(spec["tolerations"]),
    },
    status: fields(pod["status"])["phase"] === undefined ? newStatus(spec) : pod["status"],
  };
}

/** The status of a new pod; scheduling gates hold it back from kube-scheduler. */
function newStatus({ schedulingGates }: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(schedulingGates) || schedulingGates.length === 0) return { phase: "Pending" };
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  return { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated", message }] };
}

/** A container that has a limit and no request requests its limit; on the host network its ports are host ports. */
function containersWithDefaults(containers: unknown, hostNetwork: boolean): unknown {
  if (!Array.isArray(containers)) return [];
  return containers.map((container) => {
    const { ports } = fields(container);
    const resources = fields(fields(container)["resources"]);
    const requests = { ...fields(resources["limits"]), ...fields(resources["requests"]) };
    return {
      ...container,
      ...(resources["limits"] !== undefined && { resources: { ...resources, requests } }),
      ...(hostNetwork && Array.isArray(ports) && { ports: ports.map(onHost) }),
    };
  });
}

function onHost(port: unknown): unknown {
  const { containerPort, hostPort } = fields(port);
  return { ...fields(port), hostPort: hostPort || containerPort };
}

/**
 * The admission plugin DefaultTolerationSeconds: a pod stays five minutes on a node that is lost, unless it has a
 * toleration of its own.
 */
function withDefaultTolerations(tolerations: unknown): unknown {
  const given = Array.isArray(tolerations) ? tolerations.map(fields) : [];
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) => !given.some((t) => (t["key"] === key || t["key"] === undefined) && (t["effect"] === "NoExecute" || !t["effect"])),
  );
  return [...given, ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }))];
}

/** The defaults of NodePool in our CRD, which are Karpenter's (karpenter: pkg/apis/v1/nodepool.go, NodePoolSpec). */
function nodePoolDefaults(pool: ApiObject): ApiObject {
  const spec = fields(pool.spec);
  const template = fields(spec["template"]);
  return {
    ...pool,
    spec: {
      ...spec,
      template: { ...template, spec: { expireAfter: "720h", ...fields(template["spec"]) } },
      disruption: {
        consolidateAfter: "0s",
        consolidationPolicy: "WhenEmptyOrUnderutilized",
        budgets: [{ nodes: "10%" }],
        ...fields(spec["disruption"]),
      },
    },
  };
}

/**
 * The defaults of EC2NodeClass in our CRD, which are Karpenter's (karpenter-provider-aws: pkg/apis/v1/ec2nodeclass.go,
 * EC2NodeClassSpec).
 */
function nodeClassDefaults(nodeClass: ApiObject): ApiObject {
  const spec = fields(nodeClass.spec);
  return {
    ...nodeClass,
    spec: {
      ...spec,
      metadataOptions: {
        httpEndpoint: "enabled",
        httpProtocolIPv6: "disabled",
        httpPutResponseHopLimit: 1,
        httpTokens: "required",
        ...fields(spec["metadataOptions"]),
      },
    },
  };
}
