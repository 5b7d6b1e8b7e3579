import { expect, it } from "vitest";
import { FLEET_NODES } from "../support/effort.ts";
import { type ClusterSpec, DEATH_MS } from "./fleet/cluster.ts";
import { playFleet } from "./fleet/play.ts";

const CLUSTERS: readonly ClusterSpec[] = [
  { name: "small", seed: 2, nodes: 0, kind: "small" },
  { name: "large", seed: 4, nodes: FLEET_NODES, kind: "large" },
  { name: "hostile", seed: 6, nodes: 0, kind: "hostile" },
  { name: "dead", seed: 8, nodes: 0, kind: "dead", dying: 30 },
];

it("one stack loses no pod and no decision of two clusters beside a hostile one and a dead one, and breaks no law there", async () => {
  const { clusters, functions } = await playFleet({ clusters: CLUSTERS, minutes: DEATH_MS / 60_000 + 2, accountConcurrency: 1_000 });
  const ordinary = clusters.filter(({ spec }) => spec.kind === "small" || spec.kind === "large");
  const lost = ordinary.map(({ spec, lostPods, lostDecisions, deadLetters, violations }) => ({
    ...{ name: spec.name, lostPods, lostDecisions, deadLetters, violations },
  }));
  expect(lost).toEqual(["small", "large"].map((name) => ({ name, lostPods: 0, lostDecisions: 0, deadLetters: 0, violations: [] })));
  expect(ordinary.every(({ waits }) => waits.length > 1)).toBe(true);
  // The dead cluster's sweeps fail, each for itself, and keep no invocation to its timeout.
  const dead = clusters.find(({ spec }) => spec.kind === "dead");
  expect([...(dead?.errors.keys() ?? [])].some((text) => /^(a|the) scheduled pass failed/.test(text))).toBe(true);
  expect([...functions.values()].map(({ timeouts }) => timeouts)).toEqual([...functions.values()].map(() => 0));
});
