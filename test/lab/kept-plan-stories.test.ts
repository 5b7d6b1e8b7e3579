import { expect, it } from "vitest";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { MINUTE, messages, pass, podsOf, ready, records, runningPods } from "../support/lab-story.ts";

const SIZES = { key: "karpenter.k8s.aws/instance-size", operator: "NotIn", values: ["nano", "micro", "small", "medium"] };
const CATEGORIES = { key: "karpenter.k8s.aws/instance-category", operator: "In", values: ["c", "m", "r"] };
const CATALOGUE = bundledCatalogue("us-west-2");

/** Pods that prefer to be spread, and that need nodes of several sizes. */
const SPREAD = ((): ApiObject => {
  const labels = { app: "web" };
  const spread = (topologyKey: string) => ({
    ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels } },
  });
  const containers = [{ name: "web", image: "web", resources: { requests: { cpu: "512m", memory: "512Mi" } } }];
  const topologySpreadConstraints = [spread("kubernetes.io/hostname"), spread("topology.kubernetes.io/zone")];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 30,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, topologySpreadConstraints } },
    },
  };
})();

it("as many nodes are launched as the first plan has, because kube-scheduler gets the plan", async () => {
  const pool = nodePool([ON_DEMAND, CATEGORIES, SIZES], {
    limits: { cpu: 100, memory: "100Gi" },
    disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" },
  });
  const lab = await ready([NODE_CLASS, pool], {
    seed: 1,
    catalogue: CATALOGUE,
  });
  lab.world.apply(SPREAD);
  await pass(lab, 10_000);
  const planned = (await records(lab)).length;
  expect(planned).toBeGreaterThan(1);
  await pass(lab, 3 * MINUTE);
  expect(messages(lab).filter((message) => message === "computed new nodeclaim(s) to fit pod(s)")).toHaveLength(1);
  expect([lab.cloud.machines().length, runningPods(lab)]).toEqual([planned, 30]);
  // Twice as dear as its neighbours, and small in memory: what Karpenter's charge of limits leaves a claim.
  expect(lab.cloud.machines().map(({ instance }) => instance.instanceType)).not.toContain("c1.xlarge");
  lab.close();
});

/** 200 pods of eight Deployments with requests that leave gaps. */
const MIXED: readonly ApiObject[] = [250, 1500, 333, 2000, 750, 100, 1000, 500].map((cpu, i) => {
  const labels = { app: `d${i}` };
  const containers = [{ name: "c", image: "i", resources: { requests: { cpu: `${cpu}m`, memory: `${[4, 1, 6, 3, 2, 5, 1, 2][i]}Gi` } } }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `d${i}`, namespace: "default" },
    spec: { replicas: 25, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
});

it.for([1, 2, 3])("pods of many sizes run on the nodes that they were planned for, however the nodes start (seed %i)", async (seed) => {
  const pool = nodePool([ON_DEMAND, CATEGORIES, SIZES], { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" } });
  const lab = await ready([NODE_CLASS, pool], { seed, catalogue: CATALOGUE });
  for (const workload of MIXED) lab.world.apply(workload);
  await pass(lab, 10_000);
  const planned = await records(lab);
  expect(planned.length).toBeGreaterThan(2);
  await pass(lab, 3 * MINUTE);
  expect([lab.cloud.machines().length, runningPods(lab)]).toEqual([planned.length, 200]);
  const claimOf = new Map(planned.flatMap(({ name, heldFor = [] }) => heldFor.map((pod) => [pod, name] as const)));
  const nodeOf = new Map(
    lab.world.store.list("NodeClaim").map(({ metadata, status }) => [metadata.name, (status as { nodeName: string }).nodeName]),
  );
  const elsewhere = podsOf(lab).filter(({ metadata, spec }) => {
    const claim = claimOf.get(`${metadata.namespace}/${metadata.name}`);
    return claim !== undefined && nodeOf.get(claim) !== spec?.nodeName;
  });
  expect(elsewhere.length).toBeLessThanOrEqual(2);
  lab.close();
});

it("nodes that are planned with PREFERENCE_POLICY=Weigh are few, and consolidation leaves them", async () => {
  const pool = nodePool([ON_DEMAND, CATEGORIES, SIZES], {
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "10s" },
  });
  const lab = await ready([NODE_CLASS, pool], { seed: 1, catalogue: CATALOGUE, settings: { preferencePolicy: "Weigh" } });
  lab.world.apply(SPREAD);
  await pass(lab, 10_000);
  const planned = (await records(lab)).length;
  expect(planned).toBeLessThan(5);
  expect(messages(lab).some((message) => message.includes("give up the spread over kubernetes.io/hostname"))).toBe(true);
  await pass(lab, 3 * MINUTE);
  expect([lab.cloud.machines().length, runningPods(lab)]).toEqual([planned, 30]);
  expect(messages(lab)).not.toContain("disrupting nodeclaim(s)");
  lab.close();
});
