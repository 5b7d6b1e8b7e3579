import type { InstanceType } from "#core/model/instance-type.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import type { DaemonSet, PodDisruptionBudget } from "#core/model/workloads.ts";
import { type Random, random as randomOf } from "../generate/random.ts";
import { catalogueTypes, someFamilies } from "./catalogue-types.ts";
import { Filling } from "./filling.ts";
import { CLUSTER_KINDS, type ClusterKind, type ClusterKindName } from "./kinds.ts";
import { clusterPools, poolMachines } from "./pools.ts";
import { clusterDaemons, clusterWorkload, daemonPod, podBudget, runningPod } from "./workloads.ts";

export interface ClusterRequest {
  readonly kind: ClusterKindName;
  readonly seed: number;
  readonly nodes: number;
  /** Maximum number of workload pods; by default pods are added until the nodes are full. */
  readonly pods?: number;
  /** Multiple of the requests that the kind states; default 1. */
  readonly podSize?: number;
  /** Number of general instance families on offer; by default the whole catalogue. */
  readonly families?: number;
}

/** A scenario (docs/scenario-format.md) of an underutilized cluster. */
export interface ClusterScenario {
  readonly name: string;
  readonly now: string;
  readonly nodePools: readonly NodePool[];
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  readonly instanceTypes: readonly InstanceType[];
}

/** The cluster is full after this number of consecutive workloads that fit on no node. */
const FULL_AFTER = 40;

/** An underutilized cluster. Equal requests give equal scenarios on every machine. */
export function underutilizedCluster(request: ClusterRequest): ClusterScenario {
  const { seed, nodes } = request;
  const kind = sizedKind(request);
  const name = `${request.kind}-${nodes}-${seed}`;
  const random = randomOf(name);
  const types = request.families === undefined ? catalogueTypes() : someFamilies(random, request.families);
  const nodePools = clusterPools(random, kind);
  const machines = poolMachines(random, kind, nodePools, types, nodes);
  const daemonSets = clusterDaemons(random, kind);
  const filling = new Filling(random, kind, machines);
  const agents = machines.flatMap(({ node }) => daemonSets.map((set) => daemonPod(set, node.metadata.name)));
  return {
    name,
    now: "2026-01-01T00:00:00Z",
    nodePools,
    nodes: machines.map(({ node }) => node),
    nodeClaims: machines.map(({ claim }) => claim),
    daemonSets,
    ...filled(random, kind, nodePools, filling, request, agents),
    instanceTypes: types,
  };
}

function sizedKind({ kind, podSize = 1 }: ClusterRequest): ClusterKind {
  const named = CLUSTER_KINDS[kind];
  return { ...named, cpu: named.cpu.map((one) => one * podSize), memory: named.memory.map((one) => one * podSize) };
}

function filled(
  random: Random,
  kind: ClusterKind,
  pools: readonly NodePool[],
  filling: Filling,
  { nodes, pods: most = Number.POSITIVE_INFINITY }: ClusterRequest,
  agents: readonly Pod[],
): Pick<ClusterScenario, "pods" | "podDisruptionBudgets"> {
  const pods: Pod[] = [];
  const podDisruptionBudgets: PodDisruptionBudget[] = [];
  let fruitless = 0;
  for (let i = 0; fruitless < FULL_AFTER && pods.length < most; i++) {
    const workload = clusterWorkload(random, kind, i, pools, nodes / 100);
    const places = filling.place(workload, most - pods.length);
    fruitless = places.length > 0 ? 0 : fruitless + 1;
    if (places.length > 0 && workload.isBudgeted) podDisruptionBudgets.push(podBudget(workload, podDisruptionBudgets.length % 2 === 0));
    pods.push(...places.map((node, replica) => runningPod(random, workload, replica, node, kind)));
  }
  return { pods: [...agents, ...pods], podDisruptionBudgets };
}
