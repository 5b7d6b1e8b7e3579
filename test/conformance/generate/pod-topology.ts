import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { PodAffinityTerm, TopologySpreadConstraint } from "#core/model/pod.ts";
import type { Mix } from "./mix.ts";
import type { Random } from "./random.ts";

export const NAMESPACES = ["default", "other"];

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

/** Topology spread constraints of a workload, nearly always over its own pods. */
export function spreads(random: Random, mix: Mix, app: string): TopologySpreadConstraint[] {
  const keys = [ZONE, ZONE, HOST, "karpenter.sh/capacity-type", "kubernetes.io/arch"];
  if (random.chance(mix.rareKeys)) keys.push("example.com/rack", "example.com/tier", "node.kubernetes.io/instance-type");
  const hard = mix.spreads >= mix.preferences ? 0.7 : 0.1;
  return [...new Set(random.some(keys, 1, 2))].map((topologyKey): TopologySpreadConstraint => {
    const whenUnsatisfiable = random.chance(hard) ? "DoNotSchedule" : "ScheduleAnyway";
    return {
      maxSkew: random.int(1, 3),
      topologyKey,
      whenUnsatisfiable,
      labelSelector: selector(random, random.chance(0.9) ? app : anyApp(random)),
      ...(random.chance(0.3) ? { matchLabelKeys: ["pod-template-hash"] } : {}),
      ...(whenUnsatisfiable === "DoNotSchedule" && random.chance(0.2) ? { minDomains: random.int(1, 4) } : {}),
      ...(random.chance(0.2) ? { nodeAffinityPolicy: random.pick(["Honor", "Ignore"] as const) } : {}),
      ...(random.chance(0.2) ? { nodeTaintsPolicy: random.pick(["Honor", "Ignore"] as const) } : {}),
    };
  });
}

const anyApp = (random: Random): string => `app-${random.int(0, 8)}`;

function selector(random: Random, app: string): LabelSelector {
  if (random.chance(0.75)) return { matchLabels: { app } };
  return random.chance(0.85)
    ? { matchExpressions: [{ key: "app", operator: "In", values: [...new Set([app, anyApp(random)])] }] }
    : {
        matchExpressions: [
          { key: "app", operator: "Exists" },
          // Plans do not consider anti-affinity to pods of DaemonSets.
          { key: "app", operator: "NotIn", values: [anyApp(random), "agent-0", "agent-1", "agent-2"] },
        ],
      };
}

/** Pod affinity (`with`) or anti-affinity (`apart`), mostly to pods of the same workload. */
export function podAffinity(random: Random, mix: Mix, app: string, side: "with" | "apart") {
  const required = random.chance(mix.affinity * 0.45);
  const preferred = random.chance(mix.preferences * 0.35);
  return {
    requiredDuringSchedulingIgnoredDuringExecution: required
      ? Array.from({ length: random.chance(0.85) ? 1 : 2 }, () => term(random, mix, app, side))
      : undefined,
    preferredDuringSchedulingIgnoredDuringExecution: preferred
      ? Array.from({ length: random.int(1, 2) }, () => ({ weight: random.int(1, 100), podAffinityTerm: term(random, mix, app, side) }))
      : undefined,
  };
}

function term(random: Random, mix: Mix, app: string, side: "with" | "apart"): PodAffinityTerm {
  const keys = side === "with" ? [ZONE, ZONE, HOST, "karpenter.sh/capacity-type"] : [HOST, HOST, ZONE, "karpenter.sh/capacity-type"];
  if (random.chance(mix.rareKeys)) keys.push("example.com/rack", "kubernetes.io/arch");
  const many = random.chance(0.12);
  return {
    labelSelector: selector(random, random.chance(0.6) ? app : anyApp(random)),
    topologyKey: random.pick(keys),
    ...(many ? { namespaces: [...NAMESPACES] } : {}),
    ...(!many && random.chance(0.12)
      ? { namespaceSelector: random.chance(0.5) ? {} : { matchLabels: { env: random.pick(["prod", "dev"]) } } }
      : {}),
    ...(random.chance(mix.rareKeys * 0.15) ? { matchLabelKeys: ["pod-template-hash"] } : {}),
    ...(random.chance(mix.rareKeys * 0.1) ? { mismatchLabelKeys: ["track"] } : {}),
  };
}
