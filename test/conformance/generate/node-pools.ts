import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool, NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import type { Taint } from "#core/model/taint.ts";
import { ZONES } from "./instance-types.ts";
import type { Mix } from "./mix.ts";
import type { GeneratedMachine } from "./nodes.ts";
import type { Random } from "./random.ts";

export const COLOURS: readonly string[] = ["red", "green", "blue"];
export const TIERS: readonly string[] = ["gold", "silver"];
export const RACKS: readonly string[] = ["rack-1", "rack-2", "rack-3"];

type Requirement = NodeSelectorRequirementWithMinValues;

/** NodePools of a scenario, with drawn requirements, labels, taints, weights and limits. */
export function nodePools(random: Random, mix: Mix, types: readonly InstanceType[]): NodePool[] {
  return Array.from({ length: random.int(1, 4) }, (_, i) => nodePool(random, mix, types, `pool-${i}`));
}

function nodePool(random: Random, mix: Mix, types: readonly InstanceType[], name: string): NodePool {
  const labels = random.chance(0.2) ? { team: random.pick(COLOURS) } : undefined;
  const taints = random.chance(mix.taints) ? random.some(TAINTS(random), 1, 2) : [];
  const startupTaints: readonly Taint[] = random.chance(0.1) ? [{ key: "example.com/starting", effect: "NoSchedule" }] : [];
  const ready = random.chance(0.97);
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, uid: `uid-${name}`, creationTimestamp: "2025-12-30T00:00:00Z" },
    spec: {
      template: {
        metadata: labels === undefined ? {} : { labels },
        spec: {
          requirements: requirements(random, mix, types, labels === undefined),
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          expireAfter: "720h",
          ...(taints.length === 0 ? {} : { taints }),
          ...(startupTaints.length === 0 ? {} : { startupTaints }),
        },
      },
      disruption: { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: [{ nodes: "10%" }] },
      ...(random.chance(0.6) ? { weight: random.int(1, 100) } : {}),
      ...(random.chance(mix.limits) ? { limits: limits(random) } : {}),
    },
    status: {
      conditions: [
        { type: "ValidationSucceeded", status: "True" },
        { type: "NodeClassReady", status: ready ? "True" : "False" },
        { type: "Ready", status: ready ? "True" : "False" },
      ],
    },
  };
}

const TAINTS = (random: Random): Taint[] =>
  ["team", "dedicated"].map((key) => ({
    key,
    value: random.pick(COLOURS),
    effect: random.pick(["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"] as const),
  }));

const limits = (random: Random): Record<string, string> => ({
  ...(random.chance(0.8) ? { cpu: String(random.int(8, 250)) } : {}),
  ...(random.chance(0.4) ? { memory: `${random.int(30, 1500)}Gi` } : {}),
  ...(random.chance(0.2) ? { nodes: String(random.int(1, 6)) } : {}),
});

/** NodePools whose cpu limit is nearly used up by their machines. */
export function nearlyUsedUp(
  random: Random,
  pools: readonly NodePool[],
  machines: readonly GeneratedMachine[],
  cpusLeft: number,
): NodePool[] {
  return pools.map((pool) => {
    if (pool.spec.limits === undefined) return pool;
    const own = machines.filter(({ labels }) => labels["karpenter.sh/nodepool"] === pool.metadata.name);
    const used = own.reduce((sum, { claim }) => sum + Number(claim?.status?.capacity?.["cpu"] ?? 0), 0);
    return { ...pool, spec: { ...pool.spec, limits: { ...pool.spec.limits, cpu: String(used + random.int(0, cpusLeft)) } } };
  });
}

function requirements(random: Random, mix: Mix, types: readonly InstanceType[], mayPinTeam: boolean): Requirement[] {
  const list: Requirement[] = [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }];
  const maybe = (share: number, ...make: Requirement[]): void => void (random.chance(share) && list.push(...make));
  maybe(0.4, { key: "kubernetes.io/arch", operator: "In", values: random.some(["amd64", "arm64"]) });
  maybe(0.8, {
    key: "karpenter.sh/capacity-type",
    operator: "In",
    values: mix.reservations > 0 ? random.some(["on-demand", "spot", "reserved"]) : random.some(["on-demand", "spot"]),
  });
  maybe(0.25, { key: "topology.kubernetes.io/zone", operator: random.pick(["In", "NotIn"] as const), values: random.some(ZONES, 1, 2) });
  maybe(0.15, { key: "karpenter.k8s.aws/instance-category", operator: "In", values: random.some(["c", "m", "r", "g", "t"], 2) });
  maybe(0.1, { key: "karpenter.k8s.aws/instance-family", operator: "NotIn", values: random.some(["c5", "m5", "r6i", "m6g"], 1, 2) });
  maybe(0.15, { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["4"] });
  maybe(
    0.1,
    { key: "karpenter.k8s.aws/instance-memory", operator: "Gt", values: ["8191"] },
    { key: "karpenter.k8s.aws/instance-memory", operator: "Lt", values: ["131073"] },
  );
  maybe(0.1, { key: "karpenter.k8s.aws/instance-cpu", operator: "Lt", values: [random.pick(["9", "33", "65"])] });
  maybe(0.1, { key: "karpenter.k8s.aws/instance-gpu-count", operator: "DoesNotExist" });
  maybe(0.1, { key: "example.com/tier", operator: "In", values: [...TIERS] });
  maybe(mix.rareKeys, { key: "example.com/rack", operator: "In", values: random.some(RACKS) });
  if (mayPinTeam) maybe(0.15, { key: "team", operator: random.pick(["In", "In", "Exists"] as const), values: random.some(COLOURS) });
  maybe(mix.minValues, {
    key: "node.kubernetes.io/instance-type",
    operator: "In",
    values: random.some(
      types.map((type) => type.name),
      4,
    ),
    minValues: random.int(2, 4),
  });
  maybe(mix.minValues, { key: "karpenter.k8s.aws/instance-family", operator: "Exists", minValues: random.int(2, 3) });
  return list.map((one) => (one.operator === "Exists" ? without(one) : one));
}

const without = ({ values: _, ...rest }: Requirement): Requirement => rest;
