import { parse } from "yaml";
import type { Taint, TaintEffect } from "#core/model/taint.ts";
import { parseToml, type Toml } from "./toml.ts";

/** What the user data of a machine say, before its kubelet starts. */
export interface Bootstrap {
  readonly cluster: string;
  readonly endpoint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly kubeReserved?: Readonly<Record<string, string>>;
  readonly systemReserved?: Readonly<Record<string, string>>;
  readonly evictionHard?: Readonly<Record<string, string>>;
  /** The image makes one array of the local disks at boot, and pods write to it. */
  readonly localDisks?: "raid0";
}

/** The operating systems whose user data differ. */
export type Image = "linux" | "bottlerocket" | "windows";

/** The image that the user data are for. */
export function imageOf(userData: string): Image {
  if (/^\s*(\[|[\w.]+\s*=)/.test(userData.replaceAll(/^\s*#.*$/gm, "").trimStart())) return "bottlerocket";
  return userData.includes("<powershell>") ? "windows" : "linux";
}

/**
 * Reads user data as nodeadm (AL2023), bootstrap.sh (AL2), Bottlerocket or Windows would. Throws Error with a sentence
 * when a machine could not join with it: no cluster, unreadable settings, labels that a kubelet may not set itself.
 */
export function readUserData(userData: string): Bootstrap {
  if (userData.trim() === "") throw new Error("the user data is empty: the machine cannot know its cluster");
  const read = {
    bottlerocket: fromBottlerocket,
    windows: (text: string) => fromCommand(text, "-EKSClusterName", "-APIServerEndpoint", "-KubeletExtraArgs"),
    linux: fromLinux,
  };
  const bootstrap = read[imageOf(userData)](userData);
  if (bootstrap.cluster === "") throw new Error("the user data names no cluster");
  for (const key of Object.keys(bootstrap.labels)) {
    if (!allowedLabel(key)) throw new Error(`a kubelet may not give itself the label "${key}"; leave it out of the user data`);
  }
  return bootstrap;
}

const KUBELET_LABELS = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
]);

/** The kubelet's check of --node-labels (kubernetes: cmd/kubelet/app/options/options.go, ValidateKubeletFlags). */
function allowedLabel(key: string): boolean {
  const domain = key.includes("/") ? (key.split("/")[0] ?? "") : "";
  const reserved = /(^|\.)(kubernetes\.io|k8s\.io)$/.test(domain);
  return !reserved || KUBELET_LABELS.has(key) || /(^|\.)(kubelet|node)\.kubernetes\.io$/.test(domain);
}

function fromLinux(userData: string): Bootstrap {
  const parts = mimeParts(userData);
  const configs = parts.filter((p) => p.type.startsWith("application/node.eks.aws")).map((p) => p.body);
  if (configs.length > 0) return fromNodeConfigs(configs);
  const script = parts.find((p) => p.body.includes("bootstrap.sh"));
  if (script) {
    const command = fromCommand(script.body.replaceAll(/\\\n/g, " "), "bootstrap.sh", "--apiserver-endpoint", "--kubelet-extra-args");
    return { ...command, ...(/--local-disks[ =]+raid0\b/.test(script.body) && { localDisks: "raid0" as const }) };
  }
  throw new Error("the user data holds neither a NodeConfig nor a bootstrap command: the machine cannot join");
}

interface MimePart {
  readonly type: string;
  readonly body: string;
}

function mimeParts(text: string): readonly MimePart[] {
  const normal = text.replaceAll("\r\n", "\n").trimStart();
  const boundary = /^Content-Type:\s*multipart\/[^;]+;\s*boundary="?([^"\n]+)"?/im.exec(normal)?.[1];
  if (boundary === undefined) {
    return [{ type: normal.includes("node.eks.aws/") ? "application/node.eks.aws" : "text/x-shellscript", body: normal }];
  }
  return normal
    .split(`--${boundary}`)
    .slice(1)
    .filter((part) => !part.startsWith("--"))
    .map((part) => {
      const [head = "", ...body] = part.trimStart().split("\n\n");
      return { type: /Content-Type:\s*([^\n]+)/i.exec(head)?.[1]?.trim() ?? "text/plain", body: body.join("\n\n") };
    });
}

interface NodeConfig {
  readonly kind?: string;
  readonly spec?: {
    readonly cluster?: {
      readonly name?: string;
      readonly apiServerEndpoint?: string;
      readonly certificateAuthority?: string;
      readonly cidr?: string;
    };
    readonly instance?: { readonly localStorage?: { readonly strategy?: string } };
    readonly kubelet?: {
      readonly flags?: readonly string[];
      readonly config?: {
        readonly maxPods?: number;
        readonly podsPerCore?: number;
        readonly registerWithTaints?: readonly Taint[];
        readonly kubeReserved?: Readonly<Record<string, string>>;
        readonly systemReserved?: Readonly<Record<string, string>>;
        readonly evictionHard?: Readonly<Record<string, string>>;
      };
    };
  };
}

/** nodeadm merges the documents in order: maps by key; flags are appended. */
function fromNodeConfigs(documents: readonly string[]): Bootstrap {
  let cluster: NonNullable<NonNullable<NodeConfig["spec"]>["cluster"]> = {};
  let config: NonNullable<NonNullable<NonNullable<NodeConfig["spec"]>["kubelet"]>["config"]> = {};
  const flags: string[] = [];
  let strategy: string | undefined;
  for (const document of documents) {
    const parsed = parse(document) as NodeConfig | null;
    if (parsed?.kind !== "NodeConfig") throw new Error("a part of type application/node.eks.aws is no NodeConfig");
    cluster = { ...cluster, ...parsed.spec?.cluster };
    config = { ...config, ...parsed.spec?.kubelet?.config };
    strategy = parsed.spec?.instance?.localStorage?.strategy ?? strategy;
    flags.push(...(parsed.spec?.kubelet?.flags ?? []));
  }
  for (const field of ["name", "apiServerEndpoint", "certificateAuthority", "cidr"] as const) {
    if (!cluster[field]) throw new Error(`the NodeConfig lacks spec.cluster.${field}: nodeadm stops there`);
  }
  const { labels, taints, maxPods, podsPerCore } = fromFlags(flags.join(" "));
  const { kubeReserved, systemReserved, evictionHard } = config;
  const pods = config.maxPods ?? maxPods;
  const perCore = config.podsPerCore ?? podsPerCore;
  return {
    cluster: cluster.name ?? "",
    endpoint: cluster.apiServerEndpoint ?? "",
    labels,
    taints: [...(config.registerWithTaints ?? []), ...taints],
    ...(pods !== undefined && { maxPods: pods }),
    ...(perCore !== undefined && { podsPerCore: perCore }),
    ...(kubeReserved && { kubeReserved }),
    ...(systemReserved && { systemReserved }),
    ...(evictionHard && { evictionHard }),
    ...(strategy === "RAID0" && { localDisks: "raid0" as const }),
  };
}

/** Reads a bootstrap command: the quoted value after each flag. */
function fromCommand(script: string, clusterFlag: string, endpointFlag: string, argsFlag: string): Bootstrap {
  const after = (flag: string): string | undefined => {
    const found = new RegExp(`${flag.replaceAll(/[.-]/g, "\\$&")}[ =]+(?:'([^']*)'|"([^"]*)"|(\\S+))`).exec(script);
    return found?.[1] ?? found?.[2] ?? found?.[3];
  };
  return { cluster: after(clusterFlag) ?? "", endpoint: after(endpointFlag) ?? "", ...fromFlags(after(argsFlag) ?? "") };
}

function fromFlags(
  text: string,
): Pick<Bootstrap, "labels" | "taints" | "maxPods" | "podsPerCore" | "kubeReserved" | "systemReserved" | "evictionHard"> {
  const flag = (name: string): string | undefined => {
    const found = new RegExp(`--${name}=(?:"([^"]*)"|'([^']*)'|(\\S+))`).exec(text);
    return found?.[1] ?? found?.[2] ?? found?.[3];
  };
  const list = (name: string): string[] => (flag(name) ?? "").split(",").filter((s) => s !== "");
  const pairs = (name: string, separator: string): Record<string, string> | undefined => {
    const items = list(name).map((item) => item.split(separator));
    return items.length === 0 ? undefined : Object.fromEntries(items.map(([key = "", ...value]) => [key, value.join(separator)]));
  };
  const [kubeReserved, systemReserved, evictionHard] = [
    pairs("kube-reserved", "="),
    pairs("system-reserved", "="),
    pairs("eviction-hard", "<"),
  ];
  const maxPods = flag("max-pods");
  const podsPerCore = flag("pods-per-core");
  return {
    labels: pairs("node-labels", "=") ?? {},
    taints: list("register-with-taints").map(taintOf),
    ...(maxPods !== undefined && { maxPods: Number(maxPods) }),
    ...(podsPerCore !== undefined && { podsPerCore: Number(podsPerCore) }),
    ...(kubeReserved && { kubeReserved }),
    ...(systemReserved && { systemReserved }),
    ...(evictionHard && { evictionHard }),
  };
}

/** "key=value:Effect" or "key:Effect". */
function taintOf(text: string): Taint {
  const [, key = "", value, effect = ""] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  if (key === "") throw new Error(`"${text}" is no taint; write it as key=value:Effect`);
  return { key, ...(value && { value }), effect: effect as TaintEffect };
}

function fromBottlerocket(text: string): Bootstrap {
  const settings = table(parseToml(text)["settings"]);
  const kubernetes = table(settings["kubernetes"]);
  const strings = (value: unknown): Record<string, string> =>
    Object.fromEntries(Object.entries(table(value)).map(([k, v]) => [k, String(v)]));
  const taints = Object.entries(table(kubernetes["node-taints"])).flatMap(([key, values]) =>
    (Array.isArray(values) ? values : [values]).map((v) => {
      const [value, effect = ""] = String(v).split(/:(?=[^:]*$)/);
      return { key, ...(value && { value }), effect: effect as TaintEffect };
    }),
  );
  for (const field of ["api-server", "cluster-certificate"]) {
    if (!kubernetes[field]) throw new Error(`the settings lack settings.kubernetes.${field}: the machine cannot reach its cluster`);
  }
  const maxPods = kubernetes["max-pods"];
  return {
    cluster: String(kubernetes["cluster-name"] ?? ""),
    endpoint: String(kubernetes["api-server"] ?? ""),
    labels: strings(kubernetes["node-labels"]),
    taints,
    ...(maxPods !== undefined && { maxPods: Number(maxPods) }),
    ...(kubernetes["kube-reserved"] !== undefined && { kubeReserved: strings(kubernetes["kube-reserved"]) }),
    ...(kubernetes["system-reserved"] !== undefined && { systemReserved: strings(kubernetes["system-reserved"]) }),
    ...(kubernetes["eviction-hard"] !== undefined && { evictionHard: strings(kubernetes["eviction-hard"]) }),
    ...(JSON.stringify(settings["bootstrap-commands"] ?? "").includes('"ephemeral-storage","init"') && { localDisks: "raid0" as const }),
  };
}

const table = (value: Toml[string] | undefined | unknown): Toml =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Toml) : {};
