import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "#core/lib/fnv.ts";
import { INSTANCE_TYPE } from "#core/model/labels.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { withInFlight } from "#core/provisioning/in-flight.ts";
import { intentFor } from "#core/provisioning/intent.ts";
import { solve } from "#core/scheduling/solve.ts";
import { drawsOf } from "../../support/effort.ts";
import { clusters, shuffled } from "../../support/scheduling/arbitraries.ts";
import { nodeWithClaim, type Scenario } from "../../support/scheduling/builders.ts";
import { brokenRules } from "../../support/scheduling/check-plan.ts";
import { planToJson, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";

const RUNS = { numRuns: drawsOf(150), seed: 20_261_121 };
const NOTHING: Plan = { newNodeClaims: [], existingNodes: [], podErrors: {} };

const placedBy = ({ newNodeClaims, existingNodes }: Plan): string[] => [...newNodeClaims, ...existingNodes].flatMap(({ pods }) => pods);

it("a plan breaks no hard rule, and places every pending pod once or gives a reason", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = solve(scenarioToSnapshot(cluster));
      expect(brokenRules(cluster, planToJson(plan, 0))).toEqual([]);
      const published = [...placedBy(plan), ...Object.keys(plan.podErrors)];
      const pending = cluster.pods.filter(({ spec }) => spec.nodeName === undefined).map(({ metadata }) => `default/${metadata.name}`);
      expect(published.sort()).toEqual(pending.sort());
      for (const reason of Object.values(plan.podErrors)) {
        expect(reason).toMatch(/^(NodePools? |the pod)/);
        expect(reason).not.toMatch(/undefined|NaN|planned-claim/);
      }
    }),
    RUNS,
  );
});

it("the same cluster, listed in any order, gets the same plan byte for byte", () => {
  fc.assert(
    fc.property(clusters, fc.integer(), (cluster, seed) => {
      // With sorted keys, because a pool's taints are copied as they were written.
      const plan = canonicalJson(solve(scenarioToSnapshot(cluster)));
      expect(canonicalJson(solve(scenarioToSnapshot(shuffled(cluster, seed))))).toBe(plan);
    }),
    { ...RUNS, numRuns: drawsOf(80) },
  );
});

/** The cluster after the plan's nodes have joined and its pods are bound. */
function carriedOut(cluster: Scenario, plan: Plan): Scenario {
  const nodeOf = new Map([
    // A launched claim joins as the node whose name its own name contains.
    ...plan.existingNodes.flatMap(({ name, pods }) => pods.map((p) => [p, name.replace(/^pool-\d-/, "")] as const)),
    ...plan.newNodeClaims.flatMap(({ pods }, i) => pods.map((p) => [p, `new-${i}`] as const)),
  ]);
  const launched = plan.newNodeClaims.map((claim, i) => {
    const type = cluster.instanceTypes.find(({ name }) => name === claim.instanceTypes[0]);
    const single = [...(type?.requirements ?? []), ...claim.requirements].flatMap(({ key, operator, values }) =>
      operator === "In" && values?.[0] && key !== INSTANCE_TYPE ? [[key, values[0]] as const] : [],
    );
    return nodeWithClaim(`new-${i}`, {
      pool: claim.nodePool,
      cpu: String(type?.capacity["cpu"]),
      memory: String(type?.capacity["memory"]),
      taints: claim.taints,
      labels: { ...Object.fromEntries(single), ...claim.labels, [INSTANCE_TYPE]: type?.name ?? "" },
    });
  });
  const joined = cluster.nodeClaims
    .filter(({ status }) => !cluster.nodes.some(({ spec }) => spec.providerID === status?.providerID))
    .map(({ metadata }) => {
      const { "karpenter.sh/nodepool": pool = "", ...labels } = metadata.labels ?? {};
      return nodeWithClaim(metadata.name.replace(/^pool-\d-/, ""), { pool, cpu: "16", labels }).node;
    });
  return {
    ...cluster,
    nodes: [...cluster.nodes, ...joined, ...launched.map(({ node }) => node)],
    nodeClaims: [...cluster.nodeClaims, ...launched.map(({ claim }) => claim)],
    pods: cluster.pods.map((p) => {
      const nodeName = nodeOf.get(`default/${p.metadata.name}`);
      return nodeName === undefined ? p : { ...p, spec: { ...p.spec, nodeName }, status: { phase: "Running" as const } };
    }),
  };
}

/**
 * The snapshot after the plan is stored and before anything is launched: NodeClaims are intents, and pods are nominated
 * to them.
 */
function intended(snapshot: Snapshot, plan: Plan): Snapshot {
  const nominated = new Map<string, string>();
  const records = plan.newNodeClaims.flatMap((planned, i) => {
    const pool = snapshot.nodePools.find(({ metadata }) => metadata.name === planned.nodePool);
    if (pool === undefined) return [];
    const podUids = planned.pods.map((name) => `uid-${name.replace("default/", "")}`);
    const record = intentFor(planned, pool, {
      cluster: "c",
      id: `intent-${i}`,
      name: `intent-${i}`,
      now: 0,
      reason: "provisioned",
      podUids,
    });
    for (const uid of podUids) nominated.set(uid, record.name);
    return [record];
  });
  const bound = new Map(plan.existingNodes.flatMap(({ name, pods }) => pods.map((pod) => [pod, name] as const)));
  const nodes = new Set(snapshot.nodes.map(({ metadata }) => metadata.name));
  for (const [pod, name] of bound) if (!nodes.has(name)) nominated.set(`uid-${pod.replace("default/", "")}`, name);
  const pods = snapshot.pods.map((pod) => {
    const nodeName = bound.get(`default/${pod.metadata.name}`) ?? "";
    return nodes.has(nodeName) ? { ...pod, spec: { ...pod.spec, nodeName } } : pod;
  });
  return withInFlight({ ...snapshot, pods, nominated }, records);
}

it("a plan that is carried out leaves nothing more to launch", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const plan = solve(scenarioToSnapshot(cluster));
      const again = solve(scenarioToSnapshot(carriedOut(cluster, plan)));
      // Unplaced pods may find room or matching pods now; placed pods must not be planned again.
      const placed = new Set(placedBy(plan));
      expect(placedBy(again).filter((name) => placed.has(name))).toEqual([]);
      if (Object.keys(plan.podErrors).length === 0) expect(again).toEqual(NOTHING);
    }),
    { ...RUNS, numRuns: drawsOf(80) },
  );
});

it("a second run plans no placed pod again and keeps limits while the claims of the first are not launched", () => {
  fc.assert(
    fc.property(clusters, (cluster) => {
      const snapshot = scenarioToSnapshot(cluster);
      const plan = solve(snapshot);
      const again = solve(intended(snapshot, plan));
      const placed = new Set(placedBy(plan));
      expect(placedBy(again).filter((name) => placed.has(name))).toEqual([]);
      if (Object.keys(plan.podErrors).length === 0) expect(again).toEqual(NOTHING);
      // The independent checker tests the limits against both plans together. It does not know claims of the first plan
      // as nodes.
      const both = { ...plan, newNodeClaims: [...plan.newNodeClaims, ...again.newNodeClaims], podErrors: {} };
      expect(brokenRules(cluster, planToJson(both, 0)).filter((rule) => rule.includes("may exceed its limit"))).toEqual([]);
    }),
    { ...RUNS, numRuns: drawsOf(80) },
  );
});
