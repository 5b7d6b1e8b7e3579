import type { Catalogue, CatalogueType } from "#core/offerings/catalogue.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";
import { simulatedCloud } from "#lab/world/cloud.ts";
import { startCluster } from "#lab/world/cluster.ts";
import { createLabWorld } from "#lab/world/world.ts";
import type { ApiObject } from "#manifests/api-object.ts";

export const START = Date.UTC(2026, 0, 15, 10);

export const type = (name: string, cpu: number, gib: number, more: Partial<CatalogueType> = {}): CatalogueType => ({
  name,
  arch: "amd64",
  cpu,
  memoryMib: gib * 1024,
  enis: 3,
  ipv4PerEni: 10,
  capacityTypes: ["on-demand", "spot"],
  zones: ["us-west-2a", "us-west-2b"],
  cpuManufacturer: "intel",
  clockMhz: 3100,
  hypervisor: "nitro",
  encryptionInTransit: true,
  ...more,
});

export const CATALOGUE: Catalogue = {
  region: "us-west-2",
  zones: [
    { name: "us-west-2a", zoneId: "usw2-az2" },
    { name: "us-west-2b", zoneId: "usw2-az1" },
  ],
  types: [
    type("c5.large", 2, 4),
    type("m5.large", 2, 8, { podEni: 9 }),
    type("g5.xlarge", 4, 16, { gpus: [{ name: "a10g", manufacturer: "NVIDIA", count: 1, memoryMib: 24_576 }] }),
  ],
  onDemand: { "c5.large": 0.085, "m5.large": 0.096, "g5.xlarge": 1.006 },
  spot: { "m5.large": { "us-west-2a": 0.05, "us-west-2b": 0.04 }, "c5.large": { "us-west-2a": 0.06, "us-west-2b": 0.06 } },
  asOf: "2026-11-21",
};

export function lab(seed = 1) {
  const world = createLabWorld({ seed, start: START });
  const kubelets = startCluster(world, ["us-west-2a", "us-west-2b"]);
  const cloud = simulatedCloud(world, { catalogue: CATALOGUE, kubelets });
  return { world, clock: world.clock, kubelets, cloud, kubernetes: simulatedKubernetes(world) };
}

/** A node outside of the lab's cloud. */
export const node = (
  name: string,
  more: { cpu?: string; labels?: Record<string, string>; taints?: readonly object[] } = {},
): ApiObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { "kubernetes.io/hostname": name, ...more.labels } },
  spec: { ...(more.taints && { taints: more.taints }) },
  status: { allocatable: { cpu: more.cpu ?? "4", memory: "16Gi", pods: "110" } },
});

const template = (name: string, spec: object) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }], ...spec },
});

export const deployment = (name: string, replicas: number, spec: object = {}): ApiObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, spec) },
});

export const workload = (kind: string, name: string, more: object = {}, spec: object = {}): ApiObject => ({
  apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, spec), ...more },
});

export const pod = (name: string, spec: object = {}, labels: Record<string, string> = {}): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }], ...spec },
});

export const budget = (name: string, app: string, spec: object): ApiObject => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name },
  spec: { selector: { matchLabels: { app } }, ...spec },
});
