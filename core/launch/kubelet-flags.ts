import type { ResourceList } from "../model/kubernetes.ts";
import { CAPACITY_TYPE, DO_NOT_SYNC_TAINTS, UNREGISTERED_TAINT } from "../model/labels.ts";
import type { KubeletConfiguration } from "../model/node-class.ts";
import type { Taint } from "../model/taint.ts";
import { describeTaint } from "../pods/taints.ts";

/** Label domains that a kubelet may not set on its own node; registration puts these labels on the node. */
const RESERVED_DOMAINS = ["kubernetes.io", "k8s.io", "node-restriction.kubernetes.io"];

/**
 * Labels that the kubelet sets on its node, by key. Only nodes of `custom` images get their taints again at
 * registration, because their user data may not set them.
 */
export function nodeLabels(
  labels: Readonly<Record<string, string>>,
  capacityType: string,
  custom: boolean,
): Readonly<Record<string, string>> {
  const all: Record<string, string> = { ...labels, [CAPACITY_TYPE]: capacityType, ...(!custom && { [DO_NOT_SYNC_TAINTS]: "true" }) };
  const allowed = Object.entries(all).filter(([key]) => {
    const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
    return !RESERVED_DOMAINS.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
  });
  return Object.fromEntries(allowed.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Taints that the kubelet registers with: the NodeClaim's, its startup taints, and the taint that keeps pods off until
 * registration.
 */
export function nodeTaints(taints: readonly Taint[] = [], startupTaints: readonly Taint[] = []): readonly Taint[] {
  const all = [...taints, ...startupTaints];
  const guarded = all.some(({ key, effect }) => key === UNREGISTERED_TAINT.key && effect === UNREGISTERED_TAINT.effect);
  return guarded ? all : [...all, UNREGISTERED_TAINT];
}

/** `--node-labels` with the labels by name, quoted for a shell. */
export function nodeLabelsFlag(labels: Readonly<Record<string, string>>): string {
  return `--node-labels="${pairs(labels, "=")}"`;
}

/**
 * The kubelet's flags as bootstrap.sh and the Windows script pass them, in a fixed order
 * (karpenter-provider-aws: pkg/providers/amifamily/bootstrap/bootstrap.go, Options.kubeletExtraArgs).
 */
export function kubeletFlags(
  labels: Readonly<Record<string, string>>,
  taints: readonly Taint[],
  kubelet: KubeletConfiguration | undefined,
  maxPods: number | undefined,
): string {
  const flags: (string | undefined)[] = [
    Object.keys(labels).length > 0 ? nodeLabelsFlag(labels) : undefined,
    taints.length > 0 ? `--register-with-taints="${taints.map(describeTaint).join(",")}"` : undefined,
    number("max-pods", maxPods),
    number("pods-per-core", kubelet?.podsPerCore),
    quoted("system-reserved", kubelet?.systemReserved, "="),
    quoted("kube-reserved", kubelet?.kubeReserved, "="),
    quoted("eviction-hard", kubelet?.evictionHard, "<"),
    quoted("eviction-soft", kubelet?.evictionSoft, "<"),
    quoted("eviction-soft-grace-period", kubelet?.evictionSoftGracePeriod, "="),
    number("eviction-max-pod-grace-period", kubelet?.evictionMaxPodGracePeriod),
    number("image-gc-high-threshold", kubelet?.imageGCHighThresholdPercent),
    number("image-gc-low-threshold", kubelet?.imageGCLowThresholdPercent),
    kubelet?.cpuCFSQuota === undefined ? undefined : `--cpu-cfs-quota=${kubelet.cpuCFSQuota}`,
  ];
  return flags.filter((flag) => flag !== undefined).join(" ");
}

function number(name: string, value: number | undefined): string | undefined {
  return value === undefined ? undefined : `--${name}=${value}`;
}

function quoted(name: string, map: ResourceList | undefined, sign: string): string | undefined {
  return map && Object.keys(map).length > 0 ? `--${name}="${pairs(map, sign)}"` : undefined;
}

function pairs(map: ResourceList, sign: string): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}${sign}${map[key]}`)
    .join(",");
}
