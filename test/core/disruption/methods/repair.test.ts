import { describe, expect, it } from "vitest";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { validate } from "#core/disruption/command/validate.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { reportOf } from "#core/disruption/reports/report-of.ts";
import type { DisruptionSettings } from "#core/disruption/settings.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, NOW, nodePool, pdb, pod, type Scene, snapshot } from "../builders.ts";

const MINUTE = 60_000;
const fault = (type: string, minutes: number, more: Partial<Condition> = {}): Condition => ({
  ...{ type, status: "False", reason: "Broken", message: "", lastTransitionTime: new Date(NOW - minutes * MINUTE).toISOString() },
  ...more,
});

const four = { containers: [{ name: "c", resources: { requests: { cpu: "4" } } }] };

type Faults = Readonly<Record<string, Condition>>;

/** The scene with a condition on some nodes. */
function broken(scene: Scene, faults: Faults): Snapshot {
  const built = snapshot(scene);
  const nodes = built.nodes.map((node) => {
    const found = faults[node.metadata.name];
    if (found === undefined) return node;
    const others = (node.status?.conditions ?? []).filter(({ type }) => type !== found.type);
    return { ...node, status: { ...node.status, conditions: [...others, found] } };
  });
  return { ...built, nodes };
}

function plan(scene: Scene, faults: Faults, settings: Partial<DisruptionSettings> = {}) {
  return planDisruption({
    ...{ snapshot: broken(scene, faults), records: [], commands: [], now: NOW },
    settings: { cluster: "c", nodeRepair: true, ...settings },
    ...{ ...WITH_SOLVE, newId: () => "id" },
  });
}

/** Ten nodes with a pod each, of which consolidation takes none. */
const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
const still = nodePool("default", { consolidateAfter: "Never" });
const ten = (more: Partial<Scene> = {}): Scene => ({
  ...{ pools: [still], machines: NAMES.map((name) => ({ name })), pods: NAMES.map((name) => pod(`p-${name}`, name)) },
  ...more,
});
const reasonFor = (decided: ReturnType<typeof plan>, node: string) => decided.blocked.find((one) => one.node === node)?.message;
const decision = ({ command }: ReturnType<typeof plan>) =>
  command && `${command.reason} ${command.decision} ${command.candidates.map(({ node }) => node).join(" ")}`;

describe("repair", () => {
  it.for([
    { name: "an unhealthy node whose toleration is over", faults: { b: fault("KernelReady", 31) }, want: "b" },
    { name: "no node that is tolerated", faults: { b: fault("KernelReady", 29) }, want: undefined },
    {
      name: "the node that is unhealthy for longest past its toleration",
      faults: { b: fault("KernelReady", 40), c: fault("AcceleratedHardwareReady", 25, { reason: "XID79" }) },
      want: "c",
    },
  ])("takes $name", ({ faults, want }) => {
    const decided = plan(ten(), faults);
    expect(decided.command?.candidates.map(({ node }) => node).join()).toBe(want);
    if (want === undefined) expect(decided.nextDueAt).toBe(NOW + MINUTE);
    else expect(decided.command).toMatchObject({ method: "repair", reason: "Unhealthy", dueAt: NOW });
  });

  it("stores the fault and the bound of the drain, which is the shortest of those that are due", () => {
    const faults = { b: fault("KernelReady", 31), c: fault("AcceleratedHardwareReady", 40, { reason: "NvidiaXID48Error" }) };
    expect(plan(ten(), faults).command?.repair).toEqual({
      ...{ condition: "AcceleratedHardwareReady", reason: "NvidiaXID48Error" },
      drainMs: 5 * MINUTE,
    });
  });

  it.for([
    { name: "the gate is off", settings: { nodeRepair: false } },
    { name: "LEGACY_NODE_REPAIR leaves it to the lifecycle", settings: { legacyNodeRepair: true } },
  ])("takes nothing where $name", ({ settings }) => {
    expect(plan(ten(), { b: fault("KernelReady", 60) }, settings).command).toBeUndefined();
  });

  it("plans replacements for all pods, also those that nothing may evict now", () => {
    const metadata = { annotations: { "karpenter.sh/do-not-disrupt": "true" } };
    const pods = NAMES.map((name) => pod(`p-${name}`, name, { spec: four, ...(name === "b" && { metadata }) }));
    const decided = plan(ten({ pods, pdbs: [pdb("none")] }), { b: fault("StorageReady", 31) });
    expect(decision(decided)).toBe("Unhealthy replace b");
    expect(decided.command?.replacements.flatMap(({ pods: moved }) => moved)).toEqual(["default/p-b"]);
  });

  it("moves no pod to another unhealthy node", () => {
    const scene = ten({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a")] });
    const large = ten({ machines: [{ name: "a" }, { name: "b" }, ...["c", "d", "e", "f"].map((name) => ({ name, pool: "other" }))] });
    const faults = { a: fault("StorageReady", 31), b: fault("StorageReady", 5) };
    const pools = [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "100%" }] })];
    // Of two nodes both are broken, which stops repair; of seven two are a fifth, rounded up.
    const machines = [...(large.machines ?? []).slice(0, 2), ...["x", "y", "z", "u", "v"].map((name) => ({ name, type: "small" }))];
    const pods = [pod("p", "a"), ...["x", "y", "z", "u", "v"].map((name) => pod(`full-${name}`, name, { spec: four }))];
    expect(plan({ ...scene, pools }, faults).command).toBeUndefined();
    expect(plan({ pools, machines, pods }, faults).command?.destinations).toBeUndefined();
    expect(plan({ pools, machines, pods }, { a: faults.a }).command?.destinations).toEqual({ "default/p": "b-claim" });
  });

  it.for([
    {
      name: "the annotation do-not-repair",
      scene: ten({ machines: NAMES.map((name) => ({ name, annotations: { "karpenter.sh/do-not-repair": "true" } })) }),
      why: 'repair is blocked through the "karpenter.sh/do-not-repair" annotation',
    },
    {
      name: "its budget",
      scene: ten({ pools: [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "0", reasons: ["Unhealthy"] }] })] }),
      why: "No allowed disruptions for disruption reason Unhealthy due to blocking budget (NodePool=default)",
    },
  ])("leaves a node by $name, and says so", ({ scene, why }) => {
    const decided = plan(scene, { b: fault("KernelReady", 31) });
    expect(decided.command).toBeUndefined();
    expect(reasonFor(decided, "b")).toBe(why);
  });

  it("is not bound by budgets of other reasons, nor by do-not-disrupt on the node", () => {
    const budgets = [{ nodes: "0", reasons: ["Empty", "Underutilized", "Drifted"] as const }];
    const machines = NAMES.map((name) => ({ name, annotations: { "karpenter.sh/do-not-disrupt": "true" } }));
    const scene = ten({ machines, pools: [nodePool("default", { consolidateAfter: "Never", budgets })] });
    expect(decision(plan(scene, { b: fault("KernelReady", 31) }))).toBe("Unhealthy delete b");
  });

  it("is not held up by the budget that nodes that are not ready use for other reasons", () => {
    const scene = ten({ pools: [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "1" }] })] });
    const silent = { status: "Unknown" } as const;
    expect(decision(plan(scene, { b: fault("Ready", 31, silent), c: fault("Ready", 5, silent) }))).toBe("Unhealthy delete b");
  });

  it("takes a node that never became initialized without a budget", () => {
    const machines = NAMES.map((name) => ({ name, initialized: name !== "b" }));
    const scene = ten({ machines, pools: [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "0" }] })] });
    expect(decision(plan(scene, { b: fault("KernelReady", 31) }))).toBe("Unhealthy delete b");
  });

  it("stops while more than a fifth of the NodePool's nodes are unhealthy, with an event on each and the NodePool", () => {
    const faults = { a: fault("KernelReady", 31), b: fault("StorageReady", 2), c: fault("Ready", 1) };
    expect(decision(plan(ten(), { a: faults.a, b: faults.b }))).toBe("Unhealthy delete a");
    const decided = plan(ten(), faults);
    expect(decided.command).toBeUndefined();
    const said = reportOf(decided).events.filter(({ event }) => event.reason === "NodeRepairBlocked");
    expect(said.map(({ event }) => `${event.type} ${event.about.kind} ${event.about.metadata.name}`)).toEqual(
      ["Node a", "NodeClaim a-claim", "NodePool default"].map((about) => `Warning ${about}`),
    );
    expect(said[0]?.event.message).toBe('more than 20% of nodes in nodepool "default" are unhealthy');
  });

  const inPoolsOfOne = (all: number, alike: number, minutes = 31) => {
    const names = Array.from({ length: all }, (_, i) => `n${i}`);
    const pools = names.map((name) => nodePool(name, { consolidateAfter: "Never" }));
    const faults = Object.fromEntries(names.slice(0, alike).map((name) => [name, fault("Ready", minutes, { status: "Unknown" })]));
    return plan({ pools, machines: names.map((name) => ({ name, pool: name })) }, faults);
  };

  it.for([
    { name: "two of a few nodes", all: 4, alike: 2, stops: false },
    { name: "three of a few nodes", all: 4, alike: 3, stops: true },
    { name: "a fifth of many", all: 30, alike: 6, stops: false },
    { name: "more than a fifth of many", all: 30, alike: 7, stops: true },
    { name: "ten of very many", all: 60, alike: 10, stops: false },
    { name: "more than ten of very many", all: 60, alike: 11, stops: true },
    { name: "more than ten, an hour ago", all: 60, alike: 11, minutes: 60, stops: false },
  ])("takes one fault on $name of the cluster, each of a NodePool of its own, for a common cause: $stops", (scene) => {
    const decided = inPoolsOfOne(scene.all, scene.alike, scene.minutes);
    expect(decided.command === undefined).toBe(scene.stops);
    if (!scene.stops) return;
    const until = new Date(NOW + 29 * MINUTE).toISOString().replace(".000", "");
    const why = `Ready became Unknown on ${scene.alike} of ${scene.all} nodes within an hour, so the nodes are not the cause; they are repaired from ${until} on`;
    expect(reasonFor(decided, "n0")).toBe(why);
    expect(decided.nextDueAt).toBe(NOW + 29 * MINUTE);
    expect(reportOf(decided).events.filter(({ event }) => event.reason === "NodeRepairBlocked")).toHaveLength(3 * scene.alike);
  });

  it("repairs another fault meanwhile", () => {
    const names = ["a", "b", "c", "d"];
    const pools = names.map((name) => nodePool(name, { consolidateAfter: "Never" }));
    const scene = { pools, machines: names.map((name) => ({ name, pool: name })) };
    const silent = fault("Ready", 31, { status: "Unknown" });
    expect(decision(plan(scene, { a: silent, b: silent, c: silent, d: fault("KernelReady", 31) }))).toBe("Unhealthy delete d");
  });

  it("replaces a node of a static NodePool where limits.nodes has room, and says where it has none", () => {
    const pool = (nodes: string) => nodePool("default", {}, { replicas: 10, limits: { nodes } });
    const faults = { b: fault("KernelReady", 31) };
    expect(decision(plan(ten({ pools: [pool("11")] }), faults))).toBe("Unhealthy replace b");
    const full = plan(ten({ pools: [pool("10")] }), faults);
    expect(full.command).toBeUndefined();
    expect(reasonFor(full, "b")).toBe("static NodePool is at its node limit and cannot stage a replacement (NodePool=default)");
  });
});

describe("under TerminateFirstRepair", () => {
  const settings = { terminateFirstRepair: true };
  const faults = { b: fault("KernelReady", 31) };
  const unready: Condition = { type: "Ready", status: "False", lastTransitionTime: "2025-12-31T00:00:00Z" };

  it.for([
    { name: "that is Ready goes first", pool: {}, want: "Unhealthy delete b" },
    { name: "that is not Ready stays, because nothing would follow it", pool: { status: { conditions: [unready] } }, want: undefined },
  ])("a node of a static NodePool at limits.nodes $name", ({ pool, want }) => {
    const pools = [{ ...nodePool("default", {}, { replicas: 10, limits: { nodes: "10" } }), ...pool }];
    const decided = plan(ten({ pools }), faults, settings);
    expect(decision(decided)).toBe(want);
    if (want) expect(decided.command).toMatchObject({ replacements: [], terminateFirst: "static-at-limit" });
  });

  /** Only reserved capacity suits the pods, and nothing of the reservation is left. */
  function reserved(left: number, gate: boolean) {
    const offering = { zone: "a", capacityType: "reserved" as const, price: 1e-8, reservationId: "cr-1", reservationCapacity: left };
    const types = [{ ...instanceType("large"), offerings: [{ ...offering, available: left > 0 }] }];
    const machines = NAMES.map((name) => ({ name, capacityType: "reserved" }));
    const pods = NAMES.map((name) => pod(`p-${name}`, name, { spec: four }));
    const built = broken(ten({ machines, pods, types }), faults);
    const withId = <T extends { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }>(one: T): T => ({
      ...one,
      metadata: { ...one.metadata, labels: { ...one.metadata.labels, "karpenter.k8s.aws/capacity-reservation-id": "cr-1" } },
    });
    return planDisruption({
      snapshot: { ...built, nodes: built.nodes.map(withId), nodeClaims: built.nodeClaims.map(withId) },
      ...{ records: [], commands: [], now: NOW, settings: { cluster: "c", nodeRepair: true, terminateFirstRepair: gate } },
      ...{ ...WITH_SOLVE, newId: () => "id" },
    });
  }

  it("a node of a full reservation goes first, and of one that is not full after its replacement", () => {
    expect(reserved(0, true).command).toMatchObject({ decision: "delete", terminateFirst: "no-reserved-capacity" });
    expect(reserved(1, true).command).toMatchObject({ decision: "replace", repair: { condition: "KernelReady" } });
    expect(reserved(0, false).command).toBeUndefined();
  });
});

describe("under RebootForRepair", () => {
  const settings = { rebootForRepair: true };
  const clears = fault("AcceleratedHardwareReady", 11, { reason: "NvidiaXID63Error" });
  const reboots = (decided: ReturnType<typeof plan>) => decided.command?.repair?.reboots === true;

  it("a fault that a reboot clears is repaired by one, without a replacement and without savings", () => {
    const decided = plan(ten(), { b: clears }, settings);
    expect(decision(decided)).toBe("Unhealthy delete b");
    expect([reboots(decided), decided.command?.savingsPerHour, decided.command?.replacements]).toEqual([true, 0, []]);
  });

  it.for([
    { name: "without the gate", faults: { b: clears }, given: {} },
    { name: "for broken hardware", faults: { b: { ...clears, reason: "NvidiaXID79Error" } }, given: settings },
    { name: "for another condition", faults: { b: fault("KernelReady", 31) }, given: settings },
  ])("a node is replaced $name", ({ faults, given }) => {
    expect(reboots(plan(ten(), faults, given))).toBe(false);
  });

  it("a node with a second fault that needs another machine is replaced, as soon as that is due", () => {
    const both = (minutes: number) => {
      const built = broken(ten(), { b: clears });
      const nodes = built.nodes.map((node) =>
        node.metadata.name === "b"
          ? { ...node, status: { ...node.status, conditions: [...(node.status?.conditions ?? []), fault("KernelReady", minutes)] } }
          : node,
      );
      return planDisruption({
        ...{ snapshot: { ...built, nodes }, records: [], commands: [], now: NOW },
        settings: { cluster: "c", nodeRepair: true, ...settings },
        ...{ ...WITH_SOLVE, newId: () => "id" },
      }).command?.repair;
    };
    expect(both(29)).toMatchObject({ condition: "AcceleratedHardwareReady", reboots: true });
    expect(both(31)).toEqual({ condition: "KernelReady", reason: "Broken", drainMs: 5 * MINUTE });
  });

  const rebootingSince = (minutes: number, status: "True" | "False"): Condition => ({
    ...{ type: "Rebooting", status, reason: "RebootIssued", message: "" },
    lastTransitionTime: new Date(NOW - minutes * MINUTE).toISOString(),
  });
  const withReboot = (minutes: number, status: "True" | "False") =>
    ten({ machines: NAMES.map((name) => (name === "b" ? { name, conditions: [rebootingSince(minutes, status)] } : { name })) });

  it("a node that reboots is left alone, and its toleration begins again with the end of the reboot", () => {
    expect(reasonFor(plan(withReboot(1, "True"), { b: clears }, settings), "b")).toBe("Node is rebooting");
    expect(plan(withReboot(9, "False"), { b: clears }, settings).command).toBeUndefined();
    expect(reboots(plan(withReboot(10, "False"), { b: clears }, settings))).toBe(true);
  });

  it("a node that reboots uses every budget, although it is not initialized meanwhile", () => {
    const machines = NAMES.map((name) => (name === "b" ? { name, initialized: false, conditions: [rebootingSince(1, "True")] } : { name }));
    const scene = ten({ machines, pools: [nodePool("default", { consolidateAfter: "Never", budgets: [{ nodes: "1" }] })] });
    expect(plan(scene, { c: fault("KernelReady", 31) }, settings).command).toBeUndefined();
  });
});

describe("a repair that is checked again", () => {
  const scene = ten();
  const faults = { b: fault("KernelReady", 31) };
  const { command } = plan(scene, faults);
  const check = (now: number, again: Faults) => {
    const view = viewCluster({ snapshot: broken(scene, again), records: [], commands: [], now });
    return command && validate(command, view, WITH_SOLVE.simulate);
  };

  it("holds while the node is unhealthy, at once and later", () => {
    expect([check(NOW, faults)?.holds, check(NOW + MINUTE, faults)?.holds]).toEqual([true, true]);
  });

  it("does not hold for a node that is well again", () => {
    expect(check(NOW, {})).toEqual({ holds: false, why: "churn" });
  });

  it("does not hold once too many nodes are unhealthy", () => {
    expect(check(NOW, { ...faults, c: fault("Ready", 1), d: fault("Ready", 1) })).toEqual({ holds: false, why: "churn" });
  });
});
