import type { ApiObject } from "../../functions/adapters/manifests/api-object.ts";
import type { Random } from "../../lab/world/random.ts";
import { FAMILIES, NODE_CLASS, ON_DEMAND } from "../simulation/story.ts";
import * as edges from "./edges.ts";
import { maybe, several } from "./edges.ts";

/**
 * Objects of a tenant at the edges of what an API server admits. The tenant's pods select the label `tenant`, which
 * only nodes of the tenant's NodePools have: whatever the objects ask for, they have no lawful part in what ordinary
 * pods get.
 */
export const TENANT = { tenant: "hostile" };
export const TENANT_NAMESPACE = "hostile";

type Draw = (random: Random, i: number) => ApiObject;

const namespaced = (random: Random, i: number, longest?: number) => ({
  name: edges.nameAt(random, i, longest),
  namespace: TENANT_NAMESPACE,
  ...maybe(random, 0.5, () => ({ labels: labelsOf(random) })),
  ...maybe(random, 0.3, () => ({ annotations: annotationsOf(random) })),
});
const clusterWide = (random: Random, i: number, longest?: number) => {
  const { namespace: _, ...metadata } = namespaced(random, i, longest);
  return metadata;
};
const labelsOf = (random: Random) =>
  Object.fromEntries(several(random, 100, () => [random.pick(edges.KEYS), random.pick(edges.LABEL_VALUES)] as const));
const annotationsOf = (random: Random) => ({
  ...Object.fromEntries(several(random, 50, () => [random.pick(edges.KEYS), random.pick(edges.UNICODE)] as const)),
  ...maybe(random, 0.3, () => ({
    "karpenter.sh/do-not-disrupt": random.pick(["true", "false", "10m", "-1h", "1e9h", ...edges.DURATIONS]),
  })),
  ...maybe(random, 0.2, () => ({ "controller.kubernetes.io/pod-deletion-cost": random.pick(["0", "-2147483648", "2147483647"]) })),
});

const expression = (random: Random): object => {
  const key = random.pick(edges.KEYS);
  return random.pick<() => object>([
    () => ({ key, operator: "In", values: ["", ...several(random, 2_000, (i) => `v${i}`)] }),
    () => ({ key, operator: "NotIn", values: [random.pick(edges.LABEL_VALUES)] }),
    () => ({ key, operator: "Exists" }),
    () => ({ key, operator: "DoesNotExist" }),
    () => ({ key, operator: random.pick(["Gt", "Lt"]), values: [random.pick(edges.BOUNDS)] }),
  ])();
};
const selector = (random: Random): object => ({
  matchLabels: labelsOf(random),
  matchExpressions: several(random, 300, () => {
    const key = random.pick(edges.KEYS);
    return random.next() < 0.5
      ? { key, operator: random.pick(["Exists", "DoesNotExist"]) }
      : { key, operator: random.pick(["In", "NotIn"]), values: ["a", ""] };
  }),
});
const topologyKey = (random: Random): string => random.pick(["kubernetes.io/hostname", "topology.kubernetes.io/zone", ...edges.KEYS]);

const amounts = (random: Random, quantities = edges.QUANTITIES) => ({
  ...maybe(random, 0.8, () => ({ cpu: random.pick(quantities) })),
  ...maybe(random, 0.8, () => ({ memory: random.pick(quantities) })),
  ...maybe(random, 0.2, () => ({ "ephemeral-storage": random.pick(quantities) })),
  ...maybe(random, 0.2, () => ({
    [`example.com/${random.pick(["constructor", "gpu"])}`]: random.pick(["0", "1", "7", "9223372036854775807"]),
  })),
});

/** An extended resource needs a limit that equals its request. */
function podAmounts(random: Random): object {
  const requests = amounts(random);
  return { requests, limits: Object.fromEntries(Object.entries(requests).filter(([name]) => name.includes("/"))) };
}

const toleration = (random: Random): object =>
  random.pick<object>([
    { operator: "Exists" },
    { key: random.pick(edges.KEYS), operator: "Exists", effect: "NoExecute", tolerationSeconds: random.pick(edges.SIGNED) },
    { key: random.pick(edges.KEYS), operator: "Equal", value: random.pick(edges.LABEL_VALUES) },
  ]);

function podSpec(random: Random): object {
  const term = () => ({
    topologyKey: topologyKey(random),
    labelSelector: selector(random),
    ...maybe(random, 0.3, () => ({ namespaceSelector: selector(random) })),
  });
  const container = (i: number) => ({
    name: `c${i}`,
    image: "pause",
    resources: podAmounts(random),
    ...maybe(random, 0.2, () => ({
      ports: [{ containerPort: 80, hostPort: random.pick([1, 80, 65_535]), protocol: random.pick(["TCP", "UDP", "SCTP"]) }],
    })),
  });
  return {
    nodeSelector: { ...TENANT, ...maybe(random, 0.3, () => labelsOf(random)) },
    terminationGracePeriodSeconds: random.pick([0, 30, 2 ** 31, Number.MAX_SAFE_INTEGER]),
    containers: [container(0), ...several(random, 100, (i) => container(i + 1))],
    ...maybe(random, 0.2, () => ({ initContainers: [{ ...container(200), ...maybe(random, 0.5, () => ({ restartPolicy: "Always" })) }] })),
    ...maybe(random, 0.3, () => ({ tolerations: several(random, 200, () => toleration(random)) })),
    ...maybe(random, 0.3, () => ({
      topologySpreadConstraints: [
        {
          maxSkew: random.pick([1, 2 ** 31 - 1]),
          topologyKey: topologyKey(random),
          whenUnsatisfiable: random.pick(["DoNotSchedule", "ScheduleAnyway"]),
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

const owners = (random: Random, name: string) => ({
  // An object may name itself, or an owner that does not exist.
  ownerReferences: several(random, 50, () => ({
    apiVersion: "apps/v1",
    kind: random.pick(["ReplicaSet", "DaemonSet", "Pod", "Node", "constructor"]),
    name,
    uid: random.uuid(),
    controller: false,
  })),
});

const pod: Draw = (random, i) => {
  const metadata = namespaced(random, i);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, ...maybe(random, 0.3, () => owners(random, metadata.name)) } as ApiObject["metadata"],
    spec: podSpec(random),
  };
};

const requirement = (random: Random): object => {
  const key = random.pick([
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-family",
    "topology.kubernetes.io/zone",
    ...edges.KEYS.filter((one) => one.length < 64 || one.includes("/")),
  ]);
  return random.pick<() => object>([
    () => ({ key, operator: "In", values: ["x", ...several(random, 80, (i) => `v${i}`)] }),
    () => ({ key, operator: "NotIn", values: ["x"] }),
    () => ({ key, operator: random.pick(["Exists", "DoesNotExist"]) }),
    () => ({ key, operator: random.pick(["Gt", "Lt"]), values: [random.pick(edges.BOUNDS)] }),
    () => ({ key, operator: "In", values: ["a", "b"], minValues: random.pick([1, 2, 50]) }),
  ])();
};

const nodePool: Draw = (random, i) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: clusterWide(random, i, 63),
  spec: {
    weight: random.pick([1, 50, 100]),
    template: {
      metadata: { labels: TENANT, ...maybe(random, 0.3, () => ({ annotations: annotationsOf(random) })) },
      spec: {
        nodeClassRef: {
          group: "karpenter.k8s.aws",
          kind: "EC2NodeClass",
          name: random.pick(["default", "none", `h${i - 1}`, "constructor"]),
        },
        requirements: [ON_DEMAND, FAMILIES, ...several(random, 90, () => requirement(random))],
        expireAfter: random.pick(edges.DURATIONS),
        ...maybe(random, 0.3, () => ({
          terminationGracePeriod: random.pick(edges.DURATIONS.filter((one) => one !== "Never") as [string, ...string[]]),
        })),
        ...maybe(random, 0.3, () => ({
          taints: several(random, 50, () => ({
            key: random.pick(edges.KEYS),
            effect: random.pick(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
          })),
        })),
        ...maybe(random, 0.3, () => ({ startupTaints: [{ key: random.pick(edges.KEYS), effect: "NoSchedule" }] })),
      },
    },
    ...maybe(random, 0.5, () => ({ limits: amounts(random, edges.CRD_QUANTITIES) })),
    disruption: {
      consolidationPolicy: random.pick(["WhenEmpty", "WhenEmptyOrUnderutilized"]),
      consolidateAfter: random.pick(edges.DURATIONS),
      ...maybe(random, 0.5, () => ({
        budgets: several(random, 50, () => ({
          nodes: random.pick(["0", "100%", "0%", "7", "99999999999999999999"]),
          ...maybe(random, 0.4, () => ({
            schedule: random.pick(["* * * * *", "@daily", "0 0 30 2 *", "99 99 * * *"]),
            duration: random.pick(["1m", "99999999999h", "1h"]),
          })),
        })),
      })),
    },
  },
});

const nodeClass: Draw = (random, i) => ({
  ...NODE_CLASS,
  metadata: clusterWide(random, i),
  spec: {
    ...(NODE_CLASS.spec as object),
    ...maybe(random, 0.5, () => ({
      kubelet: {
        ...maybe(random, 0.5, () => ({
          systemReserved: { cpu: random.pick(edges.CRD_QUANTITIES), memory: random.pick(edges.CRD_QUANTITIES) },
        })),
        ...maybe(random, 0.5, () => ({ kubeReserved: { cpu: random.pick(edges.CRD_QUANTITIES) } })),
        ...maybe(random, 0.5, () => ({ maxPods: random.pick(edges.INTEGERS), podsPerCore: random.pick(edges.INTEGERS) })),
        ...maybe(random, 0.4, () => ({ evictionHard: { "memory.available": random.pick(["5%", "100%", "0", "1e1.5", "-1"]) } })),
      },
    })),
    ...maybe(random, 0.3, () => ({ userData: random.pick(edges.UNICODE) })),
    ...maybe(random, 0.3, () => ({ tags: Object.fromEntries(several(random, 60, (j) => [`t${j}`, random.pick(edges.UNICODE)] as const)) })),
    ...maybe(random, 0.3, () => ({
      blockDeviceMappings: [
        {
          deviceName: "/dev/xvda",
          rootVolume: true,
          ebs: { volumeSize: random.pick(["1Gi", "64Ti", "20G", "0Gi", "99999999Ti"]), volumeType: "gp3", encrypted: true },
        },
      ],
    })),
  },
});

const nodeClaim: Draw = (random, i) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: {
    ...clusterWide(random, i, 63),
    labels: {
      ...TENANT,
      ...labelsOf(random),
      ...maybe(random, 0.5, () => ({ "karpenter.sh/nodepool": random.pick(["none", "constructor"]) })),
    },
  },
  spec: {
    nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: random.pick(["none", "constructor", "default"]) },
    requirements: [ON_DEMAND, ...several(random, 90, () => requirement(random))],
    resources: { requests: amounts(random, edges.CRD_QUANTITIES) },
    expireAfter: random.pick(edges.DURATIONS),
    ...maybe(random, 0.3, () => ({ terminationGracePeriod: random.pick(["0s", "99999999999999999999h"]) })),
  },
});

/** A node that nobody runs: it lies about its size, its age and its conditions. */
const node: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    ...clusterWide(random, i),
    labels: {
      ...TENANT,
      ...labelsOf(random),
      ...maybe(random, 0.3, () => ({ "karpenter.sh/nodepool": random.pick(["none", "constructor"]) })),
      ...maybe(random, 0.3, () => ({ "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" })),
    },
  },
  spec: {
    ...maybe(random, 0.7, () => ({
      providerID: random.pick([
        "x",
        "aws:///",
        "aws:///us-west-2a/",
        `aws:///us-west-2a/i-${random.hex(17)}`,
        "constructor",
        `aws:///us-west-2a/i-${"0".repeat(3_000)}`,
        "kind://docker/kind/x",
      ]),
    })),
    ...maybe(random, 0.5, () => ({
      taints: several(random, 100, (j) => ({
        key: `${random.pick(["a", "constructor"])}-${j}`,
        effect: random.pick(["NoSchedule", "NoExecute"]),
        ...maybe(random, 0.3, () => ({ timeAdded: random.pick(edges.TIMES) })),
      })),
    })),
    unschedulable: random.next() < 0.5,
  },
  status: {
    capacity: amounts(random),
    allocatable: amounts(random),
    conditions: [
      {
        type: "Ready",
        status: random.pick(["True", "False", "Unknown"]),
        reason: "x",
        message: "",
        lastHeartbeatTime: random.pick(edges.TIMES),
        lastTransitionTime: random.pick(edges.TIMES),
      },
      ...several(random, 50, (j) => ({
        type: random.pick([`T${j}`, "constructor"]),
        status: "True",
        reason: "",
        message: random.pick(edges.UNICODE),
        lastHeartbeatTime: random.pick(edges.TIMES),
        lastTransitionTime: random.pick(edges.TIMES),
      })),
    ],
  },
});

const disruptionBudget: Draw = (random, i) => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: namespaced(random, i),
  spec: {
    ...(random.next() < 0.7 ? { selector: selector(random) } : {}),
    [random.pick(["minAvailable", "maxUnavailable"])]: random.pick([0, 1, 2 ** 31 - 1, "0%", "100%", "1%"]),
    ...maybe(random, 0.3, () => ({ unhealthyPodEvictionPolicy: random.pick(["AlwaysAllow", "IfHealthyBudget"]) })),
  },
});

const persistentVolume: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: clusterWide(random, i),
  spec: {
    capacity: { storage: random.pick(["1", "1Gi", "1e18", "8Ei"]) },
    accessModes: [random.pick(["ReadWriteOnce", "ReadOnlyMany"])],
    csi: {
      driver: random.pick(["ebs.csi.aws.com", "constructor.io"]),
      volumeHandle: random.pick(["vol-1", "constructor", "x".repeat(2_000)]),
    },
    ...maybe(random, 0.6, () => ({
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [expression(random)] },
            ...several(random, 200, () => ({ matchExpressions: [expression(random)] })),
          ],
        },
      },
    })),
    ...maybe(random, 0.5, () => ({ claimRef: { namespace: TENANT_NAMESPACE, name: `none-${random.between(0, 3)}` } })),
  },
});

const volumeClaim: Draw = (random, i) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `none-${i % 5}`, namespace: TENANT_NAMESPACE },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: random.pick(["1", "1Gi", "1e18"]) } },
    storageClassName: random.pick(["", "none", "constructor", `h${i - 1}`]),
  },
});

const storageClass: Draw = (random, i) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: clusterWide(random, i),
  provisioner: random.pick(["ebs.csi.aws.com", "kubernetes.io/no-provisioner", "constructor"]),
  volumeBindingMode: random.pick(["WaitForFirstConsumer", "Immediate"]),
  ...maybe(random, 0.5, () => ({
    allowedTopologies: [random.between(0, 9)].map((j) => ({
      matchLabelExpressions: [{ key: random.pick(edges.KEYS), values: [`x${j}`, "us-west-2a"] }],
    })),
  })),
});

const priorityClass: Draw = (random, i) => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: clusterWide(random, i),
  value: random.pick([0, 1, -(2 ** 31), 1_000_000_000]),
  preemptionPolicy: random.pick(["Never", "PreemptLowerPriority"]),
});

const namespace: Draw = (random, i) => ({ apiVersion: "v1", kind: "Namespace", metadata: clusterWide(random, i, 63) });

const daemonSet: Draw = (random, i) => {
  const labels = { app: `h${i}` };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: namespaced(random, i, 63),
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec(random) } },
  };
};

const nodeOverlay: Draw = (random, i) => ({
  apiVersion: "karpenter.sh/v1alpha1",
  kind: "NodeOverlay",
  metadata: clusterWide(random, i),
  spec: {
    weight: random.pick([1, 10_000]),
    requirements: [{ key: "tenant", operator: "In", values: ["hostile"] }, ...several(random, 90, () => requirement(random))],
    ...random.pick<object>([
      { price: random.pick(["0", "0.5", "99999999999"]) },
      { priceAdjustment: random.pick(["+1", "-100%", "-99999999", "+99999%"]) },
      { capacity: { "example.com/constructor": random.pick(edges.CRD_QUANTITIES) } },
    ]),
  },
});

/** Kinds by how often they are drawn. */
const KINDS: readonly [readonly [number, Draw], ...(readonly [number, Draw])[]] = [
  [8, pod],
  [4, nodePool],
  [3, nodeClass],
  [3, nodeClaim],
  [4, node],
  [3, disruptionBudget],
  [2, persistentVolume],
  [2, volumeClaim],
  [2, storageClass],
  [1, priorityClass],
  [1, namespace],
  [2, daemonSet],
  [1, nodeOverlay],
];
const DRAWS = KINDS.flatMap(([weight, draw]) => Array<Draw>(weight).fill(draw)) as [Draw, ...Draw[]];

/** The i-th object of a seed. */
export const drawObject: Draw = (random, i) => random.pick(DRAWS)(random, i);
