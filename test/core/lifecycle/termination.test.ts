import { describe, expect, it } from "vitest";
import type { Action, ClaimView } from "../../../core/lifecycle/action.ts";
import { advance } from "../../../core/lifecycle/advance.ts";
import type { Instance } from "../../../core/model/instance.ts";
import { TERMINATION_TIMESTAMP } from "../../../core/model/labels.ts";
import { at, INSTANCE, NOW, node, nodeClaim, pod, record, view } from "../../support/builders.ts";

const ending = (reason = "expired", secondsAgo = 20) =>
  record({ uid: "uid-1", instance: INSTANCE, terminating: { reason, at: NOW - secondsAgo * 1_000 } });
const going = (conditions: readonly string[] = ["Launched", "Registered", "Initialized"], change = {}) =>
  nodeClaim({ conditions, deletionTimestamp: at(20), ...change });
const types = (v: ClaimView): readonly string[] => advance(v).actions.map(({ type }) => type);
const evicted = (actions: readonly Action[]): readonly string[] =>
  actions.flatMap((a) => (a.type === "Evict" ? [a.pod.metadata.name] : []));
const running: Instance = { ...INSTANCE, state: "running", launchedAt: 0, tags: {} };
const DRAINED = ["Launched", "Registered", "Initialized", "Drained", "VolumesDetached"];

describe("a claim's end takes the first step that is missing", () => {
  it.for([
    { name: "the claim is deleted", v: view({ record: ending(), claim: nodeClaim({ conditions: ["Launched"] }) }), want: ["DeleteClaim"] },
    { name: "then the node", v: view({ record: ending(), claim: going(), nodes: [node()] }), want: ["DeleteNode"] },
    {
      name: "the node is tainted before anything moves",
      v: view({
        record: ending(),
        claim: going(),
        nodes: [{ ...node("going"), spec: { ...node("going").spec, taints: [] } }],
        pods: [pod("a")],
      }),
      want: ["WriteNode", "Log"],
    },
    {
      name: "pods are evicted",
      v: view({ record: ending(), claim: going(), nodes: [node("going")], pods: [pod("a")] }),
      want: ["WriteClaim", "Evict", "Event"],
    },
    {
      name: "an empty node is watched for 5 s",
      v: view({ record: ending(), claim: going(), nodes: [node("going")] }),
      want: ["WriteClaim"],
    },
    {
      name: "a drained node's instance is ended",
      v: view({ record: ending(), claim: going(DRAINED), nodes: [node("going")], instance: running }),
      want: ["TerminateInstance", "WriteClaim"],
    },
    {
      name: "which is asked for once",
      v: view({
        record: ending(),
        claim: going([...DRAINED, "InstanceTerminating", "Ready"]),
        nodes: [node("going")],
        instance: { ...running, state: "shutting-down" },
      }),
      want: [],
    },
    {
      name: "then the node is let go",
      v: view({ record: ending(), claim: going(DRAINED), nodes: [node("going")], instance: "gone" }),
      want: ["WriteNode", "Log", "Count", "Observe"],
    },
    {
      name: "then the claim",
      v: view({ record: ending(), claim: going(DRAINED), instance: "gone" }),
      want: ["WriteClaim", "Log", "Count", "Observe"],
    },
    {
      name: "and what others' finalizers hold is left to them",
      v: view({ record: ending(), claim: going(DRAINED, { finalizers: ["example.com/other"] }), instance: "gone" }),
      want: ["Wake", "Forget"],
    },
    {
      name: "a stranger of the same name, and its node, are left alone",
      v: view({
        record: record({ terminating: { reason: "deleted", at: NOW } }),
        claim: nodeClaim({ annotations: {}, uid: "other", conditions: ["Launched", "Registered"] }),
        nodes: [node()],
      }),
      want: ["Wake", "Forget"],
    },
    {
      name: "an instance that EC2 does not show yet is ended all the same",
      v: view({ record: { ...ending(), launchedAt: NOW - 30_000 }, claim: going(["Launched"]), instance: "gone" }),
      want: ["TerminateInstance", "WriteClaim"],
    },
    {
      name: "one that EC2 does not show long after its launch has gone",
      v: view({ record: { ...ending(), launchedAt: NOW - 90_000 }, claim: going(["Launched"]), instance: "gone" }),
      want: types(view({ record: ending(), claim: going(["Launched"]), instance: "gone" })),
    },
    { name: "and the record last of all", v: view({ record: ending(), instance: "gone" }), want: ["Wake", "Forget"] },
    {
      name: "a machine that is gone is not drained",
      v: view({ record: ending(), claim: going(), nodes: [node("going", { ready: false })], pods: [pod("a")], instance: "gone" }),
      want: ["WriteNode", "Log", "Count", "Observe"],
    },
    {
      name: "a launch whose answer was lost is looked for",
      v: view({
        record: record({
          uid: "uid-1",
          launch: { clientToken: "t", capacityType: "spot", launchTemplates: [], tags: {} },
          launchRequestedAt: NOW - 5_000,
          terminating: { reason: "deleted", at: NOW },
        }),
        claim: going([]),
      }),
      want: ["FindInstance"],
    },
    {
      name: "also when it was stored long ago: who sends it may not know yet that the claim goes",
      v: view({
        record: record({
          uid: "uid-1",
          launch: { clientToken: "t", capacityType: "spot", launchTemplates: [], tags: {} },
          launchRequestedAt: NOW - 120_000,
          terminating: { reason: "deleted", at: NOW - 1_000 },
        }),
        claim: going([]),
      }),
      want: ["FindInstance"],
    },
  ])("$name", ({ v, want }) => {
    expect(types(v)).toEqual(want);
  });

  it("asks EC2 only when the answer decides", () => {
    expect(advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods: [pod("a")] })).ask).toBeUndefined();
    expect(advance(view({ record: ending(), claim: going(DRAINED), nodes: [node("going")] })).ask).toBe("instance");
  });
});

describe("drain order (nodeclaim-lifecycle.md §12)", () => {
  const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
  const critical = { priorityClassName: "system-node-critical" };
  const drainOf = (pods: ClaimView["pods"]) => advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods })).actions;

  it("goes by groups: plain, daemons, critical, critical daemons", () => {
    const all = [pod("plain"), pod("daemon", {}, daemon), pod("critical", critical), pod("critical-daemon", critical, daemon)];
    expect(evicted(drainOf(all))).toEqual(["plain"]);
    expect(evicted(drainOf(all.slice(1)))).toEqual(["daemon"]);
    expect(evicted(drainOf(all.slice(2)))).toEqual(["critical"]);
    expect(evicted(drainOf(all.slice(3)))).toEqual(["critical-daemon"]);
  });

  it.for([
    { name: "each second at first", secondsAgo: 20, want: 1 },
    { name: "every five after five minutes", secondsAgo: 300, want: 5 },
    { name: "every ten at most", secondsAgo: 86_400, want: 10 },
    { name: "in time for what a deadline forces", secondsAgo: 86_400, deadline: 34, want: 4 },
  ])("a drain that is held up is looked at $name", ({ secondsAgo, deadline, want }) => {
    const annotations = deadline === undefined ? {} : { [TERMINATION_TIMESTAMP]: at(-deadline) };
    const claim = going(undefined, { annotations });
    const step = advance(view({ record: ending("deleted", secondsAgo), claim, nodes: [node("going")], pods: [pod("a")] }));
    expect(step.wakeAt).toBe(NOW + want * 1_000);
  });

  it("a pod that must not be disrupted holds its group, and the groups behind it", () => {
    const held = pod("held", {}, { annotations: { "karpenter.sh/do-not-disrupt": "true" } });
    expect(evicted(drainOf([held, pod("daemon", {}, daemon)]))).toEqual([]);
  });

  it("passes over what stays: pods that tolerate the taint, mirrors, finished ones", () => {
    const tolerant = pod("tolerant", { tolerations: [{ operator: "Exists" }] });
    const mirror = pod("mirror", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "n" }] });
    const done = { ...pod("done"), status: { phase: "Succeeded" as const } };
    expect(drainOf([tolerant, mirror, done]).map(({ type }) => type)).toEqual(["WriteClaim"]);
  });

  it("with a deadline deletes a pod in time for its grace period, whatever protects it", () => {
    const held = pod("held", { terminationGracePeriodSeconds: 60 }, { annotations: { "karpenter.sh/do-not-disrupt": "true" } });
    const withDeadline = (seconds: number) =>
      advance(
        view({
          record: ending(),
          claim: going(undefined, { annotations: { [TERMINATION_TIMESTAMP]: at(-seconds) } }),
          nodes: [node("going")],
          pods: [held],
        }),
      ).actions;
    expect(withDeadline(61).map(({ type }) => type)).not.toContain("DeletePod");
    expect(withDeadline(50)).toContainEqual({ type: "DeletePod", pod: held, gracePeriodSeconds: 50 });
  });
});

describe("after a spot notice the pods stay until their replacement is up", () => {
  const noticed = (secondsAgo: number, replacements: ClaimView["replacements"]) =>
    evicted(
      advance(
        view({ record: ending("spot_interrupted", secondsAgo), claim: going(), nodes: [node("going")], pods: [pod("a")], replacements }),
      ).actions,
    );
  const coming = record({ name: "next" });

  it.for([
    { name: "the planner gets 10 s", secondsAgo: 5, replacements: [], want: [] },
    { name: "nothing was planned: drain", secondsAgo: 11, replacements: [], want: ["a"] },
    { name: "a replacement is on its way", secondsAgo: 60, replacements: [coming], want: [] },
    { name: "it is up", secondsAgo: 60, replacements: [{ ...coming, initializedAt: NOW }], want: ["a"] },
    { name: "it takes too long: 45 s are kept for draining", secondsAgo: 76, replacements: [coming], want: ["a"] },
  ])("$name", ({ secondsAgo, replacements, want }) => {
    expect(noticed(secondsAgo, replacements)).toEqual(want);
  });
});

describe("a do-not-disrupt annotation", () => {
  it.for([
    { value: "true", published: undefined },
    { value: "30m", published: undefined },
    {
      value: "yes",
      published:
        'Invalid karpenter.sh/do-not-disrupt annotation: "yes" is neither "true" nor a duration such as "30m", ignoring annotation',
    },
    {
      value: "-5m",
      published:
        'Invalid karpenter.sh/do-not-disrupt annotation: "-5m" is neither "true" nor a duration such as "30m", ignoring annotation',
    },
  ])("of $value", ({ value, published }) => {
    const annotated = pod("a", {}, { annotations: { "karpenter.sh/do-not-disrupt": value } });
    const { actions } = advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods: [annotated] }));
    const events = actions.flatMap((a) =>
      a.type === "Event" && a.event.reason === "InvalidDoNotDisruptAnnotation" ? [a.event.message] : [],
    );
    expect(events).toEqual(published === undefined ? [] : [published]);
    expect(evicted(actions)).toEqual(published === undefined ? [] : ["a"]);
  });
});

describe("the deadline of a drain", () => {
  const graceful = (annotations: Readonly<Record<string, string>> = {}) => {
    const claim = going(undefined, { annotations: { ...nodeClaim().metadata.annotations, ...annotations } });
    return { ...claim, spec: { ...claim.spec, terminationGracePeriod: "10m" } };
  };
  const written = (claim: ReturnType<typeof graceful>, deadline?: number): string | undefined => {
    const { terminating } = ending();
    const forced = {
      ...ending(),
      terminating: { reason: "unhealthy", at: NOW, ...terminating, ...(deadline !== undefined && { deadline }) },
    };
    const [first] = advance(view({ record: forced, claim, nodes: [node("going")] })).actions;
    return first?.type === "WriteClaim" && first.metadata ? first.claim.metadata.annotations?.[TERMINATION_TIMESTAMP] : undefined;
  };

  it.for([
    { name: "follows from terminationGracePeriod", claim: graceful(), deadline: undefined, want: at(20 - 600) },
    { name: "is sooner when the machine is not fit to wait for", claim: graceful(), deadline: NOW, want: at(0) },
    { name: "stays once it is written", claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }), deadline: undefined, want: undefined },
    { name: "is brought forward", claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }), deadline: NOW, want: at(0) },
    { name: "is never put off", claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }), deadline: NOW + 120_000, want: undefined },
    { name: "needs no terminationGracePeriod", claim: going() as ReturnType<typeof graceful>, deadline: NOW, want: at(0) },
    { name: "is none without either", claim: going() as ReturnType<typeof graceful>, deadline: undefined, want: undefined },
  ])("$name", ({ claim, deadline, want }) => {
    expect(written(claim, deadline)).toBe(want);
  });

  it("is told on node and claim", () => {
    const { actions } = advance(view({ record: ending(), claim: graceful(), nodes: [node("going")] }));
    const kinds = actions.flatMap((action) => (action.type === "Event" ? [`${action.event.reason} ${action.event.about.kind}`] : []));
    expect(kinds).toEqual(["TerminationGracePeriodExpiring NodeClaim", "TerminationGracePeriodExpiring Node"]);
  });
});
