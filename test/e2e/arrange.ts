import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_POOL } from "#lab/stories.ts";
import { gone, LONG } from "./observe.ts";
import { CLUSTER } from "./stage.ts";
import type { E2eWorld } from "./world.ts";

// The objects that stories create and remove.

const MANIFESTS = join(import.meta.dirname, "../../lab/stories");
// biome-ignore lint/suspicious/noTemplateCurlyInString: the manifests carry this placeholder
const CLUSTER_PLACEHOLDER = "${CLUSTER_NAME}";

/** The timeout of kubectl. */
export const PATIENTLY = `--timeout=${LONG / 1_000}s`;

/** The text of a manifest of the lab's stories; "default" is the pool that `install` makes. */
export function manifest(name: string): string {
  const file = name === "default" ? DEFAULT_POOL : join(MANIFESTS, `${name}.yaml`);
  return readFileSync(file, "utf8").replaceAll(CLUSTER_PLACEHOLDER, CLUSTER);
}

export async function apply(world: Pick<E2eWorld, "cluster">, ...objects: readonly (object | string)[]): Promise<void> {
  for (const object of objects) {
    await world.cluster.kubectl("apply", "-f", "-", { input: typeof object === "string" ? object : JSON.stringify(object) });
  }
}

type Patch = (text: string) => string;

/** Applies the NodePool of a manifest, changed by `patches`, and waits until it is ready. */
export async function applyPool(world: E2eWorld, name: string, ...patches: readonly Patch[]): Promise<void> {
  await apply(
    world,
    patches.reduce((text, patch) => patch(text), manifest(name)),
  );
  await world.cluster.kubectl("wait", "--for=condition=Ready", "nodepool/default", PATIENTLY);
}

export const quickly: Patch = (text) => text.replace("consolidateAfter: 1m", "consolidateAfter: 5s");
/**
 * Raises the CPU limit: before its launch a NodeClaim counts as the largest type that it may become, so a few reach the
 * limit.
 */
export const unlimited: Patch = (text) => text.replace("cpu: 1000", "cpu: 100000");
export const neverConsolidated: Patch = (text) => text.replace("consolidateAfter: 1m", "consolidateAfter: Never");

export const scale = (world: E2eWorld, deployment: string, replicas: number): Promise<string> =>
  world.cluster.kubectl("scale", `deployment/${deployment}`, `--replicas=${replicas}`);

/** Removes the objects that stories have created in the default namespace. */
export async function reset(world: E2eWorld): Promise<void> {
  await world.cluster.kubectl("delete", "deployments,pdb", "--all", "-n", "default", "--ignore-not-found", PATIENTLY);
  await world.cluster.kubectl("delete", "nodepools", "--all", PATIENTLY);
  await gone(world);
}

/** A PodDisruptionBudget of an app. */
export const pdb = (app: string, spec: { readonly minAvailable: number } | { readonly maxUnavailable: number }): object => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: app },
  spec: { ...spec, selector: { matchLabels: { app } } },
});

/** A Deployment of pods that request one CPU. */
export function deployment(
  app: string,
  replicas: number,
  more: { readonly annotations?: Readonly<Record<string, string>>; readonly graceSeconds?: number; readonly apart?: boolean } = {},
): object {
  const { annotations = {}, graceSeconds = 0, apart = false } = more;
  const labels = { app };
  const own = { labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: {
          terminationGracePeriodSeconds: graceSeconds,
          ...(apart && { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [own] } } }),
          containers: [{ name: app, image: "pause", resources: { requests: { cpu: "1", memory: "1Gi" } } }],
        },
      },
    },
  };
}

/** An EC2NodeClass of the cluster's network and role, with further fields of its spec. */
export const nodeClass = (name: string, spec: object): object => ({
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name },
  spec: {
    role: `KarpenterNodeRole-${CLUSTER}`,
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": CLUSTER } }],
    ...spec,
  },
});

/** A NodeClaim without a NodePool, on demand, of an EC2NodeClass; each requirement is a list of allowed values. */
export function nodeClaim(name: string, ofClass: string, requirements: Readonly<Record<string, readonly string[]>>): object {
  const wanted = { "karpenter.sh/capacity-type": ["on-demand"], "node.kubernetes.io/instance-type": ["m5.large"], ...requirements };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name },
    spec: {
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: ofClass },
      requirements: Object.entries(wanted).map(([key, values]) => ({ key, operator: "In", values })),
      resources: { requests: { cpu: "1" } },
      expireAfter: "Never",
    },
  };
}
