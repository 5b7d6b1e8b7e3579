import type { Schema } from "./schema.ts";

/**
 * Schemas of pods and of the kinds that create pods (Kubernetes 1.35). Fields that scheduling reads have a schema; of
 * other fields only the names are known. Like kubectl, the check refuses unknown fields, because a misspelt
 * `nodeSelecter` would otherwise change the plan without a word.
 */

const ANY: Schema = {};
const TEXT: Schema = { type: "string" };
const TEXTS: Schema = { type: "array", items: TEXT };
const MAP: Schema = { type: "object", additionalProperties: TEXT };
const count = (minimum: number): Schema => ({ type: "integer", minimum });
const oneOf = (...values: readonly string[]): Schema => ({ type: "string", enum: values });
const list = (items: Schema): Schema => ({ type: "array", items });

/** An object with these fields, and with other fields of which only the names are known. */
function object(fields: Readonly<Record<string, Schema>>, others = "", required: readonly string[] = []): Schema {
  const names = others.split(" ").filter((name) => name !== "");
  return { type: "object", properties: { ...Object.fromEntries(names.map((name) => [name, ANY])), ...fields }, required };
}

const expression = (...operators: readonly string[]): Schema =>
  object({ key: TEXT, operator: oneOf(...operators), values: TEXTS }, "", ["key", "operator"]);

const SELECTOR = object({ matchLabels: MAP, matchExpressions: list(expression("In", "NotIn", "Exists", "DoesNotExist")) });

const NODE_EXPRESSIONS = list(expression("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"));
const NODE_TERM = object({ matchExpressions: NODE_EXPRESSIONS, matchFields: NODE_EXPRESSIONS });
const WEIGHT: Schema = { type: "integer", minimum: 1, maximum: 100 };

const POD_TERM = object(
  {
    labelSelector: SELECTOR,
    topologyKey: TEXT,
    namespaces: TEXTS,
    namespaceSelector: SELECTOR,
    matchLabelKeys: TEXTS,
    mismatchLabelKeys: TEXTS,
  },
  "",
  ["topologyKey"],
);

const POD_AFFINITY = object({
  requiredDuringSchedulingIgnoredDuringExecution: list(POD_TERM),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    object({ weight: WEIGHT, podAffinityTerm: POD_TERM }, "", ["weight", "podAffinityTerm"]),
  ),
});

const AFFINITY = object({
  nodeAffinity: object({
    requiredDuringSchedulingIgnoredDuringExecution: object({ nodeSelectorTerms: list(NODE_TERM) }, "", ["nodeSelectorTerms"]),
    preferredDuringSchedulingIgnoredDuringExecution: list(object({ weight: WEIGHT, preference: NODE_TERM }, "", ["weight", "preference"])),
  }),
  podAffinity: POD_AFFINITY,
  podAntiAffinity: POD_AFFINITY,
});

const TOLERATION = object({
  key: TEXT,
  operator: oneOf("Exists", "Equal", "Lt", "Gt"),
  value: TEXT,
  effect: oneOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
  tolerationSeconds: { type: "integer" },
});

const SPREAD = object(
  {
    maxSkew: count(1),
    topologyKey: TEXT,
    whenUnsatisfiable: oneOf("DoNotSchedule", "ScheduleAnyway"),
    labelSelector: SELECTOR,
    minDomains: count(1),
    nodeAffinityPolicy: oneOf("Honor", "Ignore"),
    nodeTaintsPolicy: oneOf("Honor", "Ignore"),
    matchLabelKeys: TEXTS,
  },
  "",
  ["maxSkew", "topologyKey", "whenUnsatisfiable"],
);

// check.ts checks quantities.
const RESOURCES = object({ requests: ANY, limits: ANY, claims: list(object({ name: TEXT, request: TEXT })) });

const CONTAINER = object(
  {
    name: TEXT,
    image: TEXT,
    resources: RESOURCES,
    ports: list(object({}, "containerPort hostIP hostPort name protocol")),
    restartPolicy: TEXT,
  },
  `args command env envFrom imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy restartPolicyRules securityContext startupProbe
   stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir`.replaceAll(/\s+/g, " "),
);

const POD_SPEC = object(
  {
    affinity: AFFINITY,
    containers: list(CONTAINER),
    initContainers: list(CONTAINER),
    nodeName: TEXT,
    nodeSelector: MAP,
    overhead: { type: "object" },
    priorityClassName: TEXT,
    resources: RESOURCES,
    schedulerName: TEXT,
    schedulingGates: list(object({ name: TEXT })),
    tolerations: list(TOLERATION),
    topologySpreadConstraints: list(SPREAD),
    volumes: list({ type: "object" }),
  },
  `activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork
   hostPID hostUsers hostname hostnameOverride imagePullSecrets os preemptionPolicy priority readinessGates resourceClaims restartPolicy
   runtimeClassName securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
   terminationGracePeriodSeconds workloadRef`.replaceAll(/\s+/g, " "),
);

const TEMPLATE = object({
  metadata: { type: "object", properties: { labels: MAP, annotations: MAP }, "x-kubernetes-preserve-unknown-fields": true },
  spec: POD_SPEC,
});

const whole = (spec: Schema): Schema => object({ spec }, "apiVersion kind metadata status");
const workload = (others: string): Schema => whole(object({ selector: SELECTOR, template: TEMPLATE }, others));

/** The schemas by kind. */
export const WORKLOAD_SCHEMAS: Readonly<Record<string, Schema>> = {
  Pod: whole(POD_SPEC),
  Deployment: workload("replicas strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds"),
  ReplicaSet: workload("replicas minReadySeconds"),
  StatefulSet: workload(
    "replicas serviceName volumeClaimTemplates updateStrategy podManagementPolicy revisionHistoryLimit minReadySeconds ordinals persistentVolumeClaimRetentionPolicy",
  ),
  DaemonSet: workload("updateStrategy minReadySeconds revisionHistoryLimit"),
  PodTemplate: object({ template: TEMPLATE }, "apiVersion kind metadata", ["template"]),
  Job: workload(
    `activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism
     podFailurePolicy podReplacementPolicy successPolicy suspend ttlSecondsAfterFinished`.replaceAll(/\s+/g, " "),
  ),
  PodDisruptionBudget: whole(
    object({
      selector: SELECTOR,
      minAvailable: { "x-kubernetes-int-or-string": true },
      maxUnavailable: { "x-kubernetes-int-or-string": true },
      unhealthyPodEvictionPolicy: oneOf("IfHealthyBudget", "AlwaysAllow"),
    }),
  ),
};
