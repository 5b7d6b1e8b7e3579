import fc from "fast-check";
import { expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { podKey } from "#core/pods/predicates.ts";
import type { TrialCluster } from "#core/scheduling/trial-cluster.ts";
import { drawsOf } from "../../support/effort.ts";
import { clusters } from "../../support/scheduling/arbitraries.ts";
import { nodeWithClaim, snapshotOf } from "../../support/scheduling/builders.ts";
import { rearranged } from "../../support/scheduling/rearranged.ts";

const ZONE = "topology.kubernetes.io/zone";

/** A question to a trial cluster or a change of it, with nodes by number. */
type Step =
  | { readonly does: "empty"; readonly node: number }
  | { readonly does: "together" | "cost" | "order"; readonly nodes: readonly number[] }
  | { readonly does: "checkpoint" }
  | { readonly does: "revert"; readonly checkpoint: number };

const number = fc.nat(5);
const numbers = fc.array(number, { minLength: 1, maxLength: 3 });
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ does: fc.constant("empty"), node: number }),
    fc.record({ does: fc.constantFrom("together", "cost", "order"), nodes: numbers }),
    fc.record({ does: fc.constant("checkpoint") }),
    fc.record({ does: fc.constant("revert"), checkpoint: fc.nat(3) }),
  ),
  { minLength: 3, maxLength: 14 },
);

/** Generated clusters with most of their pods running and some more nodes, all with little room. */
const running = fc.tuple(clusters, fc.infiniteStream(fc.nat(9))).map(([cluster, places]): Snapshot => {
  const extra = [0, 1, 2].map((n) =>
    nodeWithClaim(`x${n}`, { pool: "pool-0", cpu: "3", labels: { [ZONE]: ["zone-a", "zone-b", "zone-c"][n] ?? "" } }),
  );
  const little = { cpu: "3", memory: "12Gi", pods: "29" };
  const nodes = [...cluster.nodes, ...extra.map(({ node }) => node)].map((node) => ({
    ...node,
    status: { ...node.status, allocatable: little },
  }));
  const pods = cluster.pods.map((one): Pod => {
    const nodeName = nodes[places.next().value ?? 0]?.metadata.name;
    if (one.spec.nodeName !== undefined || nodeName === undefined) return one;
    return { ...one, spec: { ...one.spec, nodeName }, status: { phase: "Running" } };
  });
  return snapshotOf({ ...cluster, nodes, nodeClaims: [...cluster.nodeClaims, ...extra.map(({ claim }) => claim)], pods });
});

/** The answers about each node and each pair of nodes. */
function answers(trialCluster: TrialCluster, names: readonly string[]): readonly unknown[] {
  const sets = names.flatMap((one, i) => [[one], ...names.slice(i + 1).map((other) => [one, other])]);
  return sets.map((set) => {
    const { unplaced, ...rest } = trialCluster.costOfRemoving(set);
    const checkpoint = trialCluster.checkpoint;
    const isEmptied = trialCluster.tryEmptyTogether(set);
    trialCluster.revertTo(checkpoint);
    return { set, ...rest, unplaced: unplaced.map(podKey).sort(), isEmptied };
  });
}

it("after any changes and reverts, a trial cluster answers as if only the changes that were kept had been made", () => {
  fc.assert(
    fc.property(running, steps, (snapshot, taken) => {
      const names = snapshot.nodes.map(({ metadata }) => metadata.name);
      const named = (list: readonly number[]) => list.flatMap((n) => names[n] ?? []);
      const used = rearranged(snapshot);
      let kept: ((on: TrialCluster) => void)[] = [];
      let order: readonly string[] = [];
      const checkpoints: { readonly checkpoint: TrialCluster["checkpoint"]; readonly kept: typeof kept }[] = [];
      const act = (change: (on: TrialCluster) => void): void => {
        const offered = order;
        change(used);
        kept = [
          ...kept,
          (on) => {
            on.preferNodes(offered);
            change(on);
          },
        ];
      };
      for (const step of taken) {
        switch (step.does) {
          case "empty":
            act((on) => void on.tryEmpty(names[step.node] ?? ""));
            break;
          case "together":
            act((on) => void on.tryEmptyTogether(named(step.nodes)));
            break;
          case "cost":
            used.costOfRemoving(named(step.nodes));
            break;
          case "order":
            order = named(step.nodes);
            used.preferNodes(order);
            break;
          case "checkpoint":
            checkpoints.push({ checkpoint: used.checkpoint, kept });
            break;
          case "revert": {
            const back = checkpoints[step.checkpoint];
            if (back === undefined) break;
            used.revertTo(back.checkpoint);
            kept = back.kept;
            // Later checkpoints are void.
            checkpoints.length = step.checkpoint + 1;
          }
        }
      }
      const other = rearranged(snapshot);
      for (const change of kept) change(other);
      other.preferNodes(order);
      expect(answers(used, names)).toEqual(answers(other, names));
    }),
    { numRuns: drawsOf(80) },
  );
});
