import fc from "fast-check";
import { expect, it } from "vitest";
import { headroomOf } from "#core/capacity-buffers/headroom.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey } from "#core/pods/predicates.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { nomineesOf } from "#core/provisioning/nominees.ts";
import { solve } from "#core/scheduling/solve.ts";
import { buffer, podTemplate } from "../../support/buffers.ts";
import { drawsOf } from "../../support/effort.ts";
import { nodePool, nodeWithClaim, pod, snapshotOf, ZONES } from "../../support/scheduling/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const cpu = fc.constantFrom("300m", "1", "3", "7");
const spread = {
  maxSkew: 1,
  topologyKey: ZONE,
  whenUnsatisfiable: "DoNotSchedule" as const,
  labelSelector: { matchLabels: { app: "web" } },
};
const shape = fc.constantFrom({}, { nodeSelector: { [ZONE]: "zone-b" } }, { topologySpreadConstraints: [spread] });

const clusters: fc.Arbitrary<Snapshot> = fc
  .record({
    pods: fc.array(fc.record({ cpu, shape }), { maxLength: 6 }),
    nodes: fc.array(fc.constantFrom(...ZONES), { maxLength: 3 }),
    buffers: fc.array(fc.record({ cpu, shape, replicas: fc.integer({ min: 0, max: 5 }) }), { minLength: 1, maxLength: 2 }),
    limit: fc.constantFrom(undefined, "4", "16"),
  })
  .map(({ pods, nodes, buffers, limit }) => {
    const machines = nodes.map((zone, i) => nodeWithClaim(`n${i}`, { labels: { [ZONE]: zone } }));
    const headroom = headroomOf(
      buffers.map(({ replicas }, i) => buffer({ podTemplateRef: { name: `t${i}` }, replicas }, { name: `b${i}`, uid: `b${i}` })),
      {
        podTemplates: buffers.map(({ cpu: requested, shape: spec }, i) => ({
          ...podTemplate({ cpu: requested }, spec),
          metadata: { name: `t${i}`, namespace: "default" },
        })),
        ...{ deployments: [], statefulSets: [], replicaSets: [] },
      },
    );
    const snapshot = snapshotOf({
      pods: pods.map(({ cpu: requested, shape: spec }, i) => pod(`p${i}`, { cpu: requested }, spec, { labels: { app: "web" } })),
      nodes: machines.map(({ node }) => node),
      nodeClaims: machines.map(({ claim }) => claim),
      nodePools: [nodePool("default", limit === undefined ? {} : { limits: { cpu: limit } })],
    });
    return { ...snapshot, virtualPods: headroom.flatMap((room) => room.pods) };
  });

const RUNS = { numRuns: drawsOf(100), seed: 20_261_121 };
const isVirtual = (name: string): boolean => name.includes("/capacity-buffer-");
const isReal = (name: string): boolean => !isVirtual(name);
const onNew = ({ newNodeClaims }: Plan): readonly string[] => newNodeClaims.flatMap(({ pods }) => pods);
const onExisting = ({ existingNodes }: Plan): readonly string[] => existingNodes.flatMap(({ pods }) => pods);
const left = ({ podErrors }: Plan): readonly string[] => Object.keys(podErrors);

it("a plan places each pod, virtual or real, once or says why not", () => {
  fc.assert(
    fc.property(clusters, (snapshot) => {
      const plan = solve(snapshot);
      const published = [...onNew(plan), ...onExisting(plan), ...left(plan)];
      expect(published.sort()).toEqual([...snapshot.pods, ...(snapshot.virtualPods ?? [])].map(podKey).sort());
    }),
    RUNS,
  );
});

it("virtual pods take no room from real pods and cause no NodeClaim for them", () => {
  fc.assert(
    fc.property(clusters, (snapshot) => {
      const plan = solve(snapshot);
      const without = solve({ ...snapshot, virtualPods: [] });
      expect(left(plan).filter(isReal).length).toBeLessThanOrEqual(left(without).length);
      if (onExisting(plan).some(isVirtual)) expect(onNew(plan).filter(isReal).length).toBeLessThanOrEqual(onNew(without).length);
    }),
    RUNS,
  );
});

it("a plan with buffers does not depend on the order of buffers and pods", () => {
  fc.assert(
    fc.property(clusters, (snapshot) => {
      const reversed = { ...snapshot, pods: [...snapshot.pods].reverse(), virtualPods: [...(snapshot.virtualPods ?? [])].reverse() };
      expect(solve(reversed)).toEqual(solve(snapshot));
    }),
    { ...RUNS, numRuns: drawsOf(60) },
  );
});

/** The cluster when the plan's NodeClaims are written and none is launched. */
function carriedOut(snapshot: Snapshot, plan: Plan): Snapshot {
  const nominees = nomineesOf(snapshot);
  const [pool = nodePool()] = snapshot.nodePools;
  const records = plan.newNodeClaims.map((planned, i): NodeClaimRecord => {
    const instanceTypes = snapshot.instanceTypes.get(planned.nodePool) ?? [];
    const facts = { cluster: "c", id: `intent-${i}`, name: `default-${i}`, now: 0, reason: "provisioned" as const, instanceTypes };
    return intentFor(planned, pool, { ...facts, podUids: nominees(planned) });
  });
  const nominated = new Map(records.flatMap(({ podUids, name }) => podUids.map((uid) => [uid, name])));
  const places = new Map(plan.existingNodes.flatMap(({ name, pods }) => pods.map((key) => [key, name] as const)));
  const bound = (each: Pod): Pod => {
    const nodeName = places.get(podKey(each));
    return nodeName === undefined ? each : { ...each, spec: { ...each.spec, nodeName }, status: { phase: "Running" } };
  };
  return withInFlight({ ...snapshot, pods: snapshot.pods.map(bound), nominated }, records);
}

it("a second plan launches nothing when the first plan placed every pod", () => {
  let bought = 0;
  fc.assert(
    fc.property(clusters, (snapshot) => {
      const plan = solve(snapshot);
      if (left(plan).length > 0) return;
      bought += plan.newNodeClaims.length;
      expect(solve(carriedOut(snapshot, plan))).toMatchObject({ newNodeClaims: [], podErrors: {} });
    }),
    RUNS,
  );
  expect(bought).toBeGreaterThan(drawsOf(50));
});
