import { review } from "#core/admission/review.ts";
import { bufferProblems } from "#core/capacity-buffers/validate.ts";
import { parseCron } from "#core/lib/cron.ts";
import { isJsonObject, type JsonObject } from "#core/lib/json.ts";
import { nearest } from "#core/lib/nearest.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { CapacityBufferSpec } from "#core/model/capacity-buffer.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import { parseQuantity } from "#core/model/quantity.ts";
import { nodeOverlayProblems } from "#core/node-overlay/validate.ts";
import { type ApiObject, KINDS } from "./api-object.ts";
import { schemaProblems } from "./crd-schema.ts";
import type { Problem } from "./schema.ts";
import { matchesSelector } from "./selectors.ts";
import { withoutNulls } from "./yaml.ts";

/** The successors of Karpenter's old kinds. */
const SUCCESSORS: Readonly<Record<string, string>> = { Provisioner: "NodePool", AWSNodeTemplate: "EC2NodeClass", Machine: "NodeClaim" };
const GROUP_VERSIONS: Readonly<Record<string, string>> = { "karpenter.sh": "karpenter.sh/v1", "karpenter.k8s.aws": "karpenter.k8s.aws/v1" };

/**
 * Everything that is wrong with a manifest, a sentence each: its version, its name, its schema, and the rules of its
 * kind.
 */
export function manifestProblems(object: unknown): readonly Problem[] {
  if (!isJsonObject(object)) return [{ path: [], message: "this is no Kubernetes object; write a map with apiVersion, kind and metadata" }];
  const { apiVersion, kind, metadata } = object as Partial<ApiObject>;
  if (typeof kind !== "string" || kind === "")
    return [{ path: [], message: "the document has no kind; add one, such as `kind: NodePool`" }];
  if (typeof apiVersion !== "string" || apiVersion === "") {
    const known = ownValue(KINDS, kind)?.apiVersion;
    return [{ path: ["kind"], message: `${kind} has no apiVersion; add \`apiVersion: ${known ?? "group/version"}\`` }];
  }
  const version = versionProblem(apiVersion, kind);
  if (version !== undefined) return [{ path: ["apiVersion"], message: version }];
  const names = nameProblems(kind, metadata);
  if (names.length > 0) return names;
  const problems = schemaProblems(kind, object);
  return problems.length > 0 ? problems : kindProblems(kind, withoutNulls(object) as ApiObject);
}

function versionProblem(apiVersion: string, kind: string): string | undefined {
  const group = apiVersion.split("/")[0] ?? "";
  const ours = ownValue(GROUP_VERSIONS, group);
  const successor = ownValue(SUCCESSORS, kind);
  if (successor !== undefined && ours !== undefined) {
    return `${kind} (${apiVersion}) is an old API of Karpenter's; convert it to ${successor} (${ownValue(KINDS, successor)?.apiVersion}): only v1 is understood`;
  }
  const known = ownValue(KINDS, kind)?.apiVersion;
  const near = known === undefined && ours === undefined ? nearest(kind, kindsOf(apiVersion)) : undefined;
  if (near !== undefined) return `${apiVersion} has no kind ${kind}; did you mean ${near}?`;
  if (ours !== undefined && known === undefined)
    return `${apiVersion} has no kind ${kind}; it knows NodePool, NodeClaim, NodeOverlay and EC2NodeClass`;
  if (known === undefined || known === apiVersion) return undefined;
  if (ours !== undefined || GROUP_VERSIONS[known.split("/")[0] ?? ""] !== undefined) {
    return `${kind} is given as ${apiVersion}; convert it to ${known}: only ${known.split("/")[1]} is understood${ownValue(CHANGES, kind) ?? ""}`;
  }
  return `${kind} is given as ${apiVersion}, which no present cluster serves; write it as ${known}`;
}

/** What a person has to change when converting from v1beta1. */
const CHANGES: Readonly<Record<string, string>> = {
  NodePool:
    " (nodeClassRef needs group and kind, expireAfter goes from disruption to template.spec, WhenUnderutilized is now WhenEmptyOrUnderutilized)",
  EC2NodeClass: " (amiSelectorTerms is needed, such as [{alias: al2023@latest}], in place of amiFamily alone)",
};

const kindsOf = (apiVersion: string): readonly string[] =>
  Object.keys(KINDS).filter((kind) => ownValue(KINDS, kind)?.apiVersion === apiVersion);

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Kinds whose names are any path segment, upper case and ':' included
 * (kubernetes: pkg/apis/rbac/validation/validation.go, ValidateRole).
 */
const PATH_SEGMENT_NAMES = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

/** What is wrong with a name of that kind, and how to fix it; undefined when the name is valid. */
function nameProblem(kind: string, name: unknown): string | undefined {
  if (PATH_SEGMENT_NAMES.has(kind)) {
    const isSegment = typeof name === "string" && name !== "." && name !== ".." && !/[/%]/.test(name);
    return isSegment ? undefined : `"${String(name)}" is not a name of a ${kind}; use text without '/' and '%' other than "." and ".."`;
  }
  if (typeof name === "string" && name.length <= 253 && NAME.test(name)) return undefined;
  return `"${String(name)}" is not a name; use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit`;
}

function nameProblems(kind: string, metadata: unknown): Problem[] {
  const { name, namespace, labels, annotations } = (typeof metadata === "object" && metadata !== null ? metadata : {}) as Record<
    string,
    unknown
  >;
  if (name === undefined || name === null || name === "")
    return [{ path: ["metadata", "name"], message: "is missing; every object needs a name" }];
  const problem = nameProblem(kind, name);
  if (problem !== undefined) return [{ path: ["metadata", "name"], message: problem }];
  if (namespace !== undefined && namespace !== null && typeof namespace !== "string")
    return [{ path: ["metadata", "namespace"], message: `must be text, not ${JSON.stringify(namespace)}; put it in quotes` }];
  return Object.entries({ labels, annotations }).flatMap(([field, map]) =>
    Object.entries((map ?? {}) as object)
      .filter(([, value]) => typeof value !== "string")
      .map(([key, value]) => ({ path: ["metadata", field, key], message: `must be text, not ${JSON.stringify(value)}; put it in quotes` })),
  );
}

function kindProblems(kind: string, object: ApiObject): readonly Problem[] {
  const spec = (object.spec ?? {}) as Record<string, unknown>;
  switch (kind) {
    case "NodePool":
      return [...admissionProblems(object), ...quantityProblems(spec["limits"], ["spec", "limits"])];
    case "NodeOverlay":
      return nodeOverlayProblems(object as unknown as NodeOverlay).map((message) => ({ path: ["spec"], message }));
    case "CapacityBuffer":
      return bufferProblems(spec as CapacityBufferSpec).map((message) => ({ path: ["spec"], message }));
    case "PodTemplate": {
      const template = (object["template"] ?? {}) as { readonly spec?: unknown };
      return podProblems((template.spec ?? {}) as Record<string, unknown>, ["template", "spec"]);
    }
    case "EC2NodeClass":
      return (spec["role"] === undefined) === (spec["instanceProfile"] === undefined)
        ? [{ path: ["spec"], message: "needs exactly one of role and instanceProfile" }]
        : admissionProblems(object);
    case "Pod":
      return podProblems(spec, ["spec"]);
    case "Deployment":
    case "ReplicaSet":
    case "StatefulSet":
    case "DaemonSet":
    case "Job":
      return workloadProblems(kind, spec);
    case "CronJob":
      return cronJobProblems(spec);
    case "PodDisruptionBudget":
      return spec["minAvailable"] !== undefined && spec["maxUnavailable"] !== undefined
        ? [{ path: ["spec"], message: "has both minAvailable and maxUnavailable; leave one of them out" }]
        : [];
    case "Node": {
      const status = (object.status ?? {}) as Record<string, unknown>;
      return [
        ...quantityProblems(status["capacity"], ["status", "capacity"]),
        ...quantityProblems(status["allocatable"], ["status", "allocatable"]),
      ];
    }
    default:
      return [];
  }
}

/** What the admission function would refuse. */
function admissionProblems(object: ApiObject): readonly Problem[] {
  return review(object as unknown as JsonObject).problems.map((message) => ({ path: ["spec"], message }));
}

function workloadProblems(kind: string, spec: Record<string, unknown>): readonly Problem[] {
  const template = spec["template"] as
    | { readonly metadata?: { readonly labels?: Record<string, string> }; readonly spec?: unknown }
    | undefined;
  if (typeof template?.spec !== "object" || template.spec === null)
    return [{ path: ["spec", "template", "spec"], message: "is missing; it says what the pods are" }];
  const { replicas, selector } = spec;
  if (replicas !== undefined && replicas !== null && !(Number.isInteger(replicas) && Number(replicas) >= 0)) {
    return [{ path: ["spec", "replicas"], message: `must be a whole number of at least 0, not ${JSON.stringify(replicas)}` }];
  }
  if (kind !== "Job") {
    if (typeof selector !== "object" || selector === null)
      return [{ path: ["spec", "selector"], message: "is missing; give matchLabels that the template's labels meet" }];
    if (!matchesSelector(selector, template.metadata?.labels)) {
      return [{ path: ["spec", "selector"], message: "does not match spec.template.metadata.labels; make them agree" }];
    }
  }
  return podProblems(template.spec as Record<string, unknown>, ["spec", "template", "spec"]);
}

function cronJobProblems({ schedule, timeZone, jobTemplate }: Record<string, unknown>): readonly Problem[] {
  const problems: Problem[] = [];
  if (typeof schedule !== "string" || (parseCron(schedule) === undefined && !/^@every (\d+)[hms]$/.test(schedule))) {
    const message = `${JSON.stringify(schedule)} is not a schedule; write minute, hour, day, month and weekday, as in "0 3 * * *"`;
    problems.push({ path: ["spec", "schedule"], message });
  }
  if (timeZone !== undefined && timeZone !== null && !isTimeZone(String(timeZone))) {
    const message = `${JSON.stringify(timeZone)} is not a time zone; write a name as in "Etc/UTC" or "Europe/Berlin"`;
    problems.push({ path: ["spec", "timeZone"], message });
  }
  const { spec } = (jobTemplate ?? {}) as { readonly spec?: Record<string, unknown> };
  const inJob = workloadProblems("Job", spec ?? {});
  return [...problems, ...inJob.map(({ path, message }) => ({ path: ["spec", "jobTemplate", ...path], message }))];
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function podProblems(spec: Record<string, unknown>, path: readonly string[]): readonly Problem[] {
  const problems: Problem[] = [];
  if (!Array.isArray(spec["containers"]) || spec["containers"].length === 0) {
    problems.push({ path: [...path, "containers"], message: "is missing; a pod needs at least one container" });
  }
  for (const list of ["containers", "initContainers"]) {
    const containers = (Array.isArray(spec[list]) ? spec[list] : []) as { readonly resources?: Record<string, unknown> }[];
    for (const [i, container] of containers.entries()) {
      for (const field of ["requests", "limits"]) {
        problems.push(...quantityProblems(container?.resources?.[field], [...path, list, i, "resources", field]));
      }
    }
  }
  return problems;
}

function quantityProblems(list: unknown, path: readonly (string | number)[]): readonly Problem[] {
  if (list === undefined || list === null) return [];
  if (typeof list !== "object" || Array.isArray(list)) return [{ path, message: "must be a map of resource names to quantities" }];
  return Object.entries(list).flatMap(([name, value]) => {
    try {
      if (parseQuantity(value as string | number) >= 0) return [];
      return [{ path: [...path, name], message: `${JSON.stringify(value)} is below 0; write an amount of 0 or more` }];
    } catch {
      const message = `${JSON.stringify(value)} is not a quantity; write a number with an optional suffix, as in "500m", "2" or "1.5Gi"`;
      return [{ path: [...path, name], message }];
    }
  });
}
