import { expect, it } from "vitest";
import { scenarioToSnapshot } from "#cli/scenario/scenario.ts";
import { nameOf } from "../../support/scheduling/judge-rules.ts";
import { underutilizedCluster } from "./cluster.ts";
import { replay } from "./replay.ts";
import { ourTrail, type Pass, type Trail } from "./trail.ts";

const scenario = underutilizedCluster({ kind: "daemons", seed: 3, nodes: 12, families: 6 });
const trail = ourTrail(scenarioToSnapshot(scenario));

/** The trail with one pass changed: the first pass that moves pods. */
function altered(change: (pass: Pass) => Partial<Pass>): Trail {
  const which = trail.passes.findIndex(({ landed }) => Object.keys(landed).length > 0);
  return { ...trail, passes: trail.passes.slice(0, which + 1).map((pass, i) => (i === which ? { ...pass, ...change(pass) } : pass)) };
}

it("a replay of our trail finds no broken rule, and counts nodes, pods and cost", () => {
  const account = replay(scenario, trail);
  expect(account.broken).toEqual([]);
  expect(account.after).toBeLessThan(account.before);
  expect(account.nodesAfter).toBe(account.nodesBefore - account.nodesGone + account.nodesBought);
  expect(account.podsMoved).toBe(trail.passes.reduce((sum, { landed }) => sum + Object.keys(landed).length, 0));
  expect(account.before - account.after).toBeCloseTo(
    trail.passes.reduce((sum, { savings }) => sum + savings, 0),
    6,
  );
});

it("a replay reports a pod that fits no node any more", () => {
  const lost = altered(({ landed }) => ({ landed: Object.fromEntries(Object.entries(landed).slice(1)) }));
  expect(replay(scenario, lost).broken.join()).toContain("has no place any more");
});

it("a replay reports a node whose pods exceed its allocatable", () => {
  const gone = new Set(trail.passes.flatMap(({ candidates }) => candidates));
  const smallest = scenario.nodes.filter(({ metadata }) => !gone.has(metadata.name)).map(nameOf)[0] ?? "";
  const name = smallest.replace(/^.*\//, "");
  const crowded = altered(({ landed }) => ({ landed: Object.fromEntries(Object.keys(landed).map((pod) => [pod, name])), nodes: [] }));
  expect(replay({ ...scenario, ...shrunk(name) }, crowded).broken.join()).toContain(`node ${name} has too little`);
});

/** The cluster with a node that has no free room. */
function shrunk(name: string): object {
  const tiny = (one: { readonly status?: object }) => ({
    ...one,
    status: { ...one.status, allocatable: { cpu: "1m", memory: "1Mi", pods: "1" } },
  });
  return {
    nodes: scenario.nodes.map((node) => (node.metadata.name === name ? tiny(node) : node)),
    nodeClaims: scenario.nodeClaims.map((claim) => (claim.status?.nodeName === name ? tiny(claim) : claim)),
  };
}

it("a replay reports a removed node that may not be disrupted", () => {
  const name = trail.passes[0]?.candidates[0];
  const guarded = scenario.nodes.map((node) =>
    node.metadata.name === name
      ? { ...node, metadata: { ...node.metadata, annotations: { "karpenter.sh/do-not-disrupt": "true" } } }
      : node,
  );
  expect(replay({ ...scenario, nodes: guarded }, trail).broken).toContain(
    `pass 0 (${trail.passes[0]?.method}): ${name} is annotated do-not-disrupt`,
  );
});
