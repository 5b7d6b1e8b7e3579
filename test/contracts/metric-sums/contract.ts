import assert from "node:assert/strict";
import { addUp } from "#core/insight/metrics/sums.ts";
import type { MetricSums } from "#core/ports/metric-sums.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const created = (nodepool: string, value = 1) => ({ name: "nodes_created_total", labels: { nodepool, zone: "a" }, value }) as const;
const took = (seconds: number) => ({ name: "nodes_termination_duration_seconds", labels: { nodepool: "p" }, value: seconds }) as const;

/** What each implementation of MetricSums keeps to: names and runs, each with sums of its own. */
export function metricSumsContract(
  open: () => Promise<MetricSums>,
): readonly { readonly name: string; readonly run: () => Promise<void> }[] {
  const textOf = async (sums: MetricSums, cluster: string, now = NOW) =>
    (await sums.read(cluster, now)).sums.map(({ name, part, labels, value }) => `${name} ${part} {${labels}} ${value}`).sort();
  const cases: Readonly<Record<string, (sums: MetricSums) => Promise<void>>> = {
    "what functions add at the same time is added up": async (sums) => {
      const add = (): Promise<void> => sums.add("c1", { increments: addUp([created("p"), created("q", 2)]), gauges: [] }, NOW);
      await Promise.all([add(), add(), add()]);
      assert.deepEqual(await textOf(sums, "c1"), [
        'nodes_created_total total {nodepool="p",zone="a"} 3',
        'nodes_created_total total {nodepool="q",zone="a"} 6',
      ]);
    },
    "clusters have sums of their own, also those of no cluster": async (sums) => {
      await sums.add("c1", { increments: addUp([created("p")]), gauges: [] }, NOW);
      await sums.add("", { increments: addUp([created("r")]), gauges: [] }, NOW);
      assert.deepEqual(await textOf(sums, "c1"), ['nodes_created_total total {nodepool="p",zone="a"} 1']);
      assert.deepEqual(await textOf(sums, ""), ['nodes_created_total total {nodepool="r",zone="a"} 1']);
      assert.deepEqual(await textOf(sums, "c2"), []);
    },
    "a label may hold any letters": async (sums) => {
      const odd = 'a|b"c\\ #:é';
      await sums.add("c1", { increments: addUp([created(odd)]), gauges: [] }, NOW);
      assert.deepEqual(await textOf(sums, "c1"), ['nodes_created_total total {nodepool="a|b\\"c\\\\ #:é",zone="a"} 1']);
    },
    "hundreds of label sets of one metric are added": async (sums) => {
      const many = Array.from({ length: 450 }, (_, i) => created(`pool-${i}`));
      await sums.add("c1", { increments: addUp(many), gauges: [] }, NOW);
      assert.equal((await textOf(sums, "c1")).length, 450);
    },
    "totals of a summary stay, its sketch is about the last minutes": async (sums) => {
      await sums.add("c1", { increments: addUp([took(3)]), gauges: [] }, NOW);
      assert.equal((await textOf(sums, "c1")).length, 3);
      await sums.add("c1", { increments: addUp([took(5)]), gauges: [] }, NOW + 30 * MINUTE);
      const later = await textOf(sums, "c1", NOW + 30 * MINUTE);
      assert.equal(later.length, 3);
      assert.ok(later.includes('nodes_termination_duration_seconds sum {nodepool="p"} 8'));
    },
    "a gauge has its last value, for a day": async (sums) => {
      const gauge = (value: number) => ({ name: "voluntary_disruption_eligible_nodes", labels: 'reason="empty"', value }) as const;
      await sums.add("c1", { increments: [], gauges: [gauge(4)] }, NOW);
      await sums.add("c1", { increments: [], gauges: [gauge(7)] }, NOW + MINUTE);
      assert.deepEqual((await sums.read("c1", NOW + 2 * MINUTE)).gauges, [gauge(7)]);
      assert.deepEqual((await sums.read("c1", NOW + 25 * 60 * MINUTE)).gauges, []);
    },
    "a gauge of waiting pods, which nothing sets to 0 when they are gone, has its last value for five minutes": async (sums) => {
      const gauge = { name: "scheduler_unschedulable_pods_count", labels: 'controller="provisioner"', value: 2 } as const;
      await sums.add("c1", { increments: [], gauges: [gauge] }, NOW);
      assert.deepEqual((await sums.read("c1", NOW + 5 * MINUTE)).gauges, [gauge]);
      assert.deepEqual((await sums.read("c1", NOW + 6 * MINUTE)).gauges, []);
    },
    "of several scrapers one moves the mark": async (sums) => {
      assert.equal(await sums.moveMark("c1", NOW), undefined);
      const moved = await Promise.all([1, 2, 3].map(() => sums.moveMark("c1", NOW + MINUTE)));
      assert.deepEqual(
        moved.filter((former) => former !== undefined),
        [NOW],
      );
      assert.equal(await sums.moveMark("c1", NOW), undefined);
      assert.equal(await sums.moveMark("c2", NOW), undefined);
    },
  };
  return Object.entries(cases).map(([name, run]) => ({ name, run: async () => run(await open()) }));
}
