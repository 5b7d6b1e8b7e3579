import fc from "fast-check";
import { fnv1a32 } from "#core/lib/fnv.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod, PodSpec } from "#core/model/pod.ts";
import { boundPod, CATALOGUE, daemonSet, instanceType, nodePool, nodeWithClaim, pod, type Scenario, scenario, ZONES } from "./builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const CAPACITY = "karpenter.sh/capacity-type";
const CPUS = "karpenter.k8s.aws/instance-cpu";
const FAMILY = "karpenter.k8s.aws/instance-family";

const optional = <T>(value: fc.Arbitrary<T>, freq = 4) => fc.option(value, { nil: undefined, freq });
const app = fc.constantFrom("a", "b");
const selector = app.map((name) => ({ matchLabels: { app: name } }));
const key = fc.constantFrom(ZONE, HOST, CAPACITY);
const near = fc.record({ labelSelector: selector, topologyKey: key });
const expression = fc.oneof(
  fc.record({
    key: fc.constant(ZONE),
    operator: fc.constantFrom("In" as const, "NotIn" as const),
    values: fc.subarray(ZONES, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constant(CPUS),
    operator: fc.constantFrom("Gt" as const, "Lt" as const),
    values: fc.constantFrom(["2"], ["4"], ["8"]),
  }),
  fc.record({ key: fc.constant("team"), operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const) }),
  fc.record({ key: fc.constant("team"), operator: fc.constantFrom("In" as const, "NotIn" as const), values: fc.constant(["red"]) }),
);
const term = fc.record({ matchExpressions: fc.array(expression, { minLength: 1, maxLength: 2 }) });
const spread = fc.record(
  {
    maxSkew: fc.integer({ min: 1, max: 2 }),
    topologyKey: key,
    whenUnsatisfiable: fc.constantFrom("DoNotSchedule" as const, "ScheduleAnyway" as const),
    labelSelector: selector,
    minDomains: fc.integer({ min: 1, max: 4 }),
    matchLabelKeys: fc.constant(["version"]),
    nodeAffinityPolicy: fc.constant("Ignore" as const),
    nodeTaintsPolicy: fc.constant("Honor" as const),
  },
  { requiredKeys: ["maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector"] },
);

/** A pod spec that draws on every field that restricts the node of a pod. */
const podSpec: fc.Arbitrary<PodSpec> = fc
  .record({
    nodeSelector: optional(fc.constantFrom<Record<string, string>>({ [ZONE]: "zone-a" }, { [CAPACITY]: "on-demand" }, { team: "red" }), 6),
    required: optional(fc.array(term, { minLength: 1, maxLength: 2 })),
    preferred: optional(term),
    together: optional(near, 6),
    apart: optional(near, 4),
    preferredApart: optional(near, 6),
    spreads: fc.array(spread, { maxLength: 2 }),
    tolerates: fc.boolean(),
    port: optional(fc.constantFrom(80, 9100), 8),
    claim: optional(fc.constantFrom("in-zone-b", "anywhere-but-c"), 8),
    cpu: fc.constantFrom("100m", "1", "1900m", "6"),
    memory: fc.constantFrom("64Mi", "2Gi", "9Gi"),
    atStart: optional(fc.constantFrom("500m", "3"), 8),
  })
  .map(
    (podData): PodSpec => ({
      containers: [
        {
          name: "main",
          resources: { requests: { cpu: podData.cpu, memory: podData.memory } },
          ...(podData.port === undefined ? {} : { ports: [{ hostPort: podData.port }] }),
        },
      ],
      ...(podData.atStart === undefined ? {} : { initContainers: [{ name: "first", resources: { requests: { cpu: podData.atStart } } }] }),
      ...(podData.nodeSelector === undefined ? {} : { nodeSelector: podData.nodeSelector }),
      affinity: {
        nodeAffinity: {
          ...(podData.required ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: podData.required } } : {}),
          ...(podData.preferred ? { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: podData.preferred }] } : {}),
        },
        ...(podData.together ? { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podData.together] } } : {}),
        podAntiAffinity: {
          ...(podData.apart ? { requiredDuringSchedulingIgnoredDuringExecution: [podData.apart] } : {}),
          ...(podData.preferredApart
            ? { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: podData.preferredApart }] }
            : {}),
        },
      },
      topologySpreadConstraints: podData.spreads,
      ...(podData.tolerates ? { tolerations: [{ key: "dedicated", operator: "Exists" as const }] } : {}),
      ...(podData.claim === undefined ? {} : { volumes: [{ name: "data", persistentVolumeClaim: { claimName: podData.claim } }] }),
    }),
  );

const VOLUMES = {
  persistentVolumeClaims: [
    {
      metadata: { name: "in-zone-b", namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { volumeName: "b" },
    },
    { metadata: { name: "anywhere-but-c", namespace: "default" }, spec: { storageClassName: "not-c" } },
  ],
  persistentVolumes: [
    {
      metadata: { name: "b" },
      spec: {
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: ["zone-b"] }] }] } },
      },
    },
  ],
  storageClasses: [
    {
      metadata: { name: "not-c" },
      provisioner: "ebs.csi.aws.com",
      volumeBindingMode: "WaitForFirstConsumer",
      allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ["zone-a", "zone-b"] }] }],
    },
  ],
};

/** Groups of identical pods, as controllers make them. */
const podGroups: fc.Arbitrary<Pod[]> = fc
  .array(fc.record({ spec: podSpec, app, version: fc.constantFrom("1", "2"), count: fc.integer({ min: 1, max: 4 }) }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((groups) =>
    groups.flatMap(({ spec, app: name, version, count }, g) =>
      Array.from({ length: count }, (_, i) => pod(`g${g}-${i}`, {}, spec, { labels: { app: name, version } })),
    ),
  );

const pools: fc.Arbitrary<NodePool[]> = fc
  .array(
    fc.record({
      weight: optional(fc.integer({ min: 1, max: 100 })),
      taint: optional(fc.constantFrom("NoSchedule" as const, "PreferNoSchedule" as const)),
      limits: optional(fc.constantFrom<Record<string, string>>({ cpu: "4" }, { cpu: "20" }, { nodes: "2" }, { cpu: "30", memory: "64Gi" })),
      team: optional(fc.constantFrom("red", "blue")),
      spot: fc.boolean(),
      zones: optional(fc.subarray(ZONES, { minLength: 1, maxLength: 2 }), 6),
      minValues: optional(fc.constantFrom(1, 2), 8),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) =>
    list.map(({ weight, taint, limits, team, spot, zones, minValues }, i) =>
      nodePool(`pool-${i}`, {
        requirements: [
          ...(spot ? [] : [{ key: CAPACITY, operator: "In" as const, values: ["on-demand"] }]),
          ...(zones ? [{ key: ZONE, operator: "In" as const, values: zones }] : []),
          ...(minValues ? [{ key: FAMILY, operator: "Exists" as const, minValues }] : []),
        ],
        ...(weight ? { weight } : {}),
        ...(taint ? { taints: [{ key: "dedicated", effect: taint }] } : {}),
        ...(limits ? { limits } : {}),
        ...(team ? { labels: { team } } : {}),
      }),
    ),
  );

/** The small catalogue, in some cases with an expensive type, and with offerings that are not available. */
const catalogues: fc.Arbitrary<readonly InstanceType[]> = fc
  .record({ dear: fc.boolean(), gone: fc.subarray(ZONES, { maxLength: 1 }) })
  .map(({ dear, gone }) =>
    [...CATALOGUE, ...(dear ? [instanceType("r.large", 8, 64, { price: 0.9 })] : [])].map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({
        ...offering,
        available: !(gone.includes(offering.zone) && offering.capacityType === "spot"),
      })),
    })),
  );

const daemons = fc.subarray([
  daemonSet("agent", { cpu: "100m", memory: "128Mi" }, { tolerations: [{ operator: "Exists" }] }),
  daemonSet("arm", { cpu: "1" }, { nodeSelector: { "kubernetes.io/arch": "arm64" } }),
  daemonSet("exporter", {}, { containers: [{ name: "main", ports: [{ hostPort: 9100 }] }], tolerations: [{ operator: "Exists" }] }),
]);

/** Existing machines: nodes that are up, tainted or starting, and NodeClaims that are launched and have no node yet. */
const machines = fc.array(
  fc.record({ zone: fc.constantFrom(...ZONES), state: fc.constantFrom("up", "up", "tainted", "starting", "launched") }),
  { maxLength: 3 },
);

/** Small clusters that use every feature of the scheduler: pending pods, running pods, and nodes with free room. */
export const clusters: fc.Arbitrary<Scenario> = fc
  .record({
    pods: podGroups,
    nodePools: pools,
    instanceTypes: catalogues,
    nodes: machines,
    daemonSets: daemons,
    running: fc.array(fc.tuple(fc.nat(2), podSpec, app), { maxLength: 3 }),
  })
  .map(({ pods, nodePools, instanceTypes, nodes, daemonSets, running }) => {
    const present = nodes.map(({ zone, state }, i) => ({
      state,
      ...nodeWithClaim(`n${i}`, {
        pool: "pool-0",
        cpu: "16",
        labels: { [ZONE]: zone, [CPUS]: "16" },
        ...(state === "tainted" ? { taints: [{ key: "dedicated", effect: "NoSchedule" as const }] } : {}),
        ...(state === "starting"
          ? { initialized: false, taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" as const }] }
          : {}),
      }),
    }));
    const bound = running.flatMap(([n, spec, name], i) =>
      present[n] !== undefined && present[n]?.state !== "launched"
        ? [
            boundPod(
              `old-${i}`,
              `n${n}`,
              {},
              { ...spec, volumes: [], topologySpreadConstraints: [] },
              { labels: { app: name, version: "1" } },
            ),
          ]
        : [],
    );
    return scenario({
      ...VOLUMES,
      pods: [...pods, ...bound],
      nodePools,
      instanceTypes,
      nodes: present.filter(({ state }) => state !== "launched").map(({ node }) => node),
      nodeClaims: present.map(({ claim }) => claim),
      daemonSets,
    });
  });

/**
 * The same cluster as another read could return it: lists whose order has no meaning, and the fields of all maps, are
 * in another order. The fields move in the same way in all objects, because one server writes equal objects in the same
 * way.
 */
export function shuffled(cluster: Scenario, seed: number): Scenario {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return state >>> 8;
  };
  const inAnyOrder = <T>(list: readonly T[]): T[] =>
    list
      .map((item) => ({ item, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  const fields = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fields);
    if (typeof value !== "object" || value === null) return value;
    const moved = Object.entries(value).sort(([a], [b]) => fnv1a32(`${a}${seed}`) - fnv1a32(`${b}${seed}`));
    return Object.fromEntries(moved.map(([name, one]) => [name, fields(one)]));
  };
  const lists = Object.fromEntries(Object.entries(cluster).map(([name, list]) => [name, inAnyOrder(list as readonly unknown[])]));
  const { nodePools, instanceTypes, ...others } = lists as unknown as Scenario;
  const moved: Scenario = {
    ...others,
    nodePools: nodePools.map((pool) => {
      const { template } = pool.spec;
      const requirements = inAnyOrder(template.spec.requirements).map((item) => ({
        ...item,
        ...(item.values && { values: inAnyOrder(item.values) }),
      }));
      return { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } } };
    }),
    instanceTypes: instanceTypes.map((type) => ({
      ...type,
      requirements: inAnyOrder(type.requirements),
      offerings: inAnyOrder(type.offerings),
    })),
  };
  return fields(moved) as Scenario;
}
