import { describe, expect, it } from "vitest";
import { planDisruption } from "#core/disruption/plan.ts";
import type { Budget, NodePool } from "#core/model/node-pool.ts";
import { instanceType, NOW, nodePool, pod, roomForAll, snapshot } from "../builders.ts";

const DRIFTED = "2026-01-01T10:00:00Z";

/** What a pass decides about a static NodePool with some drifted nodes. */
function decide({
  replicas = 3,
  drifted = ["b"],
  budgets = [{ nodes: "1" }],
  limits,
  gate = true,
  terminateFirst = false,
  isReady = true,
  reserved,
  pods = [],
}: {
  readonly replicas?: number;
  readonly drifted?: readonly string[];
  readonly budgets?: readonly Budget[];
  readonly limits?: NodePool["spec"]["limits"];
  readonly gate?: boolean;
  /** The gate TerminateFirstDrift. */
  readonly terminateFirst?: boolean;
  readonly isReady?: boolean;
  /** Places left in the only capacity reservation that the pool may use, in which all nodes are. */
  readonly reserved?: number;
  readonly pods?: Parameters<typeof snapshot>[0]["pods"];
}): string {
  const made = nodePool("default", { budgets }, { replicas, ...(limits && { limits }) });
  const pool = isReady ? made : { ...made, status: { conditions: [{ type: "Ready", status: "False" as const }] } };
  const machines = ["a", "b", "c"].map((name) => ({
    name,
    ...(drifted.includes(name) && { drifted: DRIFTED }),
    ...(reserved !== undefined && { capacityType: "reserved" }),
  }));
  const offering = { zone: "a", capacityType: "reserved" as const, price: 1e-8, reservationId: "cr-1", reservationCapacity: reserved ?? 0 };
  const types = [{ ...instanceType("large"), offerings: [{ ...offering, available: offering.reservationCapacity > 0 }] }];
  const settings = { cluster: "c", staticCapacity: gate, terminateFirstDrift: terminateFirst };
  const built = snapshot({ pools: [pool], machines, pods: pods ?? [], ...(reserved !== undefined && { types }) });
  const withId = <T extends { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }>(one: T): T =>
    reserved === undefined
      ? one
      : { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, "karpenter.k8s.aws/capacity-reservation-id": "cr-1" } } };
  const { command } = planDisruption({
    snapshot: { ...built, nodes: built.nodes.map(withId), nodeClaims: built.nodeClaims.map(withId) },
    ...{ records: [], commands: [], settings, now: NOW },
    ...{ simulate: roomForAll, makeTrial: undefined },
    newId: () => "id",
  });
  if (command === undefined) return "nothing";
  const why = command.terminateFirst === undefined ? "" : ` first: ${command.terminateFirst}`;
  return `${command.reason} ${command.decision} ${command.candidates.map(({ node }) => node).join(" ")} by ${command.replacements.length}${why}`;
}

describe("a drifted node of a static pool", () => {
  it.for([
    { name: "is replaced by one node of its pool", scene: {}, want: "Drifted replace b by 1" },
    { name: "is replaced whatever pods it has", scene: { pods: [pod("p", "b")] }, want: "Drifted replace b by 1" },
    {
      name: "is replaced one at a time, nodes without pods first",
      scene: { drifted: ["a", "b"], pods: [pod("p", "a")] },
      want: "Drifted replace b by 1",
    },
    { name: "stays when the budget is spent", scene: { budgets: [{ nodes: "0" }] }, want: "nothing" },
    { name: "stays while the pool has more claims than replicas", scene: { replicas: 2 }, want: "nothing" },
    { name: "stays when limits.nodes has no room for its replacement", scene: { limits: { nodes: "3" } }, want: "nothing" },
    {
      name: "is replaced when limits.nodes has room for its replacement",
      scene: { limits: { nodes: "4" } },
      want: "Drifted replace b by 1",
    },
    {
      name: "stays while a pod has do-not-disrupt",
      scene: { pods: [pod("p", "b", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } })] },
      want: "nothing",
    },
    {
      name: "goes first under TerminateFirstDrift when limits.nodes has no room for its replacement",
      scene: { limits: { nodes: "3" }, terminateFirst: true },
      want: "Drifted delete b by 0 first: static-at-limit",
    },
    {
      name: "is replaced first under TerminateFirstDrift when limits.nodes has room",
      scene: { limits: { nodes: "4" }, terminateFirst: true },
      want: "Drifted replace b by 1",
    },
    {
      name: "stays under TerminateFirstDrift while its pool is not Ready, because nothing would follow it",
      scene: { limits: { nodes: "3" }, terminateFirst: true, isReady: false },
      want: "nothing",
    },
    {
      name: "stays under TerminateFirstDrift when the budget is spent",
      scene: { limits: { nodes: "3" }, terminateFirst: true, budgets: [{ nodes: "0" }] },
      want: "nothing",
    },
    { name: "of a full reservation stays", scene: { reserved: 0 }, want: "nothing" },
    {
      name: "of a full reservation goes first under TerminateFirstDrift",
      scene: { reserved: 0, terminateFirst: true },
      want: "Drifted delete b by 0 first: no-reserved-capacity",
    },
    {
      name: "of a reservation with a place is replaced first under TerminateFirstDrift",
      scene: { reserved: 1, terminateFirst: true },
      want: "Drifted replace b by 1",
    },
    { name: "stays when the gate StaticCapacity is off", scene: { gate: false }, want: "nothing" },
    { name: "is not invented where no claim has drifted", scene: { drifted: [] }, want: "nothing" },
  ])("$name", ({ scene, want }) => {
    expect(decide(scene)).toBe(want);
  });
});
