import fc from "fast-check";
import { expect, it } from "vitest";
import type { NodePool } from "../../../core/model/node-pool.ts";
import type { Pod, PodSpec } from "../../../core/model/pod.ts";
import { solve } from "../../../core/scheduling/solve.ts";
import { boundPod, daemonSet, nodePool, nodeWithClaim, pod, type Scenario, scenario, ZONES } from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const CAPACITY = "karpenter.sh/capacity-type";

const app = fc.constantFrom("a", "b");
const key = fc.constantFrom(ZONE, HOST, CAPACITY);
const near = fc.record({ labelSelector: app.map((name) => ({ matchLabels: { app: name } })), topologyKey: key });
const expression = fc.oneof(
  fc.record({
    key: fc.constant(ZONE),
    operator: fc.constantFrom("In" as const, "NotIn" as const),
    values: fc.subarray(ZONES, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    key: fc.constant("karpenter.k8s.aws/instance-cpu"),
    operator: fc.constantFrom("Gt" as const, "Lt" as const),
    values: fc.constantFrom(["2"], ["4"], ["8"]),
  }),
  fc.record({ key: fc.constant("team"), operator: fc.constantFrom("Exists" as const, "DoesNotExist" as const) }),
  fc.record({ key: fc.constant("team"), operator: fc.constantFrom("In" as const, "NotIn" as const), values: fc.constant(["red"]) }),
);
const term = fc.record({ matchExpressions: fc.array(expression, { minLength: 1, maxLength: 2 }) });
const optional = <T>(value: fc.Arbitrary<T>, freq = 4) => fc.option(value, { nil: undefined, freq });

const spec: fc.Arbitrary<PodSpec> = fc
  .record({
    selector: optional(fc.constantFrom({ [ZONE]: "zone-a" }, { [CAPACITY]: "on-demand" }, { "kubernetes.io/arch": "amd64" })),
    required: optional(fc.array(term, { minLength: 1, maxLength: 2 })),
    preferred: optional(term),
    together: optional(near, 6),
    apart: optional(near, 4),
    preferredApart: optional(near, 6),
    spread: optional(
      fc.record({
        maxSkew: fc.integer({ min: 1, max: 2 }),
        topologyKey: key,
        whenUnsatisfiable: fc.constantFrom("DoNotSchedule" as const, "ScheduleAnyway" as const),
        labelSelector: app.map((name) => ({ matchLabels: { app: name } })),
      }),
      3,
    ),
    tolerates: fc.boolean(),
    port: optional(fc.constant(80), 8),
    cpu: fc.constantFrom("100m", "1", "1900m", "6"),
    memory: fc.constantFrom("64Mi", "2Gi", "9Gi"),
  })
  .map(
    ({ selector, required, preferred, together, apart, preferredApart, spread, tolerates, port, cpu, memory }): PodSpec => ({
      containers: [{ name: "main", resources: { requests: { cpu, memory } }, ...(port ? { ports: [{ hostPort: port }] } : {}) }],
      ...(selector ? { nodeSelector: selector as unknown as Record<string, string> } : {}),
      affinity: {
        nodeAffinity: {
          ...(required ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } } : {}),
          ...(preferred ? { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: preferred }] } : {}),
        },
        ...(together ? { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [together] } } : {}),
        podAntiAffinity: {
          ...(apart ? { requiredDuringSchedulingIgnoredDuringExecution: [apart] } : {}),
          ...(preferredApart ? { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: preferredApart }] } : {}),
        },
      },
      ...(spread ? { topologySpreadConstraints: [spread] } : {}),
      ...(tolerates ? { tolerations: [{ key: "dedicated", operator: "Exists" as const }] } : {}),
    }),
  );

/** Groups of alike pods, as controllers make them. */
const podGroups: fc.Arbitrary<Pod[]> = fc
  .array(fc.record({ spec, app, count: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 5 })
  .map((groups) =>
    groups.flatMap(({ spec: shape, app: name, count }, g) =>
      Array.from({ length: count }, (_, i) => pod(`g${g}-${i}`, {}, shape, { labels: { app: name } })),
    ),
  );

const pools: fc.Arbitrary<NodePool[]> = fc
  .array(
    fc.record({
      weight: optional(fc.integer({ min: 1, max: 100 })),
      taint: optional(fc.constantFrom("NoSchedule" as const, "PreferNoSchedule" as const)),
      limit: optional(fc.constantFrom("4", "20")),
      team: optional(fc.constantFrom("red", "blue")),
      spot: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) =>
    list.map(({ weight, taint, limit, team, spot }, i) =>
      nodePool(`pool-${i}`, {
        requirements: spot ? [] : [{ key: CAPACITY, operator: "In", values: ["on-demand"] }],
        ...(weight ? { weight } : {}),
        ...(taint ? { taints: [{ key: "dedicated", effect: taint }] } : {}),
        ...(limit ? { limits: { cpu: limit } } : {}),
        ...(team ? { labels: { team } } : {}),
      }),
    ),
  );

const clusters: fc.Arbitrary<Scenario> = fc
  .record({
    pods: podGroups,
    nodePools: pools,
    nodes: fc.array(fc.constantFrom(...ZONES), { maxLength: 3 }),
    daemons: fc.boolean(),
    running: fc.array(fc.tuple(fc.nat(2), spec, app), { maxLength: 3 }),
  })
  .map(({ pods, nodePools, nodes, daemons, running }) => {
    const machines = nodes.map((zone, i) =>
      nodeWithClaim(`n${i}`, { pool: "pool-0", cpu: "16", labels: { [ZONE]: zone, "karpenter.k8s.aws/instance-cpu": "4" } }),
    );
    const bound = running.flatMap(([n, shape, name], i) =>
      n < nodes.length
        ? [boundPod(`old-${i}`, `n${n}`, {}, { ...shape, affinity: {}, topologySpreadConstraints: [] }, { labels: { app: name } })]
        : [],
    );
    return scenario({
      pods: [...pods, ...bound],
      nodePools,
      nodes: machines.map(({ node }) => node),
      nodeClaims: machines.map(({ claim }) => claim),
      daemonSets: daemons ? [daemonSet("agent", { cpu: "100m", memory: "128Mi" }, { tolerations: [{ operator: "Exists" }] })] : [],
    });
  });

const RUNS = { numRuns: 1000, seed: 5 };

it("breaks no hard rule, and places every pending pod once or says why not", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = solve(scenarioToSnapshot(cluster));
      expect(brokenRules(cluster, planToJson(plan, 0))).toEqual([]);
      const told = [...plan.newNodeClaims, ...plan.existingNodes].flatMap(({ pods }) => pods).concat(Object.keys(plan.podErrors));
      const pending = cluster.pods
        .filter(({ spec: { nodeName } }) => nodeName === undefined)
        .map(({ metadata }) => `default/${metadata.name}`);
      expect(told.sort()).toEqual(pending.sort());
      for (const reason of Object.values(plan.podErrors)) expect(reason.length).toBeGreaterThan(10);
    }),
    RUNS,
  );
});

it("gives the same plan for the same cluster in any order", () => {
  fc.assert(
    fc.property(clusters, fc.integer(), (cluster, seed) => {
      const order = <T>(list: readonly T[]): T[] =>
        list
          .map((item, i) => ({ item, at: Math.imul(i + 1, seed | 1) >>> 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
      const shuffled = {
        ...cluster,
        pods: order(cluster.pods),
        nodePools: order(cluster.nodePools),
        nodes: order(cluster.nodes),
        nodeClaims: order(cluster.nodeClaims),
        instanceTypes: order(cluster.instanceTypes),
      };
      expect(solve(scenarioToSnapshot(shuffled))).toEqual(solve(scenarioToSnapshot(cluster)));
    }),
    { ...RUNS, numRuns: 200 },
  );
});

it("launches nothing more once its plan is carried out", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = solve(scenarioToSnapshot(cluster));
      const nodeOf = new Map([
        ...plan.existingNodes.flatMap(({ name, pods }) => pods.map((p) => [p, name] as const)),
        ...plan.newNodeClaims.flatMap(({ pods }, i) => pods.map((p) => [p, `new-${i}`] as const)),
      ]);
      const machines = plan.newNodeClaims.map((claim, i) => {
        const type = cluster.instanceTypes.find(({ name }) => name === claim.instanceTypes[0]);
        const fixed = claim.requirements.flatMap(({ key: k, operator, values }) =>
          operator === "In" && values?.[0] ? [[k, values[0]] as const] : [],
        );
        const own = (type?.requirements ?? []).flatMap(({ key: k, values }) => (values?.[0] ? [[k, values[0]] as const] : []));
        return nodeWithClaim(`new-${i}`, {
          pool: claim.nodePool,
          cpu: String(type?.capacity["cpu"]),
          taints: claim.taints,
          labels: { ...Object.fromEntries(own), ...Object.fromEntries(fixed), ...claim.labels },
        });
      });
      const after = {
        ...cluster,
        nodes: [...cluster.nodes, ...machines.map(({ node }) => node)],
        nodeClaims: [...cluster.nodeClaims, ...machines.map(({ claim }) => claim)],
        pods: cluster.pods.map((p) => {
          const nodeName = nodeOf.get(`default/${p.metadata.name}`);
          return nodeName === undefined ? p : { ...p, spec: { ...p.spec, nodeName }, status: { phase: "Running" as const } };
        }),
      };
      const again = solve(scenarioToSnapshot(after));
      // What was left may find company or room now; what was placed must not be planned again.
      const placed = [...again.newNodeClaims, ...again.existingNodes].flatMap(({ pods }) => pods);
      expect(placed.filter((name) => nodeOf.has(name))).toEqual([]);
      if (Object.keys(plan.podErrors).length === 0) expect(again).toEqual({ newNodeClaims: [], existingNodes: [], podErrors: {} });
    }),
    { ...RUNS, numRuns: 200 },
  );
});
