import { describe, expect, it } from "vitest";
import type { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import { reportOf } from "#core/insight/history/report.ts";
import { sentenceOf } from "#core/insight/history/sentence.ts";
import { SCHEDULE } from "#core/model/labels.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, START } from "../simulation/story.ts";
import {
  alive,
  expectAccountedFor,
  INFLATE,
  ids,
  MINUTE,
  POOL,
  pass,
  podsOf,
  ready,
  reasons,
  records,
  runningPods,
  scale,
} from "../support/lab-story.ts";

/** The lab begins at midnight; a night of 20 minutes begins at 0:20, 1:20 and so on. */
const NIGHT = "20 * * * * for 20m";
const [EVENING, MORNING] = [20 * MINUTE, 40 * MINUTE];

const scheduled = (pool: ApiObject, schedule: string): ApiObject => ({
  ...pool,
  metadata: { ...pool.metadata, annotations: { [SCHEDULE]: schedule } },
});
const budgeted = (pool: ApiObject, ...budgets: readonly object[]): ApiObject => {
  const spec = pool["spec"] as { readonly disruption: object };
  return { ...pool, spec: { ...spec, disruption: { ...spec.disruption, budgets } } };
};
const ALL_AT_ONCE = { nodes: "100%" };
const DOZING = scheduled(budgeted(POOL, ALL_AT_ONCE), NIGHT);

const until = (lab: Lab, ms: number): Promise<unknown> => pass(lab, START + ms - lab.world.clock.now());
const messagesOf = (lab: Lab, reason: string): readonly string[] =>
  lab.world.events.filter((event) => event.reason === reason).map(({ message }) => message);
const conditionOf = (lab: Lab) => {
  const { conditions = [] } = (lab.world.store.get("NodePool", "default")?.status ?? {}) as {
    readonly conditions?: readonly { readonly type: string }[];
  };
  return conditions.find(({ type }) => type === "Asleep");
};

const lastOf = (lab: Lab, gauge: string): number | undefined =>
  (lab.deps.metrics as ReturnType<typeof memoryMetrics>).records.findLast(({ name }) => name === gauge)?.value;

/** A lab in which so many pods run, shortly before the evening. */
async function evening(objects: readonly ApiObject[], replicas: number, options: Parameters<typeof ready>[1] = {}): Promise<Lab> {
  const lab = await ready([NODE_CLASS, ...objects, INFLATE], options);
  scale(lab, replicas);
  await until(lab, EVENING - 2 * MINUTE);
  expect(runningPods(lab)).toBe(replicas);
  return lab;
}

describe("a NodePool that sleeps at night", () => {
  it.for([
    { name: "by its annotation", objects: [DOZING], settings: {} },
    { name: "by the setting of the cluster", objects: [budgeted(POOL, ALL_AT_ONCE)], settings: { sleepSchedule: { "*": NIGHT } } },
  ])("goes to zero nodes and is back before morning, $name", async ({ objects, settings }) => {
    const lab = await evening(objects, 6, { settings });
    await until(lab, EVENING - MINUTE / 2);
    expect(runningPods(lab)).toBe(6);
    await until(lab, EVENING + 6 * MINUTE);
    await expectAccountedFor(lab, 0);
    expect(podsOf(lab).filter(({ status }) => status?.phase === "Pending")).toHaveLength(6);
    expect(conditionOf(lab)).toMatchObject({ status: "True", message: expect.stringContaining("sleeps until 2026-01-01 00:40 UTC") });
    await until(lab, MORNING - 6 * MINUTE);
    await expectAccountedFor(lab, 0);
    expect(messagesOf(lab, "FailedScheduling").at(-1)).toContain(
      `NodePool can launch nodes: default sleeps until 2026-01-01 00:40 UTC (schedule ${NIGHT}); nodes are made from 00:35 on`,
    );
    // Nobody is called at night for pods that wait for the morning.
    expect(lastOf(lab, "scheduler_unschedulable_pods_count")).toBe(0);
    await until(lab, MORNING);
    expect(runningPods(lab)).toBe(6);
    expect(conditionOf(lab)).toMatchObject({ status: "False" });
    lab.close();
  });

  it("does so night after night, and nothing comes or goes at the borders", async () => {
    const lab = await evening([DOZING], 6);
    await until(lab, MORNING + 2 * 60 * MINUTE);
    expect(runningPods(lab)).toBe(6);
    const launched = lab.cloud.machines().length;
    const standing = alive(lab).length;
    // Those of the first day, and of three mornings.
    expect(launched).toBe(4 * standing);
    lab.close();
  });

  it("is told in the history, the log and the metrics like another disruption", async () => {
    const lab = await evening([DOZING], 3);
    await until(lab, EVENING + 10 * MINUTE);
    const entries = await lab.deps.store.history(lab.world.cluster, { since: START, until: lab.world.clock.now() });
    const sentences = entries.map(sentenceOf);
    expect(sentences.some((text) => text.startsWith("disrupted because their NodePool sleeps: "))).toBe(true);
    expect(reasons(lab)).toContain("DisruptionTerminating");
    // Nobody knows how long the node would have run on: the dollars of the days tell what the night saved.
    const told = reportOf({ cluster: lab.world.cluster, entries, records: await records(lab), since: START, until: lab.world.clock.now() });
    expect(told.disruptions["Asleep"]).toMatchObject({ nodes: 1, pods: 3, saved: 0 });
    lab.close();
  });

  it.for([
    { name: "a budget of none", objects: [scheduled(budgeted(POOL, { nodes: "0" }), NIGHT)], pod: {} },
    {
      name: "a PodDisruptionBudget",
      objects: [
        DOZING,
        {
          apiVersion: "policy/v1",
          kind: "PodDisruptionBudget",
          metadata: { name: "all", namespace: "default" },
          spec: { maxUnavailable: 0, selector: { matchLabels: { app: "inflate" } } },
        },
      ],
      pod: {},
    },
    { name: "do-not-disrupt on a pod", objects: [DOZING], pod: { "karpenter.sh/do-not-disrupt": "true" } },
  ])("ends nothing that is forbidden by $name, and no node is added", async ({ objects, pod }) => {
    const template = (INFLATE["spec"] as { readonly template: { readonly metadata: object } }).template;
    const inflate = {
      ...INFLATE,
      spec: { ...(INFLATE["spec"] as object), template: { ...template, metadata: { ...template.metadata, annotations: pod } } },
    };
    const lab = await ready([NODE_CLASS, ...objects, inflate]);
    scale(lab, 4);
    await until(lab, EVENING - 2 * MINUTE);
    const before = ids(lab);
    expect(before.length).toBeGreaterThan(0);
    await until(lab, EVENING + 10 * MINUTE);
    expect(ids(lab)).toEqual(before);
    scale(lab, 40);
    await until(lab, EVENING + 14 * MINUTE);
    expect(ids(lab)).toEqual(before);
    lab.close();
  });

  it("is emptied in steps where its budget allows a few nodes at a time", async () => {
    const lab = await ready([NODE_CLASS, scheduled(budgeted(POOL, { nodes: "1" }), NIGHT), deployment(0, { cpu: "3" })]);
    scale(lab, 8);
    await until(lab, EVENING - 2 * MINUTE);
    const before = alive(lab).length;
    expect(before).toBeGreaterThan(2);
    let fewest = before;
    while (alive(lab).length > 0 && lab.world.clock.now() < START + MORNING - 5 * MINUTE) {
      await pass(lab, MINUTE);
      // A node's drain takes seconds here; never is more than one under way.
      expect(lab.world.store.list("Node").filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length).toBeLessThanOrEqual(1);
      fewest = Math.min(fewest, alive(lab).length);
    }
    expect(fewest).toBe(0);
    lab.close();
  });

  it("hands its pods to another NodePool that may take them, and gets no pod back before morning", async () => {
    const other = { ...nodePool([ON_DEMAND, FAMILIES]), metadata: { name: "awake" } };
    const lab = await evening(
      [
        scheduled({ ...budgeted(POOL, ALL_AT_ONCE), spec: { ...(budgeted(POOL, ALL_AT_ONCE)["spec"] as object), weight: 50 } }, NIGHT),
        other,
      ],
      6,
    );
    await until(lab, EVENING + 10 * MINUTE);
    expect(runningPods(lab)).toBe(6);
    const pools = new Set(lab.world.store.list("Node").map(({ metadata }) => metadata.labels?.["karpenter.sh/nodepool"]));
    expect([...pools]).toEqual(["awake"]);
    lab.close();
  });

  it("that is static loses its replicas and gets them back before morning", async () => {
    const { limits: _, ...spec } = budgeted(POOL, ALL_AT_ONCE)["spec"] as { readonly limits: object };
    const pool = scheduled({ ...POOL, spec: { ...spec, replicas: 3 } }, NIGHT);
    const lab = await ready([NODE_CLASS, pool], { settings: { staticCapacity: true } });
    await until(lab, EVENING - 2 * MINUTE);
    await expectAccountedFor(lab, 3);
    await until(lab, EVENING + 10 * MINUTE);
    await expectAccountedFor(lab, 0);
    await until(lab, MORNING - 6 * MINUTE);
    await expectAccountedFor(lab, 0);
    await until(lab, MORNING);
    await expectAccountedFor(lab, 3);
    lab.close();
  });

  it("lets a node that is on its way come, and takes it away", async () => {
    const lab = await evening([DOZING], 1);
    await until(lab, EVENING - 20_000);
    scale(lab, 12);
    await until(lab, EVENING + 8 * MINUTE);
    await expectAccountedFor(lab, 0);
    expect(runningPods(lab)).toBe(0);
    lab.close();
  });

  it("leaves a NodePool alone that never sleeps although the cluster has a schedule", async () => {
    const lab = await evening([scheduled(budgeted(POOL, ALL_AT_ONCE), "never")], 3, { settings: { sleepSchedule: { "*": NIGHT } } });
    await until(lab, EVENING + 10 * MINUTE);
    expect(runningPods(lab)).toBe(3);
    lab.close();
  });
});
