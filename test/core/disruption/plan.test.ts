import { expect, it } from "vitest";
import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { newCommand } from "#core/disruption/command/command.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { machine, NOW, nodePool, planned, pod, roomForAll, type Scene, simulated, snapshot } from "./builders.ts";

interface More {
  readonly records?: readonly NodeClaimRecord[];
  readonly commands?: readonly CommandRecord[];
  readonly simulate?: Simulate;
  readonly outOfTime?: () => boolean;
}

function plan(scene: Scene, { records = [], commands = [], simulate = roomForAll, ...more }: More = {}) {
  return planDisruption({
    snapshot: snapshot(scene),
    records,
    commands,
    settings: { cluster: "c" },
    now: NOW,
    ...{ simulate, makeTrial: undefined },
    newId: () => "id",
    ...more,
  });
}

function record(name: string, parts: Partial<NodeClaimRecord>): NodeClaimRecord {
  const { claim } = machine({ name: name.replace("-claim", "") });
  return {
    cluster: "c",
    name,
    version: 1,
    intentId: "i",
    manifest: claim,
    reason: "provisioned",
    createdAt: 0,
    podUids: [],
    instanceTypes: [],
    pricePerHour: 0,
    launchAttempts: 1,
    dueAt: 0,
    ...parts,
  };
}

it("a pass runs the methods in order and ends at the first that finds something", () => {
  const machines = [{ name: "empty" }, { name: "drifted", drifted: "2025-12-31T00:00:00Z" }, { name: "x" }, { name: "y" }];
  const pods = ["drifted", "x", "y"].map((name) => pod(`p-${name}`, name));
  expect(plan({ machines, pods }).command).toMatchObject({
    method: "emptiness",
    reason: "Empty",
    candidates: [{ node: "empty", pricePerHour: 0.4 }],
  });
  expect(plan({ machines: machines.slice(1), pods }).command).toMatchObject({ method: "drift", reason: "Drifted" });
  expect(plan({ machines: machines.slice(2), pods }).command).toMatchObject({ method: "multi", decision: "delete", savingsPerHour: 0.8 });
  expect(plan({ machines: machines.slice(3), pods }).command).toMatchObject({ method: "single", decision: "delete", savingsPerHour: 0.4 });
});

it("a pass states why each node is not disrupted", () => {
  const scene = {
    pools: [nodePool(), nodePool("careful", { consolidationPolicy: "WhenEmpty" as const })],
    machines: [{ name: "a" }, { name: "b", pool: "careful" }, { name: "c", initialized: false }],
    pods: [pod("p", "a"), pod("q", "b")],
  };
  const pass = plan(scene, {
    simulate: simulated(() => ({ newNodeClaims: [planned({ instanceTypes: ["huge"] })] })),
  });
  expect(pass.command).toBeUndefined();
  expect(Object.fromEntries(pass.blocked.map(({ node, message }) => [node, message]))).toEqual({
    a: "Can't replace with a cheaper node",
    b: 'NodePool "careful" has consolidation policy WhenEmpty, but node is not empty',
    c: "Node isn't initialized",
  });
  expect(reportOf(pass).events.map(({ event }) => `${event.about.kind} ${event.reason}`)).toEqual([
    "Node Unconsolidatable",
    "NodeClaim Unconsolidatable",
    "Node Unconsolidatable",
    "NodeClaim Unconsolidatable",
    "Node DisruptionBlocked",
    "NodeClaim DisruptionBlocked",
  ]);
});

it("consolidateAfter starts at the recorded pod event, and the next pass is due at its end", () => {
  const scene = { pools: [nodePool("default", { consolidateAfter: "1m" })], machines: [{ name: "a" }] };
  const recent = plan(scene, { records: [record("a-claim", { lastPodEventAt: NOW - 20_000 })] });
  expect(recent.command).toBeUndefined();
  expect(recent.consolidatable.get("a-claim")).toBe(false);
  expect(recent.nextDueAt).toBe(NOW + 40_000);
  const past = plan(scene, { records: [record("a-claim", { lastPodEventAt: NOW - 60_000 })] });
  expect(past.consolidatable.get("a-claim")).toBe(true);
  expect(past.command).toMatchObject({ method: "emptiness", dueAt: NOW + 15_000 });
  expect(past.nextDueAt).toBe(NOW + 15_000);
});

it("a pass decides nothing during a validation, and never on nodes of a command", () => {
  const scene = { machines: [{ name: "a" }, { name: "b" }] };
  const first = plan(scene);
  const validating = first.command;
  if (!validating) throw new Error("two empty nodes must make a command");
  const during = plan(scene, { commands: [validating] });
  expect(during.command).toBeUndefined();
  expect(during.nextDueAt).toBe(validating.dueAt);
  const deleting = { ...validating, phase: "Deleting" as const, candidates: validating.candidates.slice(0, 1) };
  expect(plan(scene, { commands: [deleting] }).command?.candidates.map(({ node }) => node)).toEqual(["b"]);
});

it("pods of nodes that commands remove are planned as if pending", () => {
  const seen: ReadonlySet<string>[] = [];
  const scene = { machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] };
  const simulate: Simulate = (s) => {
    seen.push(s.disrupting);
    return { newNodeClaims: [], existingNodes: [], podErrors: {} };
  };
  const replacing: CommandRecord = {
    ...newCommand({ cluster: "c", id: "r", now: NOW, method: "single", candidates: [], replacements: [] }),
    phase: "Replacing",
    candidates: [
      {
        nodeClaim: "a-claim",
        node: "a",
        nodePool: "default",
        instanceType: "large",
        capacityType: "on-demand",
        zone: "a",
        pricePerHour: 1,
        pods: [],
      },
    ],
  };
  plan(scene, { commands: [replacing], simulate });
  expect([...(seen[0] ?? [])]).toEqual(["a-claim"]);
});

it("a search ends when its time is up, and names the NodePools that it did not reach", () => {
  const scene = {
    pools: [nodePool("x"), nodePool("y")],
    machines: [
      { name: "a", pool: "x" },
      { name: "b", pool: "y" },
    ],
    pods: [pod("p", "a"), pod("q", "b")],
  };
  const full = simulated(() => ({ podErrors: { "default/p": "full", "default/q": "full" } }));
  let calls = 0;
  const { command, unseenPools } = plan(scene, { simulate: full, outOfTime: () => ++calls > 3 });
  expect(command).toBeUndefined();
  expect(unseenPools).toEqual(["y"]);
});

it("the next pass is due when a do-not-disrupt duration ends", () => {
  const annotations = { "karpenter.sh/do-not-disrupt": "1h" };
  const held = pod("p", "a", { metadata: { annotations }, status: { startTime: "2026-01-01T11:30:00Z" } });
  expect(plan({ machines: [{ name: "a" }], pods: [held] }).nextDueAt).toBe(NOW + 30 * 60_000);
});

it("the next pass is due when a budget becomes inactive", () => {
  const pools = [nodePool("default", { budgets: [{ nodes: "0", schedule: "0 11 * * *", duration: "2h" }] })];
  const result = plan({ pools, machines: [{ name: "a" }] });
  expect(result.nextDueAt).toBe(NOW + 3_600_000);
  expect(reportOf(result).events.map(({ event }) => event.message)).toContain(
    "No allowed disruptions for disruption reason Empty due to blocking budget",
  );
});

it("the report of a pass has gauges for the methods that ran", () => {
  const { gauges } = reportOf(plan({ machines: [{ name: "a" }] }));
  expect(gauges).toEqual([
    { metric: "voluntary_disruption_eligible_nodes", labels: { reason: "empty" }, value: 1 },
    { metric: "nodepools_allowed_disruptions", labels: { nodepool: "default", reason: "Empty" }, value: 1 },
    { metric: "nodepools_nodes_consuming_budgets", labels: { nodepool: "default", reason: "Empty" }, value: 0 },
  ]);
});
