import { expect, it } from "vitest";
import { withCondition } from "#core/model/conditions.ts";
import type { Lab, LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { RATE_NODES } from "../support/effort.ts";
import { alive, ids, MINUTE, messages, pass, podsOf, ready, runningPods, SECOND, until } from "../support/lab-story.ts";

const LARGE = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] };

const poolNamed = (name: string, spec: object = {}, label = "one", expireAfter = "720h"): ApiObject => {
  const pool = nodePool([ON_DEMAND, LARGE], spec) as unknown as { readonly spec: { readonly template: { readonly spec: object } } };
  const template = { metadata: { labels: { team: name, version: label } }, spec: { ...pool.spec.template.spec, expireAfter } };
  return { ...pool, metadata: { name }, spec: { ...pool.spec, template } } as unknown as ApiObject;
};

/** Pods of which each fills a node of the pool of the same name. */
const workload = (name: string, replicas: number): ApiObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        nodeSelector: { team: name },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "c", image: "pause", resources: { requests: { cpu: "1500m" } } }],
      },
    },
  },
});

/** So many NodePools with so many full nodes each. */
async function cluster(pools: number, nodes: number, options: Partial<LabOptions> = {}, spec: object = {}): Promise<Lab> {
  const names = Array.from({ length: pools }, (_, i) => `pool-${i}`);
  const lab = await ready([NODE_CLASS, ...names.flatMap((name) => [poolNamed(name, spec), workload(name, nodes)])], options);
  await until(lab, () => runningPods(lab) === pools * nodes, 5 * MINUTE);
  return lab;
}

function changeAll(lab: Lab, pools: number): void {
  for (let i = 0; i < pools; i++) lab.world.apply(poolNamed(`pool-${i}`, {}, "two"));
}

/** How many of these machines have ended. */
const lost = (lab: Lab, before: readonly string[]): number => {
  const left = new Set(ids(lab));
  return before.filter((id) => !left.has(id)).length;
};

/** Pods on machines that were not there before crash, as on an AMI that does not suit them. */
async function passWithCrashes(lab: Lab, ms: number, nodes: ReadonlySet<string | undefined>): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5 * SECOND) {
    await pass(lab, 5 * SECOND);
    for (const { metadata, spec, status } of podsOf(lab)) {
      if (status?.phase !== "Running" || nodes.has(spec?.nodeName)) continue;
      lab.world.store.patch("Pod", metadata.name, metadata.namespace, { user: "kubelet", subresource: "status" }, (pod) => {
        const now = lab.world.clock.now();
        const conditions = withCondition((pod.status?.conditions ?? []) as never, { type: "Ready", status: "False" }, { now });
        return { ...pod, status: { ...pod.status, conditions } };
      });
    }
  }
}

it("an AMI on which pods crash drifts through one or two nodes of 12 NodePools of an EC2NodeClass", async () => {
  const lab = await cluster(12, RATE_NODES);
  const before = ids(lab);
  const nodes = new Set(podsOf(lab).map(({ spec }) => spec?.nodeName));
  changeAll(lab, 12);
  await passWithCrashes(lab, 30 * MINUTE, nodes);
  expect(lost(lab, before)).toBeGreaterThanOrEqual(1);
  expect(lost(lab, before)).toBeLessThanOrEqual(2);
  lab.close();
});

it("an AMI on which pods crash drifts through one or two nodes of a NodePool", async () => {
  const lab = await cluster(1, 12, {}, { disruption: { consolidateAfter: "30s", budgets: [{ nodes: "100%" }] } });
  const before = ids(lab);
  const nodes = new Set(podsOf(lab).map(({ spec }) => spec?.nodeName));
  const spec = { disruption: { consolidateAfter: "30s", budgets: [{ nodes: "100%" }] } };
  lab.world.apply(poolNamed("pool-0", spec, "two"));
  await passWithCrashes(lab, 30 * MINUTE, nodes);
  expect(lost(lab, before)).toBeGreaterThanOrEqual(1);
  expect(lost(lab, before)).toBeLessThanOrEqual(2);
  const opened = lab.world.events.filter(({ reason }) => reason === "CircuitBreakerOpen").map(({ message }) => message);
  expect(opened[0]).toMatch(/^Disruption reason Drifted is held for NodePool\/pool-0 until \S+ UTC: only \d+ % of the pods that command/);
  lab.close();
});

it("a drift whose pods stay well ends nodes of the whole cluster, twice as many each time", async () => {
  const nodes = 12 * RATE_NODES;
  const lab = await cluster(12, RATE_NODES);
  const before = ids(lab);
  changeAll(lab, 12);
  // Ten, twenty, and the rest. At ten each time the last of 24 nodes would end after twenty minutes.
  await until(lab, () => lost(lab, before) === nodes, (nodes > 30 ? 25 : 18) * MINUTE);
  expect(runningPods(lab)).toBeGreaterThan(nodes - 8);
  const said = lab.world.events.some(({ message }) => message.includes("disruption rate (DISRUPTION_RATE) is used up: 10 nodes in 10m"));
  expect(said).toBe(true);
  lab.close();
});

it("nodes that expire keep to the rate, and those that are late say by how much", async () => {
  const nodes = RATE_NODES === 4 ? 30 : 14;
  const lab = await ready([NODE_CLASS, poolNamed("short", {}, "one", "20m"), workload("short", nodes)]);
  await until(lab, () => runningPods(lab) === nodes, 5 * MINUTE);
  const before = ids(lab);
  await pass(lab, 24 * MINUTE);
  expect(lost(lab, before)).toBeLessThanOrEqual(10);
  expect(lab.world.events.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^Node has expired .* ago: the cluster's/));
  await pass(lab, 20 * MINUTE);
  expect(lost(lab, before)).toBe(nodes);
  lab.close();
});

it("machines without a NodeClaim that were nodes keep to the rate", async () => {
  const lab = await cluster(1, 28);
  const before = ids(lab);
  await pass(lab, 6 * MINUTE);
  for (const record of (await lab.deps.store.list(lab.world.cluster)).slice(0, 13)) {
    const { name } = record;
    await lab.deps.store.remove(record);
    lab.world.store.patch("NodeClaim", name, undefined, { user: "a person" }, (claim) => ({
      ...claim,
      metadata: { ...claim.metadata, finalizers: [] },
    }));
    lab.world.delete("NodeClaim", name);
  }
  await until(lab, () => lost(lab, before) > 0, 8 * MINUTE);
  await pass(lab, 30 * SECOND);
  expect(lost(lab, before)).toBe(10);
  expect(messages(lab)).toContain("instance without a NodeClaim is kept, the cluster's disruption rate is used up");
  await pass(lab, 10 * MINUTE);
  expect(lost(lab, before)).toBe(13);
  lab.close();
});

it("a NodePool that a person lets go all at once, empty nodes and a deleted NodePool are not held", async () => {
  const lab = await cluster(1, 10 * RATE_NODES);
  lab.world.scale("Deployment", "default", "pool-0", 0);
  lab.world.apply(poolNamed("pool-0", { disruption: { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] } }));
  await until(lab, () => alive(lab).length === 0, 5 * MINUTE);
  lab.close();
});
