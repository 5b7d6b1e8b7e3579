import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import * as edges from "../edges.ts";
import { maybe, several } from "../edges.ts";

/**
 * What objects of several kinds have in common: who the tenant is, metadata, selectors, requirements and amounts. The
 * tenant's pods select the label `tenant`, which only nodes of the tenant's NodePools have, so that they have no lawful
 * part in what ordinary pods get; share.ts lets some of them share the nodes of ordinary pods.
 */
export const TENANT = { tenant: "hostile" };
export const TENANT_NAMESPACE = "hostile";

/**
 * Names of what does not exist before the objects are placed: an ordinary node, its machine, and the object itself.
 * place.ts puts the real ones in their place.
 */
export const VICTIM_NODE = "victim.example";
export const VICTIM_ID = "aws:///us-west-2a/i-0123456789abcdef0";
export const OWN_UID = "00000000-0000-4000-8000-000000000001";

/** The i-th object of a seed. */
export type Draw = (random: Random, i: number) => ApiObject;

export const namespaced = (random: Random, i: number, longest?: number) => ({
  name: edges.nameAt(random, i, longest),
  namespace: TENANT_NAMESPACE,
  ...maybe(random, 0.5, () => ({ labels: labelsOf(random) })),
  ...maybe(random, 0.3, () => ({ annotations: annotationsOf(random) })),
});
export const clusterWide = (random: Random, i: number, longest?: number) => {
  const { namespace: _, ...metadata } = namespaced(random, i, longest);
  return metadata;
};
export const labelsOf = (random: Random) =>
  Object.fromEntries(several(random, 100, () => [random.pick(edges.KEYS), random.pick(edges.LABEL_VALUES)] as const));
export const annotationsOf = (random: Random) => ({
  ...Object.fromEntries(several(random, 50, () => [random.pick(edges.KEYS), random.pick(edges.UNICODE)] as const)),
  ...maybe(random, 0.3, () => ({
    "karpenter.sh/do-not-disrupt": random.pick(["true", "false", "10m", "-1h", "1e9h", ...edges.DURATIONS]),
  })),
  ...maybe(random, 0.2, () => ({ "controller.kubernetes.io/pod-deletion-cost": random.pick(["0", "-2147483648", "2147483647"]) })),
});

/** Owners that are the object itself, so that following them never ends, or that do not exist. */
export const owners = (random: Random, name: string) => ({
  ownerReferences: [
    ...several(random, 50, () => ({ ...random.pick(OWNERS), name, uid: random.uuid(), controller: false })),
    { ...random.pick(OWNERS), name, uid: OWN_UID, controller: random.next() < 0.5 },
  ],
});
interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
}
const OWNERS: readonly [Owner, ...Owner[]] = [
  { apiVersion: "apps/v1", kind: "ReplicaSet" },
  { apiVersion: "apps/v1", kind: "DaemonSet" },
  { apiVersion: "v1", kind: "Pod" },
  { apiVersion: "v1", kind: "Node" },
  { apiVersion: "v1", kind: "constructor" },
];

export const expression = (random: Random): object => {
  const key = random.pick(edges.KEYS);
  return random.pick<() => object>([
    () => ({ key, operator: "In", values: ["", ...several(random, 2_000, (i) => `v${i}`)] }),
    () => ({ key, operator: "NotIn", values: [random.pick(edges.LABEL_VALUES)] }),
    () => ({ key, operator: "Exists" }),
    () => ({ key, operator: "DoesNotExist" }),
    () => ({ key, operator: random.pick(["Gt", "Lt"]), values: [random.pick(edges.BOUNDS)] }),
  ])();
};
export const selector = (random: Random): object => ({
  matchLabels: labelsOf(random),
  matchExpressions: several(random, 300, () => {
    const key = random.pick(edges.KEYS);
    return random.next() < 0.5
      ? { key, operator: random.pick(["Exists", "DoesNotExist"]) }
      : { key, operator: random.pick(["In", "NotIn"]), values: ["a", ""] };
  }),
});
export const topologyKey = (random: Random): string =>
  random.pick(["kubernetes.io/hostname", "topology.kubernetes.io/zone", ...edges.KEYS]);

export const requirement = (random: Random): object => {
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
    () => ({ key, operator: "In", values: ["a", "b"], minValues: random.pick([1, 2]) }),
  ])();
};

export const amounts = (random: Random, quantities = edges.QUANTITIES) => ({
  ...maybe(random, 0.8, () => ({ cpu: random.pick(quantities) })),
  ...maybe(random, 0.8, () => ({ memory: random.pick(quantities) })),
  ...maybe(random, 0.2, () => ({ "ephemeral-storage": random.pick(quantities) })),
  ...maybe(random, 0.2, () => ({
    [`example.com/${random.pick(["constructor", "gpu"])}`]: random.pick(["0", "1", "7", "9223372036854775807"]),
  })),
});

/** An extended resource needs a limit that equals its request. */
export function podAmounts(random: Random): object {
  const requests = amounts(random);
  return { requests, limits: Object.fromEntries(Object.entries(requests).filter(([name]) => name.includes("/"))) };
}
