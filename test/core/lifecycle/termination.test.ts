import { describe, expect, it } from "vitest";
import type { Action, ClaimView } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import { isDrainDue } from "#core/lifecycle/drain.ts";
import type { Instance } from "#core/model/instance.ts";
import { TERMINATION_TIMESTAMP } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { at, INSTANCE, NOW, node, nodeClaim, pod, record, view } from "../../support/builders.ts";

const ending = (reason = "expired", secondsAgo = 20) =>
  record({ uid: "uid-1", instance: INSTANCE, terminating: { reason, at: NOW - secondsAgo * 1_000 } });
const going = (conditions: readonly string[] = ["Launched", "Registered", "Initialized"], change = {}) =>
  nodeClaim({ conditions, deletionTimestamp: at(20), ...change });
const types = (v: ClaimView): readonly string[] => advance(v).actions.map(({ type }) => type);
const evicted = (actions: readonly Action[]): readonly string[] =>
  actions.flatMap((a) => (a.type === "Evict" ? [a.pod.metadata.name] : []));
const running: Instance = { ...INSTANCE, state: "running", launchedAt: 0, tags: { "eks:eks-cluster-name": "c1" } };
/** A node that is silent, because somebody has stopped its machine. */
const silent = (state: Instance["state"]): ClaimView =>
  view({
    record: ending("instance_stopped"),
    claim: going(),
    nodes: [node("going", { ready: false })],
    pods: [pod("a")],
    instance: { ...running, state },
  });
const UNKNOWN_DRAINED = { type: "Drained", status: "Unknown", reason: "Draining", message: "", lastTransitionTime: at(10) };
const DRAINED = ["Launched", "Registered", "Initialized", "Drained", "VolumesDetached"];

describe("whose instance a NodeClaim that was adopted has", () => {
  const adopted = record({ ...ending(), reason: "adopted" });
  const asks = (conditions: readonly string[]) => advance(view({ record: adopted, claim: going(conditions), nodes: [node("going")] })).ask;

  it("is asked before its drain begins, and again when the instance is terminated, but not for each look of the drain", () => {
    expect(asks(["Launched", "Registered", "Initialized"])).toBe("instance");
    const draining = { ...going(), status: { ...going().status, conditions: [...(going().status?.conditions ?? []), UNKNOWN_DRAINED] } };
    expect(advance(view({ record: adopted, claim: draining as NodeClaim, nodes: [node("going")], pods: [pod("a")] })).ask).toBeUndefined();
    expect(asks(DRAINED)).toBe("instance");
  });
});

describe("terminate takes the first step that is missing", () => {
  it.for([
    {
      name: "the NodeClaim is deleted",
      v: view({ record: ending(), claim: nodeClaim({ conditions: ["Launched"] }) }),
      want: ["DeleteClaim"],
    },
    {
      name: "the node is deleted after the NodeClaim",
      v: view({ record: ending(), claim: going(), nodes: [node()] }),
      want: ["DeleteNode"],
    },
    {
      name: "the node is tainted before pods are evicted",
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
      want: ["WriteClaim", "Count", "Evict", "Event"],
    },
    {
      name: "an empty node is drained for at least 5 s",
      v: view({ record: ending(), claim: going(), nodes: [node("going")] }),
      want: ["WriteClaim"],
    },
    {
      name: "a drained node's instance is terminated",
      v: view({ record: ending(), claim: going(DRAINED), nodes: [node("going")], instance: running }),
      want: ["TerminateInstance", "WriteClaim"],
    },
    {
      name: "an instance that shuts down is not terminated again",
      v: view({
        record: ending(),
        claim: going([...DRAINED, "InstanceTerminating", "Ready"]),
        nodes: [node("going")],
        instance: { ...running, state: "shutting-down" },
      }),
      want: [],
    },
    {
      name: "the node's finalizer is removed after the instance",
      v: view({ record: ending(), claim: going(DRAINED), nodes: [node("going")], instance: "gone" }),
      want: ["WriteNode", "Log", "Count", "Observe"],
    },
    {
      name: "the NodeClaim's finalizer is removed after the node's",
      v: view({ record: ending(), claim: going(DRAINED), instance: "gone" }),
      want: ["WriteClaim", "Log", "Count", "Observe"],
    },
    {
      name: "a NodeClaim with only foreign finalizers is left to their owners",
      v: view({ record: ending(), claim: going(DRAINED, { finalizers: ["example.com/other"] }), instance: "gone" }),
      want: ["Wake", "Wake", "Forget"],
    },
    {
      name: "a foreign NodeClaim of the same name, and its node, are ignored",
      v: view({
        record: record({ terminating: { reason: "deleted", at: NOW } }),
        claim: nodeClaim({ annotations: {}, uid: "other", conditions: ["Launched", "Registered"] }),
        nodes: [node()],
      }),
      want: ["Wake", "Wake", "Forget"],
    },
    {
      name: "an instance that EC2 does not show yet is terminated",
      v: view({ record: { ...ending(), launchedAt: NOW - 30_000 }, claim: going(["Launched"]), instance: "gone" }),
      want: ["TerminateInstance", "WriteClaim"],
    },
    {
      name: "an instance that EC2 does not show long after its launch is gone",
      v: view({ record: { ...ending(), launchedAt: NOW - 90_000 }, claim: going(["Launched"]), instance: "gone" }),
      want: types(view({ record: ending(), claim: going(["Launched"]), instance: "gone" })),
    },
    {
      name: "a machine that somebody stopped is terminated at once: no pod runs there that could be drained",
      v: silent("stopped"),
      want: ["TerminateInstance", "WriteClaim"],
    },
    {
      name: "a machine that is stopping is drained",
      v: silent("stopping"),
      want: ["WriteClaim", "Count", "Evict", "Event"],
    },
    { name: "the record is removed last", v: view({ record: ending(), instance: "gone" }), want: ["Wake", "Wake", "Forget"] },
    {
      name: "a node without an instance is not drained",
      v: view({ record: ending(), claim: going(), nodes: [node("going", { ready: false })], pods: [pod("a")], instance: "gone" }),
      want: ["WriteNode", "Log", "Count", "Observe"],
    },
    {
      name: "a launch whose answer was lost is searched for in EC2",
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
      name: "a launch stored long ago is searched for, because its sender may not know of the termination",
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

  it("terminate asks EC2 only when the answer decides", () => {
    expect(advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods: [pod("a")] })).ask).toBeUndefined();
    expect(advance(view({ record: ending(), claim: going(DRAINED), nodes: [node("going")] })).ask).toBe("instance");
  });
});

describe("what a drain takes", () => {
  const draining = (secondsAgo: number) => {
    const claim = going();
    const condition = { type: "Drained", status: "Unknown", reason: "Draining", message: "", lastTransitionTime: at(secondsAgo) } as const;
    return { ...claim, status: { ...claim.status, conditions: [...(claim.status?.conditions ?? []), condition] } };
  };

  it("an empty node is drained after five seconds, because a pod may have been bound just before the taint", () => {
    expect(types(view({ record: ending(), claim: draining(3), nodes: [node("going")] }))).toEqual([]);
    const drained = { record: ending(), claim: draining(5), nodes: [node("going")] };
    expect(advance(view({ ...drained, volumeAttachments: undefined })).ask).toBe("volumeAttachments");
    expect(advance(view({ ...drained, volumeAttachments: [] })).ask).toBe("instance");
    expect(types(view({ ...drained, volumeAttachments: [], instance: running }))).toEqual(["TerminateInstance", "WriteClaim", "Count"]);
  });

  it.for([
    {
      name: "without volumes one write says that its instance is terminated, too",
      want: ["Drained=True", "VolumesDetached=True", "InstanceTerminating=True"],
    },
    { name: "volumes that are not detached are waited for next", attached: [{ metadata: { name: "csi-1" } }], want: ["Drained=True"] },
    {
      name: "one write says that there are no volumes, when its instance has ended",
      instance: { ...running, state: "terminated" as const },
      want: ["Drained=True", "VolumesDetached=True"],
    },
  ])("once a node is drained, $name", ({ attached = [], instance = running, want }) => {
    const drained = { record: ending(), claim: draining(5), nodes: [node("going")] };
    const { actions } = advance(view({ ...drained, instance, volumeAttachments: attached as never }));
    const write = actions.find(({ type }) => type === "WriteClaim");
    const conditions = write?.type === "WriteClaim" ? (write.claim.status?.conditions ?? []) : [];
    const said = conditions.map(({ type, status }) => `${type}=${status}`).filter((one) => /Drained|Volumes|Instance/.test(one));
    expect(said).toEqual(want);
  });

  it("a node that is drained leaves load balancers, also when it has the taint already", () => {
    const balanced = { ...node("going"), metadata: { ...node("going").metadata, labels: { "karpenter.sh/registered": "true" } } };
    const [write] = advance(view({ record: ending(), claim: going(), nodes: [balanced], pods: [pod("a")] })).actions;
    expect(write?.type === "WriteNode" && write.node.metadata.labels?.["node.kubernetes.io/exclude-from-external-load-balancers"]).toBe(
      "karpenter",
    );
  });

  it("one pass evicts fifty pods", () => {
    const pods = Array.from({ length: 60 }, (_, i) => pod(`p${i}`));
    expect(evicted(advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods })).actions)).toHaveLength(50);
  });

  it.for([
    { name: "are waited for without a deadline", deadline: undefined, want: ["WriteClaim", "Event"], status: "Unknown" },
    { name: "are waited for until the deadline", deadline: -1, want: ["WriteClaim", "Event"], status: "Unknown" },
    { name: "are given up at the deadline", deadline: 0, want: ["WriteClaim"], status: "False" },
  ])("volumes that are not detached $name", ({ deadline, want, status }) => {
    const annotations = { ...nodeClaim().metadata.annotations, ...(deadline !== undefined && { [TERMINATION_TIMESTAMP]: at(deadline) }) };
    const claim = going(["Launched", "Registered", "Initialized", "Drained"], { annotations });
    const volumeAttachments = [{ metadata: { name: "csi-1" } }] as never;
    const { actions } = advance(view({ record: ending(), claim, nodes: [node("going")], volumeAttachments }));
    expect(actions.map(({ type }) => type)).toEqual(want);
    const [write] = actions;
    const written =
      write?.type === "WriteClaim" ? write.claim.status?.conditions?.find(({ type }) => type === "VolumesDetached") : undefined;
    expect(written?.status).toBe(status);
  });

  it("volumes are polled more seldom the longer they take, and until the deadline at most", () => {
    const wait = (seconds: number, annotations = {}) => {
      const claim = going(["Launched", "Registered", "Initialized", "Drained"], { annotations });
      const waiting = { type: "VolumesDetached", status: "Unknown", reason: "AwaitingVolumeDetachment", lastTransitionTime: at(seconds) };
      const status = { ...claim.status, conditions: [...(claim.status?.conditions ?? []), waiting] };
      const volumeAttachments = [{ metadata: { name: "csi-1" } }] as never;
      return advance(view({ record: ending(), claim: { ...claim, status } as NodeClaim, nodes: [node("going")], volumeAttachments }));
    };
    expect([0, 60, 240, 3_600].map((seconds) => (wait(seconds).polls?.[0] ?? 0) - NOW)).toEqual([1_000, 3_000, 4_000, 10_000]);
    expect(wait(0).waitsFor).toBe("volumes");
    expect(wait(0, { [TERMINATION_TIMESTAMP]: at(-3) })).toMatchObject({ polls: [NOW + 1_000, NOW + 2_000], wakeAt: NOW + 3_000 });
  });
});

describe("drain order", () => {
  const daemon = { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d" }] };
  const critical = { priorityClassName: "system-node-critical" };
  const drainOf = (pods: ClaimView["pods"]) => advance(view({ record: ending(), claim: going(), nodes: [node("going")], pods })).actions;

  it("a drain evicts groups in order: ordinary pods, DaemonSet pods, critical pods, critical DaemonSet pods", () => {
    const all = [pod("plain"), pod("daemon", {}, daemon), pod("critical", critical), pod("critical-daemon", critical, daemon)];
    expect(evicted(drainOf(all))).toEqual(["plain"]);
    expect(evicted(drainOf(all.slice(1)))).toEqual(["daemon"]);
    expect(evicted(drainOf(all.slice(2)))).toEqual(["critical"]);
    expect(evicted(drainOf(all.slice(3)))).toEqual(["critical-daemon"]);
  });

  it.for([
    { name: "a second after it has begun", secondsAgo: 0, want: 1 },
    { name: "after as long as it has been tried", secondsAgo: 4, want: 4 },
    { name: "every ten seconds at most", secondsAgo: 86_400, want: 10 },
    { name: "in time for what a deadline forces", secondsAgo: 86_400, deadline: 34, want: 4 },
  ])("an eviction is tried again $name", ({ secondsAgo, deadline, want }) => {
    const annotations = deadline === undefined ? {} : { [TERMINATION_TIMESTAMP]: at(-deadline) };
    const claim = going(undefined, { annotations });
    const step = advance(view({ record: ending("deleted", secondsAgo), claim, nodes: [node("going")], pods: [pod("a")] }));
    expect(step).toMatchObject({ wakeAt: NOW + want * 1_000, waitsFor: "evictions" });
  });

  describe("pods that all end", () => {
    const endsIn = (name: string, seconds: number, grace: number) => {
      const made = pod(name);
      return { ...made, metadata: { ...made.metadata, deletionTimestamp: at(-seconds), deletionGracePeriodSeconds: grace } };
    };
    const waitFor = (pods: ClaimView["pods"], annotations = {}) =>
      advance(view({ record: ending(), claim: going(undefined, { annotations }), nodes: [node("going")], pods }));

    it("are waited for until a second after the last grace period, with polls in case that they end before", () => {
      const step = waitFor([endsIn("a", 3, 4), endsIn("b", 8, 10)]);
      expect(step).toMatchObject({ wakeAt: NOW + 9_000, waitsFor: "pods" });
      expect(step.polls?.map((ms) => ms - NOW)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((seconds) => seconds * 1_000));
    });

    it("have a poll every three seconds at most, and twenty of them", () => {
      const { wakeAt = 0, polls = [] } = waitFor([endsIn("a", 860, 900)]);
      expect(polls).toHaveLength(20);
      const times = [NOW, ...polls, wakeAt];
      expect(Math.max(...times.slice(1).map((ms, i) => ms - (times[i] ?? 0)))).toBe(3_000);
    });

    it("are polled each second again when they outlast it", () => {
      const { wakeAt = 0, polls = [] } = waitFor([endsIn("a", -2, 120)]);
      expect(polls[0]).toBe(NOW + 1_000);
      expect(wakeAt).toBeGreaterThan(NOW + 20_000);
    });

    it("are not waited for beyond a deadline", () => {
      expect(waitFor([endsIn("a", 60, 60)], { [TERMINATION_TIMESTAMP]: at(-40) }).wakeAt).toBe(NOW + 10_000);
    });
  });

  it("a poll of a drain finds a next step when its pods are gone, or when what it waits for is over", () => {
    const leaving = { ...pod("a"), metadata: { ...pod("a").metadata, deletionTimestamp: at(-30) } };
    const due = (waitsFor: "pods" | "evictions", pods: ClaimView["pods"]) => isDrainDue(waitsFor, pods ?? [], NOW);
    expect([due("pods", []), due("evictions", [])]).toEqual([true, true]);
    expect([due("pods", [leaving]), due("evictions", [leaving])]).toEqual([false, true]);
    expect([due("pods", [leaving, pod("b")]), due("evictions", [leaving, pod("b")])]).toEqual([true, false]);
    expect(due("pods", [leaving, pod("critical", critical)])).toBe(false);
    expect(due("pods", [pod("critical", critical)])).toBe(true);
  });

  it("a do-not-disrupt pod blocks its group and later groups of a drain", () => {
    const held = pod("held", {}, { annotations: { "karpenter.sh/do-not-disrupt": "true" } });
    expect(evicted(drainOf([held, pod("daemon", {}, daemon)]))).toEqual([]);
  });

  it("a drain skips pods that tolerate the taint, mirror pods and finished pods", () => {
    const tolerant = pod("tolerant", { tolerations: [{ operator: "Exists" }] });
    const mirror = pod("mirror", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "n" }] });
    const done = { ...pod("done"), status: { phase: "Succeeded" as const } };
    expect(evicted(drainOf([tolerant, mirror, done]))).toEqual([]);
  });

  it("a drain with a deadline deletes a pod in time for its grace period, whatever protects it", () => {
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

describe("pods after a spot interruption notice", () => {
  const noticed = (secondsAgo: number, replacements: ClaimView["replacements"]) =>
    evicted(
      advance(
        view({ record: ending("spot_interrupted", secondsAgo), claim: going(), nodes: [node("going")], pods: [pod("a")], replacements }),
      ).actions,
    );
  const coming = record({ name: "next" });

  it.for([
    { name: "pods wait 10 s for a plan", secondsAgo: 5, replacements: [], want: [] },
    { name: "pods without a replacement are evicted after 10 s", secondsAgo: 11, replacements: [], want: ["a"] },
    { name: "pods wait for a replacement in flight", secondsAgo: 60, replacements: [coming], want: [] },
    {
      name: "pods are evicted when the replacement is initialized",
      secondsAgo: 60,
      replacements: [{ ...coming, initializedAt: NOW }],
      want: ["a"],
    },
    { name: "pods are evicted with 45 s left when the replacement is late", secondsAgo: 76, replacements: [coming], want: ["a"] },
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
  ])("a do-not-disrupt annotation of $value", ({ value, published }) => {
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
    { name: "a deadline follows from terminationGracePeriod", claim: graceful(), deadline: undefined, want: at(20 - 600) },
    { name: "a deadline is earlier when the record has one", claim: graceful(), deadline: NOW, want: at(0) },
    { name: "a written deadline stays", claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }), deadline: undefined, want: undefined },
    {
      name: "a written deadline is moved to an earlier time",
      claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }),
      deadline: NOW,
      want: at(0),
    },
    {
      name: "a written deadline is never moved to a later time",
      claim: graceful({ [TERMINATION_TIMESTAMP]: at(-60) }),
      deadline: NOW + 120_000,
      want: undefined,
    },
    {
      name: "a record's deadline needs no terminationGracePeriod",
      claim: going() as ReturnType<typeof graceful>,
      deadline: NOW,
      want: at(0),
    },
    {
      name: "a NodeClaim without both has no deadline",
      claim: going() as ReturnType<typeof graceful>,
      deadline: undefined,
      want: undefined,
    },
  ])("$name", ({ claim, deadline, want }) => {
    expect(written(claim, deadline)).toBe(want);
  });

  it("a deadline is published as Events on node and NodeClaim", () => {
    const { actions } = advance(view({ record: ending(), claim: graceful(), nodes: [node("going")] }));
    const kinds = actions.flatMap((action) => (action.type === "Event" ? [`${action.event.reason} ${action.event.about.kind}`] : []));
    expect(kinds).toEqual(["TerminationGracePeriodExpiring NodeClaim", "TerminationGracePeriodExpiring Node"]);
  });
});

describe("the pods that a disruption moves", () => {
  const disrupted = (facts: object, spec: object = {}) => {
    const kept = ending();
    const claim = going(undefined, { annotations: { [TERMINATION_TIMESTAMP]: at(-3_600) } });
    const daemon = pod("d", {}, { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }] });
    const v = view({
      record: { ...kept, nodePool: "default", terminating: { reason: "expired", at: NOW - 20_000, ...facts } },
      claim: { ...claim, spec: { ...claim.spec, ...spec } },
      nodes: [node("going")],
      pods: [pod("a"), pod("b"), daemon],
    });
    return advance(v).actions.filter((action) => action.type === "Count");
  };
  const labels = {
    reason: "expired",
    nodepool: "default",
    capacity_type: "on-demand",
    consolidation_policy: "",
    termination_mode: "graceful",
  };

  it.for([
    { name: "are counted when the drain begins, without those of DaemonSets", facts: {}, spec: {}, more: {} },
    {
      name: "have the policy of a consolidation",
      facts: { reason: "underutilized", consolidationPolicy: "balanced" },
      spec: {},
      more: { reason: "underutilized", consolidation_policy: "balanced" },
    },
    {
      name: "have a time limit by terminationGracePeriod",
      facts: {},
      spec: { terminationGracePeriod: "1h" },
      more: { termination_mode: "eventual" },
    },
    {
      name: "have no time where terminationGracePeriod is 0",
      facts: {},
      spec: { terminationGracePeriod: "0s" },
      more: { termination_mode: "forceful" },
    },
  ])("$name", ({ facts, spec, more }) => {
    expect(disrupted(facts, spec)).toEqual([
      { type: "Count", metric: "pods_disruption_initiated_total", labels: { ...labels, ...more }, by: 2 },
    ]);
  });

  it("are not counted when a user deletes the NodeClaim, nor once the drain has begun", () => {
    expect(disrupted({ reason: "deleted" })).toEqual([]);
    const condition = { type: "Drained", status: "Unknown", reason: "Draining", message: "", lastTransitionTime: at(3) } as const;
    const claim = going();
    const begun = { ...claim, status: { ...claim.status, conditions: [...(claim.status?.conditions ?? []), condition] } };
    const { actions } = advance(view({ record: ending(), claim: begun, nodes: [node("going")], pods: [pod("a")] }));
    expect(actions.map(({ type }) => type)).not.toContain("Count");
  });
});
