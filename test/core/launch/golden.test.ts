import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { renderUserData } from "#core/launch/user-data.ts";
import type { UserDataInput } from "#core/launch/user-data-input.ts";
import type { KubeletConfiguration } from "#core/model/node-class.ts";
import { parseToml } from "#lab/world/toml.ts";
import { readUserData } from "#lab/world/user-data.ts";

/**
 * User data of instances, byte by byte: a changed file means a new launch template for every cluster, so review each
 * change. To write the files again:
 *
 *     npx vitest run test/core/launch/golden.test.ts -u
 */
const GOLDEN = join(import.meta.dirname, "golden");

const cluster = {
  ...{ name: "prod", endpoint: "https://ABC.eks.example", caBundle: "Q0E=" },
  ...{ serviceCidr: "10.100.0.0/16", clusterDns: "10.100.0.10" },
};
const ipv6 = { ...cluster, serviceCidr: "fd30:1c53:5f8a::/108", clusterDns: "fd30:1c53:5f8a::a" };

const EVERYTHING: KubeletConfiguration = {
  clusterDNS: ["10.0.0.53", "10.0.0.54"],
  maxPods: 42,
  podsPerCore: 8,
  systemReserved: { cpu: "100m", memory: "200Mi", "ephemeral-storage": "1Gi", pid: "1000" },
  kubeReserved: { cpu: "90m", memory: "574Mi", "ephemeral-storage": "2Gi" },
  evictionHard: { "memory.available": "5%", "nodefs.available": "10%", "nodefs.inodesFree": "10%" },
  evictionSoft: { "memory.available": "500Mi", "imagefs.available": "15%" },
  evictionSoftGracePeriod: { "memory.available": "1m", "imagefs.available": "1m30s" },
  evictionMaxPodGracePeriod: 60,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  cpuCFSQuota: false,
};

const ANY_FIELD: KubeletConfiguration = {
  featureGates: { UserNamespacesSupport: true },
  serializeImagePulls: false,
  memoryThrottlingFactor: 0.9,
  reservedMemory: [{ numaNode: 0, limits: { memory: "1100Mi" } }],
  logging: { options: { json: { infoBufferSize: "0" } } },
  shutdownGracePeriodByPodPriority: [],
};

const SCRIPT = "#!/bin/bash\necho hello\n";
const MIME = [
  ...[
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="BOUNDARY"',
    "",
    "--BOUNDARY",
    "Content-Type: text/x-shellscript; charset=us-ascii",
    "",
  ],
  ...[
    "echo first",
    "",
    "--BOUNDARY",
    "Content-Type: text/cloud-config",
    "Content-Disposition: attachment",
    "",
    "runcmd: [echo second]",
    "",
    "--BOUNDARY--",
    "",
  ],
].join("\n");
const NODE_CONFIG =
  "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 5\n      topologyManagerPolicy: best-effort\n";
const SETTINGS = [
  ...["[settings.kubernetes]", 'cluster-name = "another"', "max-pods = 5", 'cloud-provider = "external"'],
  ...[
    "",
    "[settings.kubernetes.node-labels]",
    'team = "theirs"',
    'zone = "theirs"',
    "",
    "[settings.kubernetes.node-taints]",
    'theirs = ["x:NoSchedule"]',
  ],
  ...["", "[settings.ntp]", 'time-servers = ["169.254.169.123"]', ""],
].join("\n");
const EMPTY_RAID = { instanceStorePolicy: "RAID0" as const };
const ALL = { kubelet: EVERYTHING, maxPods: 42, ...EMPTY_RAID };

const CASES: Readonly<Record<string, Partial<UserDataInput> & Pick<UserDataInput, "family">>> = {
  "al2.sh": { family: "AL2" },
  "al2-all-settings.sh": { family: "AL2", ...ALL },
  "al2-script.sh": { family: "AL2", userData: SCRIPT },
  "al2-mime.sh": { family: "AL2", userData: MIME },
  "al2-ipv6.sh": { family: "AL2", cluster: ipv6 },
  "al2023.yaml": { family: "AL2023" },
  "al2023-all-settings.yaml": { family: "AL2023", ...ALL },
  "al2023-any-kubelet-field.yaml": { family: "AL2023", kubelet: ANY_FIELD },
  "al2023-script.yaml": { family: "AL2023", userData: SCRIPT },
  "al2023-mime.yaml": { family: "AL2023", userData: MIME },
  "al2023-node-config.yaml": { family: "AL2023", userData: NODE_CONFIG },
  "al2023-ipv6.yaml": { family: "AL2023", cluster: ipv6 },
  "bottlerocket.toml": { family: "Bottlerocket" },
  "bottlerocket-all-settings.toml": { family: "Bottlerocket", ...ALL, imageVersion: "latest" },
  "bottlerocket-settings.toml": { family: "Bottlerocket", userData: SETTINGS },
  "bottlerocket-ipv6.toml": { family: "Bottlerocket", cluster: ipv6 },
  "bottlerocket-old-image.toml": { family: "Bottlerocket", imageVersion: "1.45.9", ...EMPTY_RAID },
  "windows2019.ps1": { family: "Windows2019", maxPods: 110 },
  "windows2022-all-settings.ps1": { family: "Windows2022", kubelet: EVERYTHING, maxPods: 42 },
  "windows2025-script.ps1": { family: "Windows2025", maxPods: 110, userData: "Write-Host hello" },
  "custom.sh": { family: "Custom", userData: SCRIPT },
};

function render(name: string): string {
  const { family, ...over } = CASES[name] ?? { family: "Custom" };
  return renderUserData({
    family,
    cluster,
    labels: { "karpenter.sh/nodepool": "default", team: "ours", "topology.kubernetes.io/zone": "us-west-2a" },
    taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }],
    startupTaints: [{ key: "cni.example/not-ready", effect: "NoExecute" }],
    capacityType: "spot",
    maxPods: 29,
    ...over,
  });
}

describe("user data", () => {
  it.for(Object.keys(CASES))("user data of %s equals its golden file", async (name) => {
    await expect(render(name)).toMatchFileSnapshot(join(GOLDEN, name));
  });

  it("each golden file of user data has a case", () => {
    expect(readdirSync(GOLDEN).sort()).toEqual(Object.keys(CASES).sort());
  });

  // The readers are the lab's, written independently of the renderers: its simulated instances boot from user data.
  it.for(Object.keys(CASES).filter((name) => name !== "custom.sh"))("user data of %s lets a simulated instance join correctly", (name) => {
    const read = readUserData(render(name));
    const all = name.includes("all-settings");
    expect(read).toMatchObject({ cluster: "prod", endpoint: cluster.endpoint, maxPods: all ? 42 : name.startsWith("windows") ? 110 : 29 });
    expect(read.labels).toMatchObject({ "karpenter.sh/capacity-type": "spot", "karpenter.sh/nodepool": "default", team: "ours" });
    expect(Object.keys(read.labels)).not.toContain("topology.kubernetes.io/zone");
    expect(read.taints.map(({ key }) => key).sort()).toEqual(["cni.example/not-ready", "dedicated", "karpenter.sh/unregistered"]);
  });

  it("user data of Bottlerocket keeps foreign settings and overwrites ours", () => {
    const { settings } = parseToml(render("bottlerocket-settings.toml")) as {
      settings: { kubernetes: Record<string, unknown>; ntp: object };
    };
    expect(settings.ntp).toEqual({ "time-servers": ["169.254.169.123"] });
    expect(settings.kubernetes).toMatchObject({
      "cluster-name": "prod",
      "cloud-provider": "external",
      "node-labels": { team: "ours", zone: "theirs" },
    });
    expect(settings.kubernetes["node-taints"]).not.toHaveProperty("theirs");
  });

  it("user data of AL2023 has the user's NodeConfig first, so that ours wins", () => {
    const documents = render("al2023-node-config.yaml")
      .split(/^--\/\/(?:--)?$/m)
      .filter((part) => part.includes("NodeConfig"));
    const limits = documents.map((part) => parse(part.slice(part.indexOf("\n\n"))).spec.kubelet.config);
    expect(limits.map(({ maxPods }) => maxPods)).toEqual([5, 29]);
    expect(limits[0]).toHaveProperty("topologyManagerPolicy");
  });
});
