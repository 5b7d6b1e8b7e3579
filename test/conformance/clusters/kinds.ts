import type { Budget } from "#core/model/node-pool.ts";

/** The shape of a cluster before consolidation; shares are 0 … 1. */
export interface ClusterKind {
  /** Maximum number of NodePools. */
  readonly pools: number;
  /** Instance sizes of its nodes. */
  readonly sizes: readonly string[];
  /** Requests of pods: millicores, and MiB. */
  readonly cpu: readonly number[];
  readonly memory: readonly number[];
  /** Maximum replicas of a workload for each hundred nodes. */
  readonly replicas: number;
  /** Range of the share to which each node is filled. */
  readonly fill: readonly [number, number];
  /** Share of pools that may buy spot, alone or beside on-demand. */
  readonly spot: number;
  /** Share of workloads that are spread over zones or hosts. */
  readonly spread: number;
  /** Share of workloads with pod affinity or anti-affinity. */
  readonly affinity: number;
  /** Share of workloads that ask for a zone, an architecture or a capacity type. */
  readonly selectors: number;
  /** Share of workloads with a PodDisruptionBudget; half of those allow no disruption. */
  readonly budgetsOfPods: number;
  /** Share of pods, and of nodes, with karpenter.sh/do-not-disrupt. */
  readonly doNotDisrupt: number;
  readonly daemons: number;
  /** Share of nodes without any pod of a workload. */
  readonly empty: number;
  /** Lists of disruption budgets; each NodePool draws one list. */
  readonly budgets: readonly (readonly Budget[])[];
}

const OPEN: readonly Budget[] = [{ nodes: "100%" }];

/** The shape of the given clusters of the benchmark: one on-demand NodePool, each node about a quarter full. */
const QUARTER_FULL: ClusterKind = {
  pools: 1,
  sizes: ["xlarge", "2xlarge", "3xlarge", "4xlarge"],
  cpu: [100, 250, 500, 1000],
  memory: [128, 256, 512, 1024],
  replicas: 8,
  fill: [0.05, 0.45],
  spot: 0,
  spread: 0,
  affinity: 0,
  selectors: 0,
  budgetsOfPods: 0,
  doNotDisrupt: 0,
  daemons: 0,
  empty: 0,
  budgets: [OPEN],
};

export const CLUSTER_KINDS = {
  "quarter-full": QUARTER_FULL,
  "many-pools": { ...QUARTER_FULL, pools: 6, selectors: 0.2, spot: 0.3 },
  "mixed-sizes": {
    ...QUARTER_FULL,
    sizes: ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge"],
    cpu: [50, 100, 250, 500, 1000, 2000, 6000],
    memory: [64, 128, 512, 1024, 4096, 12288],
    fill: [0.02, 0.7],
  },
  "spot-mix": { ...QUARTER_FULL, pools: 3, spot: 0.8, selectors: 0.15 },
  constrained: { ...QUARTER_FULL, pools: 2, spread: 0.45, affinity: 0.3, selectors: 0.1 },
  guarded: { ...QUARTER_FULL, pools: 2, budgetsOfPods: 0.15, doNotDisrupt: 0.02, spot: 0.3 },
  budgeted: {
    ...QUARTER_FULL,
    pools: 3,
    budgets: [OPEN, [{ nodes: "50%", reasons: ["Underutilized"] }], [{ nodes: "30%" }], [{ nodes: "10" }, { nodes: "80%" }]],
  },
  daemons: { ...QUARTER_FULL, pools: 2, daemons: 3, empty: 0.15, fill: [0.1, 0.5] },
  mixed: {
    ...QUARTER_FULL,
    pools: 4,
    sizes: ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge"],
    cpu: [50, 100, 250, 500, 1000, 3000],
    memory: [128, 256, 512, 1024, 4096],
    fill: [0.05, 0.6],
    spot: 0.5,
    spread: 0.2,
    affinity: 0.15,
    selectors: 0.2,
    budgetsOfPods: 0.08,
    doNotDisrupt: 0.01,
    daemons: 2,
    empty: 0.05,
    budgets: [OPEN, OPEN, [{ nodes: "50%" }]],
  },
} as const satisfies Readonly<Record<string, ClusterKind>>;

export type ClusterKindName = keyof typeof CLUSTER_KINDS;
