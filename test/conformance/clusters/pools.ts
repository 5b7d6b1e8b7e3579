import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import type { NodePool, NodeSelectorRequirementWithMinValues } from "#core/model/node-pool.ts";
import { type UpMachine, upMachine } from "../../support/disruption/carry-out.ts";
import type { Random } from "../generate/random.ts";
import { singleValue } from "./catalogue-types.ts";
import type { ClusterKind } from "./kinds.ts";

type Requirement = NodeSelectorRequirementWithMinValues;

const INSTANCE_SIZE = "karpenter.k8s.aws/instance-size";
const CAPACITY_TYPE = "karpenter.sh/capacity-type";

/**
 * One to `kind.pools` NodePools. The first accepts any pod; others are for a team, with a label and a taint, or for one
 * architecture or generation.
 */
export function clusterPools(random: Random, kind: ClusterKind): NodePool[] {
  const count = kind.pools === 1 ? 1 : random.int(2, kind.pools);
  return Array.from({ length: count }, (_, i) => pool(random, kind, i));
}

function pool(random: Random, kind: ClusterKind, i: number): NodePool {
  const name = i === 0 ? "default" : `pool-${i}`;
  const isTeam = i > 0 && random.chance(0.5);
  const requirements: Requirement[] = [
    { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
    { key: CAPACITY_TYPE, operator: "In", values: capacityTypes(random, kind) },
  ];
  if (i > 0 && random.chance(0.4)) requirements.push({ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] });
  if (i > 0 && random.chance(0.3)) requirements.push({ key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["4"] });
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name, uid: `uid-${name}`, creationTimestamp: "2025-12-01T00:00:00Z" },
    spec: {
      template: {
        metadata: isTeam ? { labels: { team: name } } : {},
        spec: {
          requirements,
          nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
          expireAfter: "Never",
          ...(isTeam ? { taints: [{ key: "team", value: name, effect: "NoSchedule" as const }] } : {}),
        },
      },
      disruption: { consolidateAfter: "0s", consolidationPolicy: "WhenEmptyOrUnderutilized", budgets: random.pick(kind.budgets) },
      ...(random.chance(0.3) ? { weight: random.int(1, 100) } : {}),
    },
    status: { conditions: ["ValidationSucceeded", "NodeClassReady", "Ready"].map((type) => ({ type, status: "True" as const })) },
  };
}

function capacityTypes(random: Random, { spot }: ClusterKind): string[] {
  if (!random.chance(spot)) return ["on-demand"];
  return random.chance(0.25) ? ["spot"] : ["on-demand", "spot"];
}

interface Way {
  readonly type: InstanceType;
  readonly offering: Offering;
}

/** The offerings of the NodePool in the sizes of the kind. */
function waysOf({ spec }: NodePool, kind: ClusterKind, types: readonly InstanceType[]): readonly Way[] {
  const wanted = spec.template.spec.requirements ?? [];
  const admits = (key: string, value: string): boolean =>
    wanted.every(
      (one) => one.key !== key || (one.operator === "Gt" ? Number(value) > Number(one.values?.[0]) : (one.values ?? []).includes(value)),
    );
  return types.flatMap((type) => {
    const fits =
      kind.sizes.includes(singleValue(type, INSTANCE_SIZE)) &&
      ["kubernetes.io/arch", "karpenter.k8s.aws/instance-generation"].every((key) => admits(key, singleValue(type, key)));
    return fits ? type.offerings.flatMap((o) => (o.available && admits(CAPACITY_TYPE, o.capacityType) ? [{ type, offering: o }] : [])) : [];
  });
}

/** A machine of the cluster and its NodePool. */
export interface PoolMachine extends UpMachine {
  readonly pool: NodePool;
}

/**
 * `count` machines that are up and consolidatable; the shares of the NodePools are uneven, the first is the largest.
 */
export function poolMachines(
  random: Random,
  kind: ClusterKind,
  pools: readonly NodePool[],
  types: readonly InstanceType[],
  count: number,
): PoolMachine[] {
  const ways = new Map(pools.map((one) => [one, waysOf(one, kind, types)]));
  const usable = pools.filter((one) => (ways.get(one) ?? []).length > 0);
  return Array.from({ length: count }, (_, i) => {
    const one = random.chance(0.4) ? (usable[0] ?? random.pick(pools)) : random.pick(usable);
    const { requirements = [], taints = [] } = one.spec.template.spec;
    const planned = { nodePool: one.metadata.name, requirements, taints, labels: one.spec.template.metadata?.labels ?? {} };
    return { ...withIds(upMachine(`node-${i}`, planned, random.pick(ways.get(one) ?? [])), kind, random), pool: one };
  });
}

/** Adds UIDs and kinds as the API server does; some nodes get karpenter.sh/do-not-disrupt. */
function withIds({ node, claim }: UpMachine, { doNotDisrupt }: ClusterKind, random: Random): UpMachine {
  const annotations = random.chance(doNotDisrupt) ? { annotations: { "karpenter.sh/do-not-disrupt": "true" } } : {};
  return {
    node: { apiVersion: "v1", kind: "Node", ...node, metadata: { ...node.metadata, ...annotations, uid: `uid-${node.metadata.name}` } },
    claim: {
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      ...claim,
      metadata: { ...claim.metadata, uid: `uid-${claim.metadata.name}` },
    },
  };
}
