import { expect, it } from "vitest";
import { DRAIN_MS, departureOf } from "#core/insight/what-if/drain-time.ts";
import { rfc3339 } from "#core/model/conditions.ts";
import { DO_NOT_DISRUPT } from "#core/model/labels.ts";
import { machine, NOW, pdb, pod, snapshot } from "../../disruption/builders.ts";

const annotated = (value: string) =>
  pod("p", "a", { metadata: { annotations: { [DO_NOT_DISRUPT]: value } }, status: { startTime: rfc3339(NOW) } });
const pods = ["p", "q", "r"].map((name) => pod(name, "a"));
const never = { ...pdb("never", 1), spec: { ...pdb("never").spec, maxUnavailable: 0 } };

it.for([
  { name: "an empty node: one round", scene: {}, want: DRAIN_MS },
  { name: "pods that no budget covers: one round", scene: { pods }, want: DRAIN_MS },
  { name: "a budget of one: a round for each pod", scene: { pods, pdbs: [pdb("web", 1)] }, want: 3 * DRAIN_MS },
  { name: "a budget of two: two rounds", scene: { pods, pdbs: [pdb("web", 2)] }, want: 2 * DRAIN_MS },
  { name: "a pod whose do-not-disrupt ends: one round after its end", scene: { pods: [annotated("10m")] }, want: 600_000 + DRAIN_MS },
  { name: "a pod with do-not-disrupt true: never", scene: { pods: [annotated("true")] }, want: Number.POSITIVE_INFINITY },
  { name: "a budget that allows no disruption: never", scene: { pods, pdbs: [never] }, want: Number.POSITIVE_INFINITY },
  { name: "a terminationGracePeriod bounds the drain", scene: { pods: [annotated("true")] }, grace: "5m", want: 300_000 },
  { name: "a terminationGracePeriod does not prolong a shorter drain", scene: { pods }, grace: "5m", want: DRAIN_MS },
])("$name", ({ scene, grace, want }) => {
  const parts = { name: "a", ...(grace !== undefined && { terminationGracePeriod: grace }) };
  expect(departureOf(machine(parts).claim, snapshot({ machines: [parts], ...scene })) - NOW).toBe(want);
});
