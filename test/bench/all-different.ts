import type { PodSpec } from "#core/model/pod.ts";

/** A pod of which no other is a copy. */
export interface OddPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** What shapes choose from. */
export interface Choices {
  /** Names of the instance types of the catalogue, sorted. */
  readonly types: readonly string[];
  readonly zones: readonly string[];
}

export const SHAPES = [
  "excluded-types",
  "listed-types",
  "least-memory",
  "own-label",
  "own-label-key",
  "own-resource",
  "own-amounts",
  "own-spread",
  "own-anti-affinity",
  "own-expression",
  "or-terms",
  "own-port",
  "mixed",
] as const;
export type Shape = (typeof SHAPES)[number];

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const TYPE = "node.kubernetes.io/instance-type";
const REQUESTS = { cpu: "500m", memory: "1Gi" };

const at = (list: readonly string[], i: number): string => list[i % list.length] ?? "";

/** Two instance types, another pair for each pod below 10,000 (137 and 59 are coprime to the number of types). */
const pairOf = (i: number, types: readonly string[]): string[] => [
  at(types, i * 137),
  at(types, i * 59 + 1 + Math.floor(i / types.length)),
];

const required = (...terms: readonly { key: string; operator: "In" | "NotIn" | "Gt"; values: string[] }[][]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })) },
    },
  },
});

const amounts = (i: number): Readonly<Record<string, string>> => ({
  cpu: `${50 + ((i * 7919) % 3989)}m`,
  memory: `${100 + ((i * 104729) % 8191)}Mi`,
});

/**
 * Pods of which each differs from each other, as one tenant can make them. The search can share no work between such
 * pods by their class, so they show what its work grows with.
 */
const SHAPE_OF: Readonly<Record<(typeof SHAPES)[number], (i: number, choices: Choices) => OddPod>> = {
  /** Each excludes two instance types of its own. */
  "excluded-types": (i, { types }) => ({
    labels: {},
    requests: REQUESTS,
    spec: required([{ key: TYPE, operator: "NotIn", values: pairOf(i, types) }]),
  }),
  /** Each allows twelve instance types of its own. */
  "listed-types": (i, { types }) => ({
    labels: {},
    requests: { cpu: "100m", memory: "128Mi" },
    spec: required([{ key: TYPE, operator: "In", values: Array.from({ length: 12 }, (_, n) => at(types, i * 137 + n * (1 + (i % 61)))) }]),
  }),
  /** Each requires more memory of its node than another amount. */
  "least-memory": (i) => ({
    labels: {},
    requests: REQUESTS,
    spec: required([{ key: "karpenter.k8s.aws/instance-memory", operator: "Gt", values: [String(1000 + i)] }]),
  }),
  /** Each selects a label of its own, so that no two may share a node. */
  "own-label": (i) => ({ labels: {}, requests: REQUESTS, spec: { nodeSelector: { "example.com/tenant": `t-${i}` } } }),
  /** Each spreads over zones by a label key of its own. */
  "own-label-key": (i) => {
    const labels = { [`example.com/app-${i}`]: "x" };
    const rule = { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: { matchLabels: labels } };
    return { labels, requests: REQUESTS, spec: { topologySpreadConstraints: [rule] } };
  },
  /** Each requests a resource of its own, which no node has. */
  "own-resource": (i) => ({ labels: {}, requests: { ...REQUESTS, [`example.com/device-${i}`]: "1" }, spec: {} }),
  /** Each keeps away from hosts with pods of its own app, selected by an expression. */
  "own-expression": (i) => {
    const labelSelector = { matchExpressions: [{ key: "app", operator: "In" as const, values: [`app-${i}`] }] };
    const requiredDuringSchedulingIgnoredDuringExecution = [{ labelSelector, topologyKey: HOSTNAME }];
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
    return { labels: { app: `app-${i}` }, requests: REQUESTS, spec };
  },
  /** Each requests other amounts. */
  "own-amounts": (i) => ({ labels: {}, requests: amounts(i), spec: {} }),
  /** Each spreads over zones and hosts by a selector of its own. */
  "own-spread": (i) => {
    const labels = { app: `app-${i}` };
    const rule = { maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" as const, labelSelector: { matchLabels: labels } };
    const topologySpreadConstraints = [
      { ...rule, topologyKey: ZONE },
      { ...rule, topologyKey: HOSTNAME },
    ];
    return { labels, requests: REQUESTS, spec: { topologySpreadConstraints } };
  },
  /** Each keeps away from hosts with pods of its own app. */
  "own-anti-affinity": (i) => {
    const labels = { app: `app-${i}` };
    const requiredDuringSchedulingIgnoredDuringExecution = [{ labelSelector: { matchLabels: labels }, topologyKey: HOSTNAME }];
    return { labels, requests: REQUESTS, spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } } };
  },
  /** Each has three terms of node affinity, of which one must hold. */
  "or-terms": (i, { types, zones }) => ({
    labels: {},
    requests: REQUESTS,
    spec: required(
      [{ key: TYPE, operator: "In", values: pairOf(i, types) }],
      [
        { key: TYPE, operator: "NotIn", values: pairOf(i + 1, types) },
        { key: ZONE, operator: "In", values: [at(zones, i)] },
      ],
      [{ key: ZONE, operator: "NotIn", values: [at(zones, i)] }],
    ),
  }),
  /** Each uses a host port of its own. */
  "own-port": (i) => ({
    labels: {},
    requests: REQUESTS,
    spec: { containers: [{ name: "main", resources: { requests: REQUESTS }, ports: [{ containerPort: 80, hostPort: 10_000 + i }] }] },
  }),
  /** All of it: amounts, excluded types, a spread over zones, and anti-affinity of its own. */
  mixed: (i, choices) => {
    const spread = SHAPE_OF["own-spread"](i, choices);
    const apart = SHAPE_OF["own-anti-affinity"](i, choices);
    const excluded = SHAPE_OF["excluded-types"](i, choices);
    return {
      labels: spread.labels,
      requests: amounts(i),
      spec: { ...spread.spec, affinity: { ...apart.spec.affinity, ...excluded.spec.affinity } },
    };
  },
};

/** The pod of a shape with a number. */
export function oddPod(shape: Shape, i: number, choices: Choices): OddPod {
  return SHAPE_OF[shape](i, choices);
}
