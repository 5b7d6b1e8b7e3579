import type { InstanceType } from "#core/model/instance-type.ts";
import type { ResourceList } from "#core/model/kubernetes.ts";
import type { Container, ContainerPort, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "#core/model/pod.ts";
import type { Toleration } from "#core/model/taint.ts";
import { ZONES } from "./instance-types.ts";
import type { Mix } from "./mix.ts";
import { COLOURS, RACKS, TIERS } from "./node-pools.ts";
import { podAffinity, spreads } from "./pod-topology.ts";
import type { Random } from "./random.ts";

const CPUS = ["50m", "100m", "250m", "500m", "1", "1500m", "2", "4"];
const MEMORIES = ["64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi"];

/** The pod spec of one workload, without volumes. */
export function podSpec(random: Random, mix: Mix, app: string, types: readonly InstanceType[], nodeNames: readonly string[]): PodSpec {
  const maybe = <T>(share: number, make: () => T): T | undefined => (random.chance(share) ? make() : undefined);
  const spec: { -readonly [K in keyof PodSpec]: PodSpec[K] | undefined } = {
    containers: containers(random, mix),
    initContainers: maybe(0.12, () => initContainers(random)),
    overhead: maybe(0.04, () => ({ cpu: "250m", memory: "120Mi" })),
    resources: maybe(mix.rareKeys * 0.1, () => ({ requests: requests(random) })),
    nodeSelector: maybe(mix.selectors * 0.6, () => nodeSelector(random, mix, types, nodeNames)),
    tolerations: maybe(mix.taints, () => tolerations(random)),
    topologySpreadConstraints: maybe(Math.max(mix.spreads, mix.preferences * 0.4), () => spreads(random, mix, app)),
  };
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: maybe(mix.alternatives ?? mix.selectors * 0.4, () => ({
      nodeSelectorTerms: Array.from({ length: random.int(mix.alternatives === undefined ? 1 : 2, 3) }, () => term(random, mix, types)),
    })),
    preferredDuringSchedulingIgnoredDuringExecution: maybe(mix.preferences * 0.6, () =>
      Array.from({ length: random.int(1, 3) }, () => ({ weight: random.int(1, 100), preference: term(random, mix, types) })),
    ),
  };
  const affinity = {
    nodeAffinity: dropUndefined(nodeAffinity),
    podAffinity: dropUndefined(podAffinity(random, mix, app, "with")),
    podAntiAffinity: dropUndefined(podAffinity(random, mix, app, "apart")),
  };
  return { ...dropUndefined(spec), ...(dropUndefined(affinity) === undefined ? {} : { affinity: dropUndefined(affinity) }) } as PodSpec;
}

/** The object without undefined fields; undefined when nothing remains. */
function dropUndefined<T extends object>(object: T): Partial<T> | undefined {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<T>);
}

const requests = (random: Random): ResourceList => ({ cpu: random.pick(CPUS), memory: random.pick(MEMORIES) });

function containers(random: Random, mix: Mix): Container[] {
  const own: Record<string, string | number> = random.chance(0.9) ? requests(random) : { cpu: random.pick(CPUS) };
  if (random.chance(0.05)) own["cpu"] = random.pick(["8", "15", "30"]);
  if (random.chance(0.05)) own["ephemeral-storage"] = random.pick(["1Gi", "7Gi", "16Gi"]);
  const gpus = random.chance(0.05) ? { "nvidia.com/gpu": random.pick(["1", "2"]) } : undefined;
  const main: Container = {
    name: "main",
    image: "app",
    resources: { requests: { ...own, ...gpus }, ...(gpus === undefined ? {} : { limits: gpus }) },
    ...(random.chance(mix.hostPorts) ? { ports: hostPorts(random) } : {}),
  };
  if (random.chance(0.03)) return [{ name: "main", image: "app" }];
  return random.chance(0.15) ? [main, { name: "side", image: "side", resources: { requests: requests(random) } }] : [main];
}

export function hostPorts(random: Random): ContainerPort[] {
  return random.some([9100, 8080, 8443], 1, 2).map((port) => ({
    hostPort: port,
    containerPort: port,
    protocol: random.pick(["TCP", "TCP", "UDP"]),
    ...(random.chance(0.25) ? { hostIP: random.pick(["10.0.0.1", "10.0.0.2", "0.0.0.0"]) } : {}),
  }));
}

function initContainers(random: Random): Container[] {
  return Array.from({ length: random.int(1, 3) }, (_, i) => ({
    name: `init-${i}`,
    image: "init",
    resources: { requests: requests(random) },
    ...(random.chance(0.5) ? { restartPolicy: "Always" } : {}),
  }));
}

function nodeSelector(random: Random, mix: Mix, types: readonly InstanceType[], nodeNames: readonly string[]): Record<string, string> {
  const { key, values = [] } = place(random, mix, types);
  const other: Record<string, string> = random.chance(0.15) ? { "kubernetes.io/os": "linux" } : {};
  if (nodeNames.length > 0 && random.chance(0.06)) return { "kubernetes.io/hostname": random.pick(nodeNames) };
  return { ...other, [key]: random.pick(values) };
}

/** A requirement on a label that nodes may have, with values that some nodes have. */
function place(random: Random, mix: Mix, types: readonly InstanceType[]): NodeSelectorRequirement & { readonly values: readonly string[] } {
  const of = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
  const type = random.pick(types).name;
  return random.pick([
    of("topology.kubernetes.io/zone", ...ZONES, ...(random.chance(0.1) ? ["us-west-2z"] : [])),
    of("karpenter.sh/capacity-type", "spot", "on-demand"),
    of("kubernetes.io/arch", "amd64", "arm64"),
    of("karpenter.k8s.aws/instance-size", "large", "xlarge", "2xlarge", "4xlarge"),
    of("karpenter.k8s.aws/instance-category", "c", "m", "r"),
    of("karpenter.k8s.aws/instance-family", "c5", "m5", "m6g", "r6i", "c6g"),
    of("karpenter.sh/nodepool", "pool-0", "pool-1"),
    of("node.kubernetes.io/instance-type", type),
    of("team", ...COLOURS),
    of("example.com/tier", ...TIERS),
    ...(random.chance(mix.rareKeys)
      ? [
          of("example.com/rack", ...RACKS),
          of("topology.kubernetes.io/region", "us-west-2"),
          of("failure-domain.beta.kubernetes.io/zone", ...ZONES),
        ]
      : []),
  ]);
}

function term(random: Random, mix: Mix, types: readonly InstanceType[]): NodeSelectorTerm {
  return { matchExpressions: Array.from({ length: random.int(1, 2) }, () => expression(random, mix, types)) };
}

function expression(random: Random, mix: Mix, types: readonly InstanceType[]): NodeSelectorRequirement {
  const { key, values } = place(random, mix, types);
  if (random.chance(0.15)) {
    const operator = random.pick(["Gt", "Lt"] as const);
    return random.chance(0.5)
      ? { key: "karpenter.k8s.aws/instance-cpu", operator, values: [random.pick(["3", "7", "15", "31"])] }
      : { key: "karpenter.k8s.aws/instance-memory", operator, values: [random.pick(["8191", "16385", "65537"])] };
  }
  const operator = random.pick(["In", "In", "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"] as const);
  return operator === "In" || operator === "NotIn" ? { key, operator, values: random.some(values, 1, 3) } : { key, operator };
}

function tolerations(random: Random): Toleration[] {
  if (random.chance(0.15)) return [{ operator: "Exists" }];
  return random.some(["team", "dedicated"]).map((key) => ({
    key,
    ...(random.chance(0.5) ? { operator: "Exists" as const } : { operator: "Equal" as const, value: random.pick(COLOURS) }),
    ...(random.chance(0.3) ? { effect: random.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"]) } : {}),
  }));
}
