import { FAMILIES, NODE_CLASS, ON_DEMAND } from "../../simulation/story.ts";
import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";
import { amounts, annotationsOf, clusterWide, type Draw, labelsOf, requirement, TENANT } from "./fields.ts";

export const nodePool: Draw = (random, i) => ({
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

/** The API server refuses a reservation below zero. */
const RESERVED = edges.CRD_QUANTITIES.filter((one) => !one.startsWith("-")) as [string, ...string[]];

export const nodeClass: Draw = (random, i) => ({
  ...NODE_CLASS,
  metadata: clusterWide(random, i),
  spec: {
    ...(NODE_CLASS.spec as object),
    ...maybe(random, 0.5, () => ({
      kubelet: {
        ...maybe(random, 0.5, () => ({
          systemReserved: { cpu: random.pick(RESERVED), memory: random.pick(RESERVED) },
        })),
        ...maybe(random, 0.5, () => ({ kubeReserved: { cpu: random.pick(RESERVED) } })),
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

export const nodeClaim: Draw = (random, i) => ({
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

export const nodeOverlay: Draw = (random, i) => ({
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
