import { expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, expectAccountedFor, MINUTE, POOL, pass, podsOf, ready, SECOND } from "../support/lab-story.ts";

const workload = (name: string, replicas: number, spec: object): ApiObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "c", resources: { requests: { cpu: "1500m" } } }], ...spec },
    },
  },
});

const OVER_PROVISIONING: ApiObject = {
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name: "over-provisioning" },
  value: -10,
};

const nodesOf = (lab: Lab, app: string): readonly string[] =>
  podsOf(lab)
    .filter(({ metadata, status }) => metadata.labels?.["app"] === app && status?.phase === "Running")
    .map(({ spec }) => spec?.nodeName ?? "");

it("paused pods of negative priority give way to a workload within seconds, and then get a new node", async () => {
  const paused = workload("paused", 1, { priorityClassName: "over-provisioning", terminationGracePeriodSeconds: 0 });
  const lab = await ready([NODE_CLASS, POOL, OVER_PROVISIONING, paused, workload("web", 0, {})]);
  await pass(lab, MINUTE);
  const [first] = nodesOf(lab, "paused");
  expect(first).toBeDefined();
  expect(alive(lab)).toHaveLength(1);

  lab.world.scale("Deployment", "default", "web", 1);
  await pass(lab, 5 * SECOND);
  expect(nodesOf(lab, "web")).toEqual([first]);
  expect(nodesOf(lab, "paused")).toEqual([]);

  await pass(lab, 2 * MINUTE);
  const [second] = nodesOf(lab, "paused");
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
  expect(nodesOf(lab, "web")).toEqual([first]);
  await expectAccountedFor(lab, 2);
});
