import { createLab, type Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { MINUTE, OPTIONS, pass, start } from "../support/lab-story.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";

/**
 * A cluster whose users wrote one key wherever the API takes a key of theirs: labels, annotations, taints, selectors,
 * topology keys and resource names. Their namespace, NodePool, DaemonSet and PodDisruptionBudget are named after it.
 * `key` must be a DNS label. The pods of all Deployments but `lacking` can run.
 */
function objectsWithKey(key: string): readonly ApiObject[] {
  const labels = { [key]: "x", app: key };
  const selector = { matchLabels: { [key]: "x" }, matchExpressions: [{ key, operator: "Exists" }] };
  const template = (spec: object, requests: object = { cpu: "1" }): object => ({
    metadata: { labels, annotations: labels },
    spec: {
      terminationGracePeriodSeconds: 0,
      tolerations: [{ key, operator: "Exists" }],
      containers: [{ name: "main", image: "pause", resources: { requests } }],
      ...spec,
    },
  });
  const deployment = (name: string, replicas: number, pod: object): ApiObject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: key },
    spec: { replicas, selector: { matchLabels: { app: key } }, template: pod },
  });
  const affinity = { labelSelector: selector, topologyKey: key, matchLabelKeys: [key], namespaceSelector: { matchLabels: { [key]: "x" } } };
  const spread = { maxSkew: 1, topologyKey: key, whenUnsatisfiable: "DoNotSchedule", labelSelector: selector, matchLabelKeys: [key] };
  const without = { matchExpressions: [{ key, operator: "DoesNotExist" }] };
  const keyed = nodePool([ON_DEMAND, FAMILIES], {
    limits: { cpu: 1000, [key]: "5" },
    template: {
      metadata: { labels: { [key]: "x" }, annotations: { [key]: "x" } },
      spec: {
        requirements: [ON_DEMAND, FAMILIES],
        taints: [{ key, value: "x", effect: "NoSchedule" }],
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
        expireAfter: "720h",
      },
    },
  });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: key, labels: { [key]: "x" } } },
    NODE_CLASS,
    { ...keyed, metadata: { name: key } },
    nodePool([ON_DEMAND, FAMILIES]),
    deployment("selecting", 2, template({ nodeSelector: { [key]: "x" } })),
    deployment("avoiding", 2, template({ affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [without] } } } })),
    deployment("spreading", 2, template({ topologySpreadConstraints: [spread] })),
    deployment("together", 2, template({ affinity: { podAffinity: { [REQUIRED]: [affinity] } } })),
    deployment("lacking", 1, template({}, { cpu: "1", [key]: "1" })),
    { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: key, namespace: key }, spec: { minAvailable: 1, selector } },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: key, namespace: key },
      spec: { selector: { matchLabels: { app: "agent" } }, template: template({ nodeSelector: { [key]: "x" } }, { cpu: "100m" }) },
    },
  ];
}

/** The lab after these objects were applied, had their nodes, and were scaled down until nodes were consolidated. */
export async function playKey(key: string): Promise<Lab> {
  const lab = await start(createLab(OPTIONS), objectsWithKey(key));
  await pass(lab, 2 * MINUTE);
  lab.world.scale("Deployment", key, "selecting", 0);
  lab.world.scale("Deployment", key, "spreading", 1);
  await pass(lab, 4 * MINUTE);
  return lab;
}
