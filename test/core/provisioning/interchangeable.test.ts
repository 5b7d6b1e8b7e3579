import fc from "fast-check";
import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import { needingNominations } from "#core/provisioning/interchangeable.ts";
import { pod } from "../../support/scheduling/builders.ts";

const some = (count: number, name: string, cpu: string, spec: Partial<Pod["spec"]> = {}): readonly Pod[] =>
  Array.from({ length: count }, (_, i) => pod(`${name}-${i}`, { cpu }, spec));

const needing = (pods: readonly Pod[], isServed: (pod: Pod) => boolean): readonly string[] =>
  [...needingNominations(pods.map((one) => ({ pod: one, isServed: isServed(one) })))].map(({ metadata }) => metadata.name).sort();

const APART = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }] } };
const SPREAD = [{ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" }] as const;
const VOLUME = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };

it.for<{ name: string; pods: readonly Pod[]; isServed?: (pod: Pod) => boolean; want: readonly string[] }>([
  { name: "no pod, where all are of one kind", pods: some(3, "a", "1"), want: [] },
  { name: "no pod, where none waits", pods: [], want: [] },
  { name: "all pods, where they are of two kinds", pods: [...some(1, "a", "2"), ...some(2, "b", "1")], want: ["a-0", "b-0", "b-1"] },
  {
    name: "all pods, where one has a higher priority and could preempt the others",
    pods: [...some(1, "a", "1", { priority: 9 }), ...some(1, "b", "1")],
    want: ["a-0", "b-0"],
  },
  {
    name: "all pods, where no nomination can serve one of them",
    pods: some(2, "a", "1"),
    isServed: ({ metadata }) => metadata.name !== "a-1",
    want: ["a-0", "a-1"],
  },
  { name: "no pods apart from each other, which is one rule", pods: some(2, "a", "1", { affinity: APART }), want: [] },
  {
    name: "pods apart from each other and spread, because the order in which they are placed may block the last",
    pods: some(2, "a", "1", { affinity: APART, topologySpreadConstraints: SPREAD }),
    want: ["a-0", "a-1"],
  },
  { name: "pods with volumes of their own", pods: some(2, "a", "1", VOLUME), want: ["a-0", "a-1"] },
])("nominations keep a plan of several nodes: $name", ({ pods, isServed = () => true, want }) => {
  expect(needing(pods, isServed)).toEqual(want);
});

/** kube-scheduler with nominations: a pod takes any node where it fits beside what is bound and what is nominated. */
function scheduled(pods: readonly Placed[], rooms: readonly number[], kept: (pod: Placed) => boolean, order: readonly number[]): number {
  const free = [...rooms];
  for (const one of pods) if (kept(one)) free[one.node] = (free[one.node] ?? 0) - one.size;
  let placed = pods.filter(kept).length;
  for (const i of order) {
    const one = pods[i];
    if (one === undefined || kept(one)) continue;
    // The fullest node in which it fits, which is nobody's plan.
    const node = free.findLastIndex((room) => room >= one.size);
    if (node < 0) continue;
    free[node] = (free[node] ?? 0) - one.size;
    placed++;
  }
  return placed;
}

interface Placed {
  readonly size: number;
  readonly node: number;
}

it("whatever order kube-scheduler takes, all pods of a plan find room, even when it clears nominations of one kind", () => {
  const planned = fc.array(fc.record({ size: fc.constantFrom(1, 2, 3), node: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 1,
    maxLength: 14,
  });
  const cleared = fc.record({ size: fc.constantFrom(1, 2, 3), pods: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }) });
  const spares = fc.array(fc.nat(2), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(planned as fc.Arbitrary<Placed[]>, spares, cleared, fc.nat(), (pods, spare, lost, seed) => {
      const objects = pods.map(({ size }, i) => pod(`p-${i}`, { cpu: String(size) }));
      const needed = needingNominations(objects.map((one) => ({ pod: one, isServed: true })));
      const rooms = spare.map((extra, node) => extra + pods.reduce((sum, one) => sum + (one.node === node ? one.size : 0), 0));
      const order = pods.map((_, i) => i).sort((a, b) => ((a * 7 + seed) % 13) - ((b * 7 + seed) % 13));
      const kept = (one: Placed): boolean => {
        const i = pods.indexOf(one);
        return needed.has(objects[i] as Pod) && !(one.size === lost.size && lost.pods[i] === true);
      };
      expect(scheduled(pods, rooms, kept, order)).toBe(pods.length);
    }),
  );
});
