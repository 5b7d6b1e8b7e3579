import { describe, expect, it } from "vitest";
import { clusterOverview, podOverviews } from "#core/insight/overview/cluster.ts";
import { type Decisions, decisionsOf, type ReadState } from "#core/insight/overview/decisions.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import * as objects from "#test/support/objects.ts";
import { NOW, nodePool, pdb, pod, type Scene, snapshot } from "../../disruption/builders.ts";

const state = (scene: Scene, more: Partial<ReadState> = {}): ReadState => ({
  snapshot: snapshot(scene),
  records: [],
  commands: [],
  ...more,
});
const decide = (given: ReadState): Decisions =>
  decisionsOf(given, { disruption: disruptionSettings("c1", DEFAULT_SETTINGS), solve: DEFAULT_SETTINGS });
const overview = (given: ReadState) => clusterOverview("c1", given, decide(given));

/** A pod that kube-scheduler found unschedulable. */
const waiting = (name: string, cpu = "1") =>
  pod(name, undefined, {
    spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] },
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available" }],
    },
  });

describe("nodes of an overview", () => {
  const scene: Scene = {
    pools: [nodePool("default", { consolidateAfter: "Never" })],
    machines: [{ name: "n1" }, { name: "n2", capacityType: "spot", type: "small" }],
    pods: [pod("p", "n1"), pod("q", "n1")],
  };

  it("a node shows what its pods ask for, in cores and bytes, beside what it has", () => {
    const [n1] = overview(state(scene)).nodes;
    expect(n1?.room).toEqual([
      { name: "cpu", requested: 2, allocatable: 4 },
      { name: "memory", requested: 0, allocatable: 8 * 2 ** 30 },
      { name: "pods", requested: 2, allocatable: 50 },
    ]);
    expect(n1).toMatchObject({ instanceType: "large", capacityType: "on-demand", zone: "a", nodePool: "default", state: "ready", pods: 2 });
  });

  it("the cost of spot nodes is beside the on-demand price of the same type, for pools and the cluster", () => {
    const { cost, nodePools, nodes } = overview(state(scene));
    expect(nodes.map(({ pricePerHour, onDemandPerHour }) => [pricePerHour, onDemandPerHour])).toEqual([
      [0.4, 0.4],
      [expect.closeTo(0.04), 0.1],
    ]);
    expect(cost).toEqual({ perHour: expect.closeTo(0.44), onDemandPerHour: 0.5, unpriced: 0 });
    expect(nodePools[0]?.cost).toEqual(cost);
  });

  it("a node of an unknown price counts as unpriced, and an instance that shuts down as nothing", () => {
    const ending = objects.fullCondition("InstanceTerminating", "2026-01-01T11:00:00Z");
    const { cost } = overview(
      state({
        ...scene,
        machines: [
          { name: "n1", type: "unknown" },
          { name: "n2", conditions: [ending] },
        ],
      }),
    );
    expect(cost).toEqual({ perHour: 0, onDemandPerHour: 0, unpriced: 1 });
  });

  it.for([
    { name: "ready", machine: {}, want: { state: "ready" } },
    { name: "kubelet down", machine: { ready: false }, want: { state: "not ready" } },
    { name: "young", machine: { initialized: false }, want: { state: "starting", problem: "It is not initialized yet" } },
    { name: "deleted", machine: { deletionTimestamp: "2026-01-01T11:59:00Z" }, want: { state: "leaving" } },
  ])("the state of a node that is $name", ({ machine, want }) => {
    expect(overview(state({ ...scene, machines: [{ name: "n1", ...machine }] })).nodes[0]).toMatchObject(want);
  });

  it("a node that no NodePool made has no fate of ours and no price", () => {
    const { nodes, cost } = overview(
      state({ ...scene, machines: [{ name: "n1", without: ["karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass"] }] }),
    );
    expect(nodes[0]?.fate.verdict).toBe("stays");
    const foreign = snapshot(scene);
    const plain = { ...foreign, nodeClaims: [], nodes: foreign.nodes.map((node) => ({ ...node, metadata: { name: node.metadata.name } })) };
    const seen = overview(state({}, { snapshot: plain }));
    expect(seen.nodes.map(({ fate }) => fate.verdict)).toEqual(["other", "other"]);
    expect([cost.perHour, seen.cost.perHour]).toEqual([0, 0]);
  });
});

describe("whether a node stays", () => {
  const machines = [{ name: "n1" }];
  const fate = (scene: Scene, more: Partial<ReadState> = {}) => overview(state({ machines, ...scene }, more)).nodes[0]?.fate;

  it("an empty node goes, and the command of the next pass is shown as planned", () => {
    const seen = overview(state({ machines }));
    expect(seen.nodes[0]?.fate).toMatchObject({
      verdict: "goes",
      text: expect.stringMatching(/^The next pass removes n1 \(large\); moves 0 pods, saves \$0\.4000\/h/),
    });
    expect(seen.commands).toMatchObject([{ phase: "planned", method: "emptiness", nodes: ["n1"], savingsPerHour: 0.4 }]);
  });

  it.for([
    {
      name: "a PodDisruptionBudget",
      scene: { pods: [pod("p", "n1")], pdbs: [pdb("web")] },
      want: /^Pdb prevents pod evictions \(PodDisruptionBudget=\[default\/web\]\)/,
    },
    {
      name: "do-not-disrupt",
      scene: { pods: [pod("p", "n1", { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } })] },
      want: /do-not-disrupt/,
    },
    {
      name: "a spent budget",
      scene: { pools: [nodePool("default", { budgets: [{ nodes: "0" }] })] },
      want: /would save \$0\.4000\/h, but NodePool default's budget \{nodes: 0\}/,
    },
  ])("a node stays because of $name", ({ scene, want }) => {
    expect(fate(scene)).toMatchObject({ verdict: "stays", text: expect.stringMatching(want) });
  });

  it("without decisions nothing is claimed about a node", () => {
    expect(clusterOverview("c1", state({ machines })).nodes[0]?.fate).toEqual({
      verdict: "unseen",
      text: "Not looked at yet",
      details: [],
    });
  });

  it("a node that leaves names the pods that hold its drain", () => {
    const leaving = { machines: [{ name: "n1", deletionTimestamp: "2026-01-01T11:59:00Z" }], pods: [pod("p", "n1")], pdbs: [pdb("web")] };
    expect(fate(leaving)).toMatchObject({
      verdict: "leaving",
      details: ["Still there: default/p", "default/p is held by PodDisruptionBudget default/web"],
    });
  });

  it("a node of a command under way leaves with the command's sentence", () => {
    const command = decide(state({ machines })).pass.command as CommandRecord;
    const replacing: CommandRecord = { ...command, phase: "Deleting" };
    const seen = overview(state({ machines }, { commands: [replacing] }));
    expect(seen.nodes[0]).toMatchObject({
      state: "leaving",
      fate: { verdict: "leaving", text: expect.stringMatching(/^A command \(Deleting\) removes n1/) },
    });
    expect(seen.commands[0]).toMatchObject({ phase: "Deleting" });
  });
});

describe("pods that wait", () => {
  const reasons = (given: ReadState) =>
    overview(given).waiting.map(({ state: kind, text, pods }) => [kind, text, pods.map(({ name }) => name)]);

  it("pods that wait for the same are together, and those that no node can take come first", () => {
    const groups = reasons(state({ pods: [waiting("a"), waiting("b"), waiting("big", "64")] }));
    expect(groups).toEqual([
      ["left", expect.stringMatching(/NodePool default.*cpu/), ["big"]],
      ["planned", expect.stringMatching(/^The next pass buys a node from NodePool default for them: small/), ["a", "b"]],
    ]);
  });

  it("a pod for which a NodeClaim is on its way names it", () => {
    const seen = state({ pods: [waiting("a")] });
    const nominated = {
      ...seen,
      snapshot: { ...seen.snapshot, nominated: new Map([[seen.snapshot.pods[0]?.metadata.uid ?? "default/a", "default-x"]]) },
    };
    expect(overview(nominated).waiting).toMatchObject([{ state: "coming", target: "default-x", pods: [{ name: "a" }] }]);
  });

  it("a pod that fits on a node waits for kube-scheduler, and one that was not tried says so", () => {
    expect(reasons(state({ machines: [{ name: "n1" }], pods: [waiting("a"), { ...pod("new"), status: { phase: "Pending" } }] }))).toEqual([
      ["room", expect.stringMatching(/^n1 has room/), ["a"]],
      ["other", "kube-scheduler has not tried them yet", ["new"]],
    ]);
  });
});

describe("NodeClaims on their way", () => {
  const at = (second: number): string => new Date(NOW - 60_000 + second * 1_000).toISOString();
  const claim = (name: string, times: readonly (readonly [string, number])[]) =>
    objects.nodeClaim(name, {
      uid: `uid-${name}`,
      labels: { "karpenter.sh/nodepool": "default" },
      metadata: { creationTimestamp: at(0) },
      ...(times.length > 0 && { providerID: `aws:///a/i-${name}` }),
      conditions: times.map(([type, second]) => objects.fullCondition(type, at(second))),
    });
  const done = [
    ["Launched", 3],
    ["Registered", 33],
    ["Initialized", 45],
  ] as const;
  const seen = state({});
  const claims = [claim("old", done), claim("young", done.slice(0, 1)), claim("new", [])];
  const withClaims = { ...seen, snapshot: { ...seen.snapshot, nodeClaims: claims } };

  it("a NodeClaim shows its step, and how long the rest took on others", () => {
    const { claims: shown, stepTimes } = clusterOverview("c1", withClaims);
    expect(stepTimes).toEqual([
      { step: "launched", medianMs: 3_000, claims: 2 },
      { step: "registered", medianMs: 30_000, claims: 1 },
      { step: "initialized", medianMs: 12_000, claims: 1 },
    ]);
    expect(shown).toMatchObject([
      { name: "young", step: "launched", since: NOW - 57_000, usualMs: 42_000 },
      { name: "new", step: "created", since: NOW - 60_000, usualMs: 45_000 },
    ]);
  });

  it("where no NodeClaim has done a step, no duration is claimed", () => {
    const alone = { ...seen, snapshot: { ...seen.snapshot, nodeClaims: [claim("young", done.slice(0, 1))] } };
    expect(clusterOverview("c1", alone).claims[0]).not.toHaveProperty("usualMs");
  });

  it("a NodeClaim that terminates is not on its way", () => {
    const record = { name: "young", terminating: { reason: "x", at: NOW }, podUids: [] } as unknown as NodeClaimRecord;
    expect(clusterOverview("c1", { ...withClaims, records: [record] }).claims.map(({ name }) => name)).toEqual(["new"]);
  });
});

it("a NodePool shows usage beside its limits, and each budget with what it allows now", () => {
  const pool = nodePool(
    "default",
    { budgets: [{ nodes: "50%" }, { nodes: "0", reasons: ["Drifted"], schedule: "0 9 * * *", duration: "8h" }] },
    { limits: { cpu: "100" } },
  );
  const { nodePools } = overview(state({ pools: [pool], machines: [{ name: "n1" }, { name: "n2" }] }));
  expect(nodePools[0]?.usage).toEqual([
    { name: "cpu", used: 8, limit: 100 },
    { name: "memory", used: 16 * 2 ** 30, limit: null },
  ]);
  expect(nodePools[0]?.budgets.map(({ reason, limit, allowed, text }) => [reason, limit, allowed, text])).toEqual([
    ["Empty", 1, 1, "50%"],
    ["Underutilized", 1, 1, "50%"],
    ["Drifted", 0, 0, "0 (schedule 0 9 * * *, duration 8h)"],
  ]);
});

it("a NodePool that cannot be used says why", () => {
  const { nodePools } = overview({ ...state({}), snapshot: { ...snapshot({}), instanceTypes: new Map() } });
  expect(nodePools[0]?.problem).toMatch(/no instance types/);
});

it("pods are listed by namespace and name, whatever their names hold", () => {
  const hostile = '<img src=x onerror="alert(1)">';
  expect(podOverviews(state({ pods: [pod("b", "n1"), pod(hostile, "n1")] })).map(({ name }) => name)).toEqual([hostile, "b"]);
});
