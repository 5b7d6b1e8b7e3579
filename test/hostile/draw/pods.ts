import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";
import {
  amounts,
  type Draw,
  expression,
  labelsOf,
  namespaced,
  owners,
  podAmounts,
  selector,
  TENANT,
  topologyKey,
  VICTIM_NODE,
} from "./fields.ts";

const toleration = (random: Random): object =>
  random.pick<object>([
    { operator: "Exists" },
    { key: random.pick(edges.KEYS), operator: "Exists", effect: "NoExecute", tolerationSeconds: random.pick(edges.SIGNED) },
    { key: random.pick(edges.KEYS), operator: "Equal", value: random.pick(edges.LABEL_VALUES) },
  ]);

export function podSpec(random: Random): object {
  const term = () => ({
    topologyKey: topologyKey(random),
    ...maybe(random, 0.9, () => ({ labelSelector: selector(random) })),
    ...maybe(random, 0.3, () => ({ namespaceSelector: selector(random) })),
  });
  const container = (i: number) => ({
    name: `c${i}`,
    image: "pause",
    resources: podAmounts(random),
  });
  // One container has host ports: the API server refuses a pod that asks for one twice.
  const ports = () => ({
    ports: [{ containerPort: 80, hostPort: random.pick([1, 80, 65_535]), protocol: random.pick(["TCP", "UDP", "SCTP"]) }],
  });
  return {
    nodeSelector: { ...TENANT, ...maybe(random, 0.3, () => labelsOf(random)) },
    terminationGracePeriodSeconds: random.pick([0, 30, 2 ** 31, Number.MAX_SAFE_INTEGER]),
    containers: [{ ...container(0), ...maybe(random, 0.2, ports) }, ...several(random, 100, (i) => container(i + 1))],
    ...maybe(random, 0.2, () => ({ initContainers: [{ ...container(200), ...maybe(random, 0.5, () => ({ restartPolicy: "Always" })) }] })),
    ...maybe(random, 0.3, () => ({ tolerations: several(random, 200, () => toleration(random)) })),
    ...maybe(random, 0.3, () => ({
      topologySpreadConstraints: [
        {
          maxSkew: random.pick([1, 2 ** 31 - 1]),
          topologyKey: topologyKey(random),
          whenUnsatisfiable: "DoNotSchedule",
          ...maybe(random, 0.8, () => ({ labelSelector: selector(random) })),
          ...maybe(random, 0.2, () => ({ minDomains: random.pick([1, 2 ** 31 - 1]) })),
          ...maybe(random, 0.2, () => ({ nodeAffinityPolicy: random.pick(["Honor", "Ignore"]) })),
        },
        {
          maxSkew: random.pick([1, 2 ** 31 - 1]),
          topologyKey: topologyKey(random),
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: selector(random),
        },
      ],
    })),
    ...maybe(random, 0.2, () => ({
      volumes: several(random, 100, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `none-${i}` } })),
    })),
    ...maybe(random, 0.5, () => ({
      affinity: {
        ...maybe(random, 0.6, () => ({
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [expression(random)] },
                ...several(random, 300, () => ({ matchExpressions: several(random, 100, () => expression(random)) })),
              ],
            },
            ...maybe(random, 0.3, () => ({
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: random.pick([1, 100]), preference: { matchExpressions: [expression(random)] } },
              ],
            })),
          },
        })),
        ...maybe(random, 0.4, () => ({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term()] } })),
        ...maybe(random, 0.4, () => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term()] } })),
      },
    })),
  };
}

export const pod: Draw = (random, i) => {
  const metadata = namespaced(random, i);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, ...maybe(random, 0.3, () => owners(random, metadata.name)) } as ApiObject["metadata"],
    spec: {
      ...podSpec(random),
      // A pod may name its node itself, and is then bound without kube-scheduler.
      ...maybe(random, 0.2, () => ({ nodeName: random.pick([VICTIM_NODE, VICTIM_NODE, "none", `h${i - 1}`]) })),
    },
    ...maybe(random, 0.3, () => ({ status: podStatus(random) })),
  };
};

/** What a kubelet that lies says of a pod. */
const podStatus = (random: Random): object => ({
  phase: random.pick(["Pending", "Running", "Unknown"]),
  ...maybe(random, 0.5, () => ({ startTime: random.pick(edges.TIMES) })),
  ...maybe(random, 0.3, () => ({ nominatedNodeName: random.pick(["none", VICTIM_NODE, "constructor"]) })),
  conditions: [
    { type: "PodScheduled", status: "False", reason: "Unschedulable", lastTransitionTime: random.pick([null, ...edges.TIMES]) },
    ...several(random, 50, (j) => ({
      type: random.pick(["Ready", "DisruptionTarget", "constructor", `T${j}`]),
      status: random.pick(["True", "False", "Unknown"]),
      lastTransitionTime: random.pick([null, ...edges.TIMES]),
    })),
  ],
  ...maybe(random, 0.3, () => ({ allocatedResources: amounts(random), resources: { requests: amounts(random) } })),
  containerStatuses: several(random, 100, (j) => ({
    ...{ name: `c${j}`, image: "", imageID: "", ready: false, restartCount: 0 },
    ...maybe(random, 0.7, () => ({ allocatedResources: amounts(random), resources: { requests: amounts(random) } })),
  })),
});

export const daemonSet: Draw = (random, i) => {
  const labels = { app: `h${i}` };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: namespaced(random, i, 63),
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec(random) } },
  };
};

export const disruptionBudget: Draw = (random, i) => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: namespaced(random, i),
  spec: {
    ...(random.next() < 0.7 ? { selector: selector(random) } : {}),
    [random.pick(["minAvailable", "maxUnavailable"])]: random.pick([0, 1, 2 ** 31 - 1, "0%", "100%", "1%"]),
    ...maybe(random, 0.3, () => ({ unhealthyPodEvictionPolicy: random.pick(["AlwaysAllow", "IfHealthyBudget"]) })),
  },
});
