/** How often each feature occurs in a scenario of one kind; shares are 0 … 1. */
export interface Mix {
  /** Maximum number of existing nodes. */
  readonly nodes: number;
  /** Maximum number of workloads, and of pods of each. */
  readonly workloads: number;
  readonly replicas: number;
  readonly taints: number;
  readonly limits: number;
  readonly minValues: number;
  /** Reserved offerings. */
  readonly reservations: number;
  readonly selectors: number;
  readonly spreads: number;
  readonly affinity: number;
  readonly preferences: number;
  readonly volumes: number;
  readonly hostPorts: number;
  /** Topology keys that only NodePools define, and rare pod features of the API. */
  readonly rareKeys: number;
  /** OR-ed required terms of node affinity; without it every other pod with a selector may have some. */
  readonly alternatives?: number;
  /** NodePools whose limit leaves at most so many cpus beside what their machines use. */
  readonly cpusLeft?: number;
}

const BASIC: Mix = {
  nodes: 0,
  workloads: 8,
  replicas: 30,
  taints: 0.2,
  limits: 0.05,
  minValues: 0.05,
  reservations: 0,
  selectors: 0.3,
  spreads: 0,
  affinity: 0,
  preferences: 0,
  volumes: 0,
  hostPorts: 0.03,
  rareKeys: 0.05,
};
const EVERYTHING: Mix = {
  nodes: 10,
  workloads: 10,
  replicas: 12,
  taints: 0.35,
  limits: 0.3,
  minValues: 0.15,
  reservations: 2,
  selectors: 0.4,
  spreads: 0.35,
  affinity: 0.3,
  preferences: 0.3,
  volumes: 0.2,
  hostPorts: 0.1,
  rareKeys: 0.4,
};

/**
 * The kinds of the given scenarios (their names begin with the kind), and five kinds of features that are rare there.
 */
export const MIXES: Readonly<Record<string, Mix>> = {
  basic: BASIC,
  mixed: EVERYTHING,
  topology: { ...BASIC, nodes: 8, spreads: 0.9, selectors: 0.4, rareKeys: 0.3 },
  affinity: { ...BASIC, nodes: 8, affinity: 0.9, replicas: 15 },
  existing: { ...BASIC, nodes: 22, spreads: 0.1, affinity: 0.1, volumes: 0.1, hostPorts: 0.1 },
  reserved: { ...BASIC, nodes: 4, reservations: 5, spreads: 0.1 },
  volumes: { ...BASIC, nodes: 10, volumes: 0.8, spreads: 0.2 },
  preferences: { ...BASIC, nodes: 4, preferences: 0.9, taints: 0.5 },
  limits: { ...BASIC, nodes: 6, limits: 0.9, minValues: 0.3, replicas: 40 },
  racks: { ...BASIC, nodes: 6, rareKeys: 0.9, spreads: 0.6, affinity: 0.3 },
  crowded: { ...EVERYTHING, nodes: 20, workloads: 14, replicas: 6, affinity: 0.6, spreads: 0.6 },
  ports: { ...BASIC, nodes: 8, hostPorts: 0.6, taints: 0.4 },
  terms: { ...BASIC, nodes: 4, limits: 0.9, cpusLeft: 40, alternatives: 0.7, spreads: 0.8, preferences: 0.3, affinity: 0.2 },
  tiny: { ...EVERYTHING, nodes: 2, workloads: 2, replicas: 3, spreads: 0.6, affinity: 0.5 },
};
