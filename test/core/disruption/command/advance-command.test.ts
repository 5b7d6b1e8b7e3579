import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { advanceCommand, type CommandInput } from "#core/disruption/command/advance-command.ts";
import type { CommandAction } from "#core/disruption/command/command-action.ts";
import { heal } from "#core/disruption/command/marking.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import { type CommandRecord, disruptingClaims } from "#core/model/command-record.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { NOW, planned, pod, roomForAll, type Scene, simulated, snapshot } from "../builders.ts";

/** A cluster on which a simulated shell performs actions one by one, until its process is killed. */
class Shell {
  now = NOW;
  snapshot: Snapshot;
  records: NodeClaimRecord[] = [];
  commands: CommandRecord[] = [];
  readonly published: CommandAction[] = [];
  readonly ends: string[] = [];
  /** Actions left until the process is killed. */
  life = Number.POSITIVE_INFINITY;
  readonly simulate: Simulate;

  constructor(scene: Scene, simulate: Simulate) {
    this.snapshot = snapshot(scene);
    this.simulate = simulate;
  }

  get input(): CommandInput {
    const { snapshot: s, records, commands, now, simulate } = this;
    return { snapshot: s, records, commands, settings: { cluster: "c" }, now, simulate };
  }

  decide(): void {
    const { command } = planDisruption({ ...this.input, makeTrial: undefined, newId: () => "id-1" });
    if (command) this.commands = [command];
  }

  /** One pass in the order of functions/disruption/disrupt.ts. Returns false when the process was killed. */
  pass(): boolean {
    for (const command of this.commands) {
      const step = advanceCommand(command, this.input);
      for (const action of step.actions) if (!this.perform(action)) return false;
      if (this.life-- <= 0) return false;
      if (step.done) {
        this.ends.push(step.done);
        this.commands = this.commands.filter(({ id }) => id !== command.id);
      } else if (step.next) {
        const { next } = step;
        this.commands = this.commands.map((other) => (other.id === next.id ? next : other));
      }
    }
    for (const action of heal(this.input)) if (!this.perform(action)) return false;
    return true;
  }

  perform(action: CommandAction): boolean {
    if (this.life-- <= 0) return false;
    this.published.push(action);
    switch (action.type) {
      case "Taint":
        this.changeNode(action.node, (node) => ({
          ...node,
          spec: { ...node.spec, taints: [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }] },
        }));
        break;
      case "Untaint":
        this.changeNode(action.node, (node) => ({ ...node, spec: { ...node.spec, taints: [] } }));
        break;
      case "SetDisruptionReason":
        this.setCondition(action.claim, "DisruptionReason", true);
        break;
      case "ClearDisruptionReason":
        this.setCondition(action.claim, "DisruptionReason", false);
        break;
      case "WriteReplacements":
        for (const { name, intentId } of action.replacements) {
          if (!this.records.some((r) => r.intentId === intentId)) this.records.push(record(name, intentId, action.command.id));
        }
        this.commands = this.commands.map((other) => (other.id === action.command.id ? action.command : other));
        break;
      case "DeleteClaim":
        this.changeClaim(action.claim, (claim) => ({
          ...claim,
          metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" },
        }));
        break;
      default:
        break;
    }
    return true;
  }

  changeNode(name: string, change: (node: Node) => Node): void {
    this.snapshot = { ...this.snapshot, nodes: this.snapshot.nodes.map((node) => (node.metadata.name === name ? change(node) : node)) };
  }

  changeClaim(name: string, change: (claim: NodeClaim) => NodeClaim): void {
    const nodeClaims = this.snapshot.nodeClaims.map((claim) => (claim.metadata.name === name ? change(claim) : claim));
    this.snapshot = { ...this.snapshot, nodeClaims };
  }

  setCondition(claimName: string, type: string, on: boolean): void {
    this.changeClaim(claimName, (claim) => {
      const others = (claim.status?.conditions ?? []).filter((condition) => condition.type !== type);
      const conditions: Condition[] = on ? [...others, { type, status: "True" }] : others;
      return { ...claim, status: { ...claim.status, conditions } };
    });
  }

  replaceRecords(change: (records: NodeClaimRecord[]) => NodeClaimRecord[]): void {
    this.records = change(this.records);
  }

  initialize(): void {
    this.replaceRecords((records) => records.map((r) => ({ ...r, initializedAt: this.now })));
  }

  wait(ms: number): void {
    this.now += ms;
  }

  /** The persistent state: cluster objects, records and commands. */
  get state(): unknown {
    return {
      nodes: this.snapshot.nodes.map(({ metadata, spec }) => [metadata.name, (spec.taints ?? []).length]),
      claims: this.snapshot.nodeClaims.map(({ metadata, status }) => [
        metadata.name,
        metadata.deletionTimestamp !== undefined,
        (status?.conditions ?? []).some(({ type }) => type === "DisruptionReason"),
      ]),
      records: this.records.map(({ name, intentId }) => [name, intentId]),
      commands: this.commands,
    };
  }

  messages(): readonly string[] {
    return this.published.flatMap((action) => (action.type === "Log" ? [action.message] : []));
  }

  types(): readonly string[] {
    return this.published.map(({ type }) => type).filter((type) => !["Log", "Count", "Event"].includes(type));
  }
}

function record(name: string, intentId: string, commandId: string): NodeClaimRecord {
  return {
    cluster: "c",
    name,
    version: 1,
    intentId,
    manifest: { metadata: { name }, spec: { requirements: [], nodeClassRef: { group: "g", kind: "k", name: "n" } } },
    reason: "underutilized",
    createdAt: NOW,
    podUids: [],
    instanceTypes: [],
    pricePerHour: 0,
    commandId,
    launchAttempts: 0,
    dueAt: NOW,
  };
}

const oneNew = simulated(({ excludeNodes }) => (excludeNodes.size > 0 ? { newNodeClaims: [planned({ pods: ["default/p"] })] } : {}));
const busy: Scene = { machines: [{ name: "a" }], pods: [pod("p", "a")] };

function decided(scene = busy, simulate: Simulate = oneNew): Shell {
  const shell = new Shell(scene, simulate);
  shell.decide();
  return shell;
}

describe("replacing a node", () => {
  it("validates after 15 s, marks, creates the replacement, waits for it, and then deletes", () => {
    const shell = decided();
    expect(shell.commands[0]).toMatchObject({ method: "single", decision: "replace", phase: "Validating", dueAt: NOW + 15_000 });
    shell.now += 14_999;
    shell.pass();
    expect(shell.published).toEqual([]);
    shell.now += 1;
    shell.pass();
    expect(shell.types()).toEqual(["Taint", "SetDisruptionReason", "WriteReplacements"]);
    expect(shell.commands[0]).toMatchObject({ phase: "Replacing", replacementClaims: [shell.records[0]?.name] });
    expect(shell.records[0]?.name).toMatch(/^default-[a-z0-9]{5}$/);
    shell.now += 60_000;
    shell.pass();
    expect(shell.types()).toHaveLength(3);
    shell.initialize();
    shell.pass();
    shell.pass();
    expect(shell.types().slice(3)).toEqual(["DeleteClaim"]);
    shell.pass();
    expect(shell.ends).toEqual(["succeeded"]);
  });

  it("logs and counts in Karpenter's words", () => {
    const shell = decided();
    shell.now += 15_000;
    shell.pass();
    expect(shell.messages()).toEqual([
      "disrupting nodeclaim(s) via replace, terminating 1 nodes (1 pods) a/large/on-demand and replacing with on-demand node from types small, medium",
    ]);
    const log = shell.published.find((action) => action.type === "Log");
    expect(log).toMatchObject({
      level: "info",
      fields: {
        reason: "underutilized",
        decision: "replace",
        command: "Underutilized/id-1: replace: nodepools=[default]: [a] -> [1 replacement] (savings: $0.30)",
        "disrupted-node-count": 1,
        "replacement-node-count": 1,
        "pod-count": 1,
        "disrupted-nodes": [
          { Node: { name: "a" }, NodeClaim: { name: "a-claim" }, "instance-type": "large", "capacity-type": "on-demand" },
        ],
        "replacement-nodes": [{ "capacity-type": "on-demand", "instance-types": "small, medium" }],
      },
    });
  });

  it.for([
    { name: "churn, when the node has changed", change: (s: Shell) => s.setCondition("a-claim", "Initialized", false), why: "churn" },
    {
      name: "budget, when another node is not ready",
      change: (s: Shell) => {
        s.snapshot = {
          ...s.snapshot,
          nodePools: s.snapshot.nodePools.map((pool) => ({
            ...pool,
            spec: { ...pool.spec, disruption: { consolidateAfter: "0s", budgets: [{ nodes: "0" }] } },
          })),
        };
      },
      why: "budget",
    },
  ])("is abandoned for $name", ({ change, why }) => {
    const shell = decided();
    shell.now += 15_000;
    change(shell);
    shell.pass();
    expect(shell.ends).toEqual(["failed"]);
    expect(shell.types()).toEqual([]);
    expect(shell.published).toContainEqual({
      type: "Count",
      metric: "voluntary_disruption_failed_validations_total",
      labels: { consolidation_type: "single" },
      value: 1,
    });
    const published = shell.published.flatMap((action) => (action.type === "Event" ? [action.event.message] : []));
    expect(published[0]).toBe(
      `Consolidation rejected: Underutilized/replace: nodepools=[default]: [a] -> [1 replacement], reason: ${why} (savings: $0.30)`,
    );
  });

  it("is abandoned when the scheduler plans another type", () => {
    const answers = [planned({ pods: ["default/p"] }), planned({ instanceTypes: ["medium"] })];
    let asked = 0;
    const shell = decided(
      busy,
      simulated(() => ({ newNodeClaims: [answers[Math.min(asked++, 1)] ?? planned()] })),
    );
    shell.now += 15_000;
    shell.pass();
    expect(shell.ends).toEqual(["failed"]);
  });

  it.for([
    { name: "is lost", spoil: (s: Shell) => s.replaceRecords(() => []) },
    {
      name: "is terminating",
      spoil: (s: Shell) => s.replaceRecords((records) => records.map((r) => ({ ...r, terminating: { reason: "x", at: s.now } }))),
    },
    {
      name: "was initialized and is deleted",
      spoil: (s: Shell) =>
        s.replaceRecords((records) => records.map((r) => ({ ...r, initializedAt: s.now, terminating: { reason: "x", at: s.now } }))),
    },
    { name: "takes longer than ten minutes", spoil: (s: Shell) => s.wait(10 * 60_000) },
  ])("is rolled back when the replacement $name", ({ spoil }) => {
    const shell = decided();
    shell.now += 15_000;
    shell.pass();
    spoil(shell);
    shell.pass();
    expect(shell.commands[0]?.phase).toBe("RollingBack");
    shell.pass();
    expect(shell.ends).toEqual(["failed"]);
    expect(shell.types().slice(3)).toEqual(["Untaint", "ClearDisruptionReason"]);
    expect(shell.messages()).toContain("failed terminating nodes while executing a disruption command");
  });

  it("ends when the node is deleted by another client", () => {
    const shell = decided();
    shell.now += 15_000;
    shell.pass();
    shell.perform({ type: "DeleteClaim", commandId: "c1", claim: "a-claim", reason: "deleted" });
    shell.pass();
    expect(shell.ends).toEqual(["succeeded"]);
  });
});

it("a consolidation is abandoned unless all its nodes are still candidates", () => {
  const names = ["a", "b", "c"];
  const shell = decided({ machines: names.map((name) => ({ name })), pods: names.map((name) => pod(`p${name}`, name)) }, roomForAll);
  expect(shell.commands[0]).toMatchObject({ method: "multi", candidates: [{ node: "a" }, { node: "b" }, { node: "c" }] });
  shell.snapshot = { ...shell.snapshot, pods: shell.snapshot.pods.slice(1) };
  shell.now += 15_000;
  shell.pass();
  expect(shell.ends).toEqual(["failed"]);
  expect(shell.types()).toEqual([]);
});

it("nodes are marked for deletion only in the phases Replacing and Deleting", () => {
  const [command] = decided().commands;
  if (!command) throw new Error("a busy node with a cheaper replacement must make a command");
  const going = (["Validating", "Replacing", "Deleting", "RollingBack"] as const).filter(
    (phase) => disruptingClaims([{ ...command, phase }]).size > 0,
  );
  expect(going).toEqual(["Replacing", "Deleting"]);
});

describe("deleting empty nodes", () => {
  it("continues with the nodes that are still empty", () => {
    const shell = decided({ machines: [{ name: "a" }, { name: "b" }] }, roomForAll);
    shell.snapshot = { ...shell.snapshot, pods: [pod("p", "a")] };
    shell.now += 15_000;
    shell.pass();
    expect(shell.messages()).toEqual(["disrupting nodeclaim(s) via delete, terminating 1 nodes (0 pods) b/large/on-demand"]);
    shell.pass();
    shell.pass();
    expect(shell.ends).toEqual(["succeeded"]);
    expect(shell.snapshot.nodeClaims.map(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([false, true]);
  });
});

it("a Drift command does not wait for its validation", () => {
  const shell = decided({ machines: [{ name: "a", drifted: "2025-12-31T00:00:00Z" }], pods: [pod("p", "a")] });
  expect(shell.commands[0]).toMatchObject({ method: "drift", dueAt: NOW });
  shell.pass();
  expect(shell.types()).toEqual(["Taint", "SetDisruptionReason", "WriteReplacements"]);
});

it("a pass leaves the taints and conditions of a node that must not be touched", () => {
  const taints = [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" as const }];
  const shell = new Shell({ machines: [{ name: "a", taints, conditions: [{ type: "DisruptionReason", status: "True" }] }] }, roomForAll);
  shell.snapshot = { ...shell.snapshot, untouchable: new Map([["a", "another controller launched it"]]) };
  expect(heal(shell.input)).toEqual([]);
});

it("a pass removes taints and conditions that belong to no command, and no others", () => {
  const taints = [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" as const }];
  const conditions = [{ type: "DisruptionReason", status: "True" as const }];
  const shell = new Shell(
    {
      machines: [{ name: "a", taints, conditions }, { name: "b", taints, deletionTimestamp: "2026-01-01T11:59:00Z" }, { name: "c" }],
    },
    roomForAll,
  );
  expect(heal(shell.input)).toEqual([
    { type: "Untaint", node: "a" },
    { type: "ClearDisruptionReason", claim: "a-claim" },
  ]);
});

/** Runs a command to its end; `kills` are the numbers of actions after which the process is killed, one per run. */
function runThrough(scene: Scene, simulate: Simulate, kills: readonly number[], spoil: boolean): Shell {
  const shell = decided(scene, simulate);
  shell.now += 15_000;
  const lives = [...kills];
  for (let pass = 0; pass < 30 && shell.commands.length > 0; pass++) {
    shell.life = lives.shift() ?? Number.POSITIVE_INFINITY;
    const survived = shell.pass();
    if (survived && shell.commands[0]?.phase === "Replacing") {
      if (spoil) shell.now += 10 * 60_000;
      else shell.initialize();
    }
  }
  return shell;
}

it.for([
  { name: "a replacement", scene: busy, simulate: oneNew, spoil: false },
  { name: "a replacement that is never initialized", scene: busy, simulate: oneNew, spoil: true },
  {
    name: "several nodes deleted without a replacement",
    scene: { machines: ["a", "b", "c"].map((name) => ({ name })), pods: ["a", "b", "c"].map((name) => pod(`p${name}`, name)) },
    simulate: roomForAll,
    spoil: false,
  },
])("a command ends in the same state however often its run is killed: $name", ({ scene, simulate, spoil }) => {
  const calm = runThrough(scene, simulate, [], spoil);
  expect(calm.commands).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 12 }), (kills) => {
      expect(runThrough(scene, simulate, kills, spoil).state).toEqual(calm.state);
    }),
  );
});
