import { expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, NOW, pod, snapshot } from "../builders.ts";

const ID = "karpenter.k8s.aws/capacity-reservation-id";

/** What Drift decides about a node of a reservation, which alone suits the pod and of which `left` are left. */
function decide({ left, gate = true, capacityType = "reserved" }: { left: number; gate?: boolean; capacityType?: string }) {
  const offering = { zone: "a", capacityType: "reserved" as const, price: 1e-8, reservationId: "cr-1", reservationCapacity: left };
  const built = snapshot({
    machines: [{ name: "a", capacityType, drifted: "2026-01-01T10:00:00Z" }],
    pods: [pod("p", "a")],
    types: [{ ...instanceType("large"), offerings: [{ ...offering, available: left > 0 }] }],
  });
  const withId = <T extends { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }>(one: T): T => ({
    ...one,
    metadata: { ...one.metadata, labels: { ...one.metadata.labels, [ID]: "cr-1" } },
  });
  const { command } = planDisruption({
    snapshot: { ...built, nodes: built.nodes.map(withId), nodeClaims: built.nodeClaims.map(withId) },
    ...{ records: [], commands: [], now: NOW, settings: { cluster: "c", terminateFirstDrift: gate } },
    ...{ ...WITH_SOLVE, newId: () => "id" },
  });
  return command && [command.reason, command.decision, command.replacements.length, command.terminateFirst];
}

it.for([
  { name: "of a full reservation goes first", scene: { left: 0 }, want: ["Drifted", "delete", 0, "no-reserved-capacity"] },
  { name: "of a full reservation stays without the gate", scene: { left: 0, gate: false }, want: undefined },
  { name: "of a reservation with a place left is replaced first", scene: { left: 1 }, want: ["Drifted", "replace", 1, undefined] },
  { name: "that is in no reservation stays", scene: { left: 0, capacityType: "on-demand" }, want: undefined },
])("under TerminateFirstDrift a drifted node $name", ({ scene, want }) => {
  expect(decide(scene)).toEqual(want);
});
