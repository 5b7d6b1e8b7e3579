import { isJsonObject, type JsonObject } from "../lib/json.ts";
import { bottlerocketSettings } from "./bottlerocket.ts";
import { kubeletFlags, nodeLabels, nodeLabelsFlag, nodeTaints } from "./kubelet-flags.ts";
import { isMime, type MimePart, NODE_CONFIG, parseMime, renderMime, SHELL_SCRIPT } from "./mime.ts";
import type { UserDataInput } from "./user-data-input.ts";
import { toYaml, type YamlValue } from "./yaml.ts";

/** EC2's limit of the decoded user data, bytes. */
export const USER_DATA_LIMIT = 16_384;

/**
 * The user data that joins a new instance to the cluster; equal inputs give equal texts. Throws RangeError when the
 * user's own part cannot be parsed.
 */
export function renderUserData(input: UserDataInput): string {
  switch (input.family) {
    case "AL2":
      return renderMime([...userParts(input.userData, () => false), { contentType: SHELL_SCRIPT, body: bootstrapScript(input) }]);
    case "AL2023":
      return renderMime([...userParts(input.userData, looksLikeYamlMap), { contentType: NODE_CONFIG, body: nodeConfig(input) }]);
    case "Bottlerocket":
      return bottlerocketSettings(input);
    case "Windows2019":
    case "Windows2022":
    case "Windows2025":
      return windowsScript(input);
    case "Custom":
      return input.userData ?? "";
  }
}

/** The user's parts precede ours, because their reader lets the last value win. */
function userParts(userData: string | undefined, isNodeConfig: (text: string) => boolean): readonly MimePart[] {
  if (userData === undefined || userData.trim() === "") return [];
  if (isMime(userData)) return parseMime(userData);
  return [{ contentType: isNodeConfig(userData) ? NODE_CONFIG : SHELL_SCRIPT, body: userData.replace(/\n+$/, "") }];
}

/** A shell script starts with "#!", a YAML map with "key:" on its first line that is not a comment. */
function looksLikeYamlMap(text: string): boolean {
  if (text.trimStart().startsWith("#!")) return false;
  const first = text.split("\n").find((line) => !/^\s*(#.*|---\s*)?$/.test(line));
  return first !== undefined && (/^\s*["']?[A-Za-z][\w./-]*["']?\s*:(\s|$)/.test(first) || first.trimStart().startsWith("{"));
}

function labelsOf(input: UserDataInput): Readonly<Record<string, string>> {
  return nodeLabels(input.labels, input.capacityType, input.family === "Custom");
}

function dnsOf({ kubelet, cluster }: UserDataInput): string | undefined {
  return kubelet?.clusterDNS?.[0] ?? cluster.clusterDns;
}

function flagsOf(input: UserDataInput): string {
  return kubeletFlags(labelsOf(input), nodeTaints(input.taints, input.startupTaints), input.kubelet, input.maxPods);
}

function bootstrapScript(input: UserDataInput): string {
  const dns = dnsOf(input);
  const command = [
    `/etc/eks/bootstrap.sh '${input.cluster.name}' --apiserver-endpoint '${input.cluster.endpoint}' --b64-cluster-ca '${input.cluster.caBundle}'`,
    dns?.includes(":") ? "--ip-family ipv6" : undefined,
    dns === undefined ? undefined : `--dns-cluster-ip '${dns}'`,
    input.maxPods === undefined ? undefined : "--use-max-pods false",
    `--kubelet-extra-args '${flagsOf(input)}'`,
    input.instanceStorePolicy === "RAID0" ? "--local-disks raid0" : undefined,
  ];
  return [
    "#!/bin/bash -xe",
    "exec > >(tee /var/log/user-data.log | logger -t user-data -s 2>/dev/console) 2>&1",
    command.filter((line) => line !== undefined).join(" \\\n"),
  ].join("\n");
}

/** Maps of strings that older objects may hold numbers in; they are written sorted, all other fields as they are. */
const TEXT_MAPS: ReadonlySet<string> = new Set([
  ...["kubeReserved", "systemReserved", "evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim"],
]);

function texts(map: JsonObject): YamlValue {
  const entries = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

function nodeConfig(input: UserDataInput): string {
  const { cluster, kubelet, instanceStorePolicy } = input;
  const taints = nodeTaints(input.taints, input.startupTaints);
  const dns = dnsOf(input);
  const config: Record<string, YamlValue> = {};
  for (const [key, value] of Object.entries(kubelet ?? {})) {
    config[key] = TEXT_MAPS.has(key) && isJsonObject(value) ? texts(value) : (value as YamlValue);
  }
  return toYaml({
    apiVersion: "node.eks.aws/v1alpha1",
    kind: "NodeConfig",
    spec: {
      cluster: {
        name: cluster.name,
        apiServerEndpoint: cluster.endpoint,
        certificateAuthority: cluster.caBundle,
        ...(cluster.serviceCidr !== undefined && { cidr: cluster.serviceCidr }),
      },
      ...(instanceStorePolicy === "RAID0" && { instance: { localStorage: { strategy: "RAID0" } } }),
      kubelet: {
        config: {
          ...config,
          ...(dns !== undefined && { clusterDNS: kubelet?.clusterDNS ?? [dns] }),
          ...(input.maxPods !== undefined && { maxPods: input.maxPods }),
          registerWithTaints: taints.map(({ key, value, effect }) => ({ key, ...(value && { value }), effect })),
        },
        flags: [nodeLabelsFlag(labelsOf(input))],
      },
    },
  }).trimEnd();
}

function windowsScript(input: UserDataInput): string {
  const dns = dnsOf(input);
  const { name, endpoint, caBundle } = input.cluster;
  return [
    "<powershell>",
    ...(input.userData === undefined ? [] : [input.userData]),
    '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    `& $EKSBootstrapScriptFile -EKSClusterName '${name}' -APIServerEndpoint '${endpoint}' -Base64ClusterCA '${caBundle}' -KubeletExtraArgs '${flagsOf(input)}'${
      dns === undefined ? "" : ` -DNSClusterIP '${dns}'`
    }`,
    "</powershell>",
  ].join("\n");
}
