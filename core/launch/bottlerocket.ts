import { ownValue } from "../lib/own-value.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import { nodeLabels, nodeTaints } from "./kubelet-flags.ts";
import { isTable, parseToml, renderToml, type TomlTable, type TomlValue } from "./toml.ts";
import type { UserDataInput } from "./user-data-input.ts";

/** First Bottlerocket release that finds the directories on the instance store by itself. */
const BINDS_WITHOUT_DIRS = [1, 46, 0];

/**
 * The settings of a Bottlerocket node: the user's, with ours written over them. Taints are replaced, labels are merged,
 * all other tables are kept. Karpenter drops settings.kubernetes keys that it does not know; we keep them.
 */
export function bottlerocketSettings(input: UserDataInput): string {
  const root = parseToml(input.userData ?? "");
  const settings = table(root, "settings");
  const kubernetes = table(settings, "kubernetes");
  const { cluster, kubelet } = input;
  const dns = kubelet?.clusterDNS?.[0] ?? cluster.clusterDns;
  const put = (key: string, value: TomlValue | undefined): void => {
    if (value !== undefined) kubernetes[key] = value;
  };
  put("api-server", cluster.endpoint);
  put("cluster-certificate", cluster.caBundle);
  put("cluster-name", cluster.name);
  put("cluster-dns-ip", dns);
  put("max-pods", integer(input.maxPods));
  put("system-reserved", texts(kubelet?.systemReserved));
  put("kube-reserved", texts(kubelet?.kubeReserved));
  put("eviction-hard", texts(kubelet?.evictionHard));
  put("eviction-soft", texts(kubelet?.evictionSoft));
  put("eviction-soft-grace-period", texts(kubelet?.evictionSoftGracePeriod));
  put("eviction-max-pod-grace-period", integer(kubelet?.evictionMaxPodGracePeriod));
  put("image-gc-high-threshold-percent", text(kubelet?.imageGCHighThresholdPercent));
  put("image-gc-low-threshold-percent", text(kubelet?.imageGCLowThresholdPercent));
  put("cpu-cfs-quota-enforced", kubelet?.cpuCFSQuota);
  Object.assign(table(kubernetes, "node-labels"), nodeLabels(input.labels, input.capacityType, false));
  kubernetes["node-taints"] = taintsByKey(input);
  if (input.instanceStorePolicy === "RAID0") {
    table(settings, "bootstrap-commands")["000-mount-instance-storage"] = mountCommand(input.imageVersion);
  }
  return renderToml(root);
}

function table(parent: TomlTable, key: string): TomlTable {
  const present = ownValue(parent, key);
  if (isTable(present)) return present;
  const made: TomlTable = {};
  parent[key] = made;
  return made;
}

function taintsByKey(input: UserDataInput): TomlTable {
  const byKey = new Map<string, string[]>();
  for (const { key, value, effect } of nodeTaints(input.taints, input.startupTaints)) {
    byKey.set(key, [...(byKey.get(key) ?? []), `${value ?? ""}:${effect}`]);
  }
  return Object.fromEntries(byKey);
}

function mountCommand(imageVersion: string | undefined): TomlTable {
  const bind = ["apiclient", "ephemeral-storage", "bind"];
  const old = ["--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"];
  return {
    commands: [["apiclient", "ephemeral-storage", "init"], bindsWithoutDirs(imageVersion) ? bind : [...bind, ...old]],
    essential: true,
    mode: "always",
  };
}

function bindsWithoutDirs(imageVersion: string | undefined): boolean {
  if (imageVersion === "latest") return true;
  const parts = imageVersion?.replace(/^v+/, "").split(".").map(Number);
  if (parts === undefined || parts.some(Number.isNaN)) return false;
  for (const [i, least] of BINDS_WITHOUT_DIRS.entries()) {
    const part = parts[i] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

function texts(map: ResourceList | undefined): TomlTable | undefined {
  if (map === undefined || Object.keys(map).length === 0) return undefined;
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));
}

function integer(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
