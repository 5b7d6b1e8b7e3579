import { describe, expect, it } from "vitest";
import type { ClaimView } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import { INITIALIZED, REGISTERED, TERMINATION_FINALIZER, UNREGISTERED_TAINT } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import { at, INSTANCE, NOW, node, nodeClaim, record, view } from "../../support/builders.ts";
import * as objects from "../../support/objects.ts";

const launched = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 30_000 });
/** Its node has registered. */
const named = { ...launched, nodeName: node().metadata.name };
const initialized: Node = { ...node(), metadata: { ...node().metadata, labels: { [REGISTERED]: "true", [INITIALIZED]: "true" } } };
/** As EC2 describes it, without a DNS name that nodes are compared with. */
const MACHINE = { ...INSTANCE, state: "running", launchedAt: 0, tags: {} } as const;
const OWNER = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "uid-pool" };
const types = (v: ClaimView): readonly string[] => advance(v).actions.map(({ type }) => type);
const messages = (v: ClaimView): readonly string[] =>
  advance(v).actions.flatMap((action) => (action.type === "Log" ? [action.message] : []));

describe("advance takes the first step that is missing", () => {
  it.for([
    { name: "nothing exists: nothing to do", v: view(), want: [] },
    { name: "a NodeClaim made by hand is adopted", v: view({ claim: nodeClaim({ annotations: {} }) }), want: ["Adopt"] },
    { name: "a NodeClaim of ours whose record is lost is adopted", v: view({ claim: nodeClaim() }), want: ["Adopt"] },
    {
      name: "a NodeClaim of ours is not adopted while EC2 may not list its launch yet",
      v: view({ claim: nodeClaim({ creationTimestamp: at(59) }) }),
      want: [],
    },
    {
      name: "a young NodeClaim of ours is adopted when its status names its instance",
      v: view({ claim: nodeClaim({ creationTimestamp: at(59), conditions: ["Launched"] }) }),
      want: ["Adopt"],
    },
    {
      name: "a NodeClaim of another provider is ignored",
      v: view({ claim: { ...nodeClaim(), spec: { requirements: [], nodeClassRef: { group: "x.example", kind: "X", name: "x" } } } }),
      want: [],
    },
    {
      name: "a NodeClaim that another controller has launched is left to it",
      v: view({ claim: nodeClaim({ annotations: {}, conditions: ["Launched"] }) }),
      want: [],
    },
    {
      name: "a NodeClaim made by hand gets the annotation of its record",
      v: view({ record: record({ uid: "uid-1" }), claim: nodeClaim({ annotations: {} }) }),
      want: ["WriteClaim"],
    },
    { name: "a record gets its NodeClaim", v: view({ record: record() }), want: ["CreateClaim"] },
    {
      name: "a NodeClaim that could not be created for a quarter of an hour is given up",
      v: view({ record: record({ createdAt: NOW - 15 * 60_000 - 1 }) }),
      want: ["WriteRecord", "Count", "Wake"],
    },
    {
      name: "a NodeClaim that is restored for its instance has no time-out",
      v: view({ record: record({ createdAt: NOW - 60 * 60_000, instance: INSTANCE }) }),
      want: ["CreateClaim"],
    },
    {
      name: "a foreign NodeClaim of the same name stays, and our record is removed",
      v: view({ record: record(), claim: nodeClaim({ annotations: {} }) }),
      want: ["Forget"],
    },
    {
      name: "a NodeClaim made by hand gets the label of its NodeClass",
      v: view({ record: record(), claim: nodeClaim({ labels: {} }) }),
      want: ["WriteClaim"],
    },
    {
      name: "a NodeClaim gets its finalizer before the launch",
      v: view({ record: record(), claim: nodeClaim({ finalizers: [] }) }),
      want: ["WriteClaim"],
    },
    {
      name: "a launch is rendered and stored before it is sent",
      v: view({ record: record(), claim: nodeClaim() }),
      want: ["PrepareLaunch"],
    },
    {
      name: "a stored launch is sent",
      v: view({
        record: record({ uid: "uid-1", launch: { clientToken: "t", capacityType: "spot", launchTemplates: [], tags: {} } }),
        claim: nodeClaim(),
      }),
      want: ["Launch"],
    },
    {
      name: "a failed launch is not retried at once",
      v: view({ record: record({ launchFailedAt: NOW - 1_000 }), claim: nodeClaim() }),
      want: [],
    },
    {
      name: "an instance on record is written to its NodeClaim",
      v: view({ record: launched, claim: nodeClaim() }),
      want: ["WriteLaunched"],
    },
    {
      name: "a node that has joined is registered",
      v: view({
        record: launched,
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [node("joined", { ready: false })],
      }),
      want: ["WriteNode"],
    },
    {
      name: "the record learns the name of a node that has joined and lacks nothing, before the node is written",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched"] }), instance: MACHINE, nodes: [node("joined")] }),
      want: ["WriteRecord"],
    },
    {
      name: "a node that lacks nothing is registered once the record names it",
      v: view({ record: named, claim: nodeClaim({ conditions: ["Launched"] }), instance: MACHINE, nodes: [node("joined")] }),
      want: ["WriteNode"],
    },
    {
      name: "a node that joined without its taint is registered with an Event and a log line",
      v: view({
        record: named,
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [{ ...node("joined"), spec: { ...node("joined").spec, taints: [] } }],
      }),
      want: ["Log", "Event", "WriteNode"],
    },
    {
      name: "a deleted NodeClaim with only foreign finalizers is not adopted again",
      v: view({ claim: nodeClaim({ deletionTimestamp: at(1), finalizers: ["example.com/other"] }) }),
      want: [],
    },
    {
      name: "the record learns the name of a registered node",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched"] }), instance: MACHINE, nodes: [node()] }),
      want: ["WriteRecord"],
    },
    {
      name: "a registered node is written to its NodeClaim",
      v: view({
        record: named,
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [node("registered", { ready: false })],
      }),
      want: ["RecordRegistration", "WriteClaim", "Log", "Count"],
    },
    {
      name: "a registered node that lacks nothing is labelled initialized before its NodeClaim says so",
      v: view({ record: named, claim: nodeClaim({ conditions: ["Launched"] }), instance: MACHINE, nodes: [node()] }),
      want: ["WriteNode"],
    },
    {
      name: "one write says that a node is registered and initialized",
      v: view({ record: named, claim: nodeClaim({ conditions: ["Launched"] }), instance: MACHINE, nodes: [initialized] }),
      want: ["RecordRegistration", "WriteClaim", "Log", "Log", "Count"],
    },
    {
      name: "a registered node that was planned for pods wakes the planner, which nominates the node for them",
      v: view({
        record: { ...named, podUids: ["u"] },
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [node("registered", { ready: false })],
      }),
      want: ["RecordRegistration", "WriteClaim", "Log", "Count", "Wake"],
    },
    {
      name: "a ready node is labelled initialized",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched", "Registered"] }), nodes: [node()] }),
      want: ["WriteNode"],
    },
    {
      name: "an initialized NodeClaim wakes the command that waits for it",
      v: view({
        record: { ...launched, commandId: "c" },
        claim: nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] }),
        nodes: [node()],
      }),
      want: ["WriteRecord", "Wake", "Wake"],
    },
    {
      name: "a deleted NodeClaim is marked as terminating",
      v: view({ record: launched, claim: nodeClaim({ deletionTimestamp: at(1) }) }),
      want: ["WriteRecord"],
    },
    { name: "a NodeClaim that vanished despite its finalizer is left to garbage collection", v: view({ record: launched }), want: [] },
    {
      name: "a NodeClaim that was restored from a backup continues under its new UID",
      v: view({ record: launched, claim: nodeClaim({ uid: "uid-2" }) }),
      want: ["WriteRecord"],
    },
    {
      name: "a NodeClaim that was created again for a running instance is linked by its UID",
      v: view({ record: record({ instance: INSTANCE }), claim: nodeClaim() }),
      want: ["WriteRecord"],
    },
    {
      name: "a foreign NodeClaim with another UID is not taken for a backup",
      v: view({ record: launched, claim: nodeClaim({ uid: "uid-2", annotations: {} }) }),
      want: ["Forget"],
    },
    {
      name: "a registered node with another owner gets this NodeClaim as its owner",
      v: view({
        record: named,
        claim: nodeClaim({ uid: "uid-1", conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [{ ...node(), metadata: { ...node().metadata, ownerReferences: [] } }],
      }),
      want: ["WriteNode"],
    },
    {
      name: "the deletion of a node that is not initialized terminates the NodeClaim",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched", "Registered"] }), nodes: [node("going")] }),
      want: ["WriteRecord"],
    },
    {
      name: "the deletion of the node terminates the NodeClaim",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] }), nodes: [node("going")] }),
      want: ["WriteRecord"],
    },
  ])("$name", ({ v, want }) => {
    expect(types(v)).toEqual(want);
  });
});

describe("time limits", () => {
  const ends = (v: ClaimView): string | undefined =>
    advance(v).actions.flatMap((action) => (action.type === "WriteRecord" ? [action.record.terminating?.reason] : []))[0];

  it.for([
    {
      name: "a launch that fails times out 5 minutes after creation",
      v: view({ record: record({ createdAt: NOW - 300_001, launchFailedAt: NOW }), claim: nodeClaim() }),
      reason: "launch_timeout",
    },
    {
      name: "a launch of an unknown outcome times out 5 minutes after creation",
      v: view({ record: record({ createdAt: NOW - 300_001, launchUnknownAt: NOW }), claim: nodeClaim() }),
      reason: "launch_timeout",
    },
    {
      name: "a launch that fails does not time out earlier",
      v: view({ record: record({ createdAt: NOW - 300_000, launchFailedAt: NOW }), claim: nodeClaim() }),
      reason: undefined,
    },
    {
      name: "a launch that failed in time is tried once more after the time-out",
      v: view({ record: record({ createdAt: NOW - 320_000, launchFailedAt: NOW - 20_001 }), claim: nodeClaim() }),
      reason: undefined,
    },
    {
      name: "a launch whose turn comes late does not time out",
      v: view({ record: record({ createdAt: NOW - 900_000 }), claim: nodeClaim() }),
      reason: undefined,
    },
    {
      name: "a launch that has no turn for a quarter of an hour times out",
      v: view({ record: record({ createdAt: NOW - 900_001 }), claim: nodeClaim() }),
      reason: "launch_timeout",
    },
    {
      name: "a registration times out 15 minutes after creation",
      v: view({
        record: { ...launched, createdAt: NOW - 900_001, launchedAt: NOW - 890_000 },
        claim: nodeClaim({ conditions: ["Launched"] }),
      }),
      reason: "registration_timeout",
    },
    {
      name: "a registration does not time out within 10 minutes of a launch that was late",
      v: view({
        record: { ...launched, createdAt: NOW - 1_800_000, launchedAt: NOW - 600_000 },
        claim: nodeClaim({ conditions: ["Launched"] }),
      }),
      reason: undefined,
    },
    {
      name: "a registration times out 10 minutes after a launch that was late",
      v: view({
        record: { ...launched, createdAt: NOW - 1_800_000, launchedAt: NOW - 600_001 },
        claim: nodeClaim({ conditions: ["Launched"] }),
      }),
      reason: "registration_timeout",
    },
    {
      name: "a node that has joined is registered however late",
      v: view({
        record: { ...launched, createdAt: NOW - 1_800_000, launchedAt: NOW - 1_800_000 },
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [node("joined")],
      }),
      reason: undefined,
    },
    {
      name: "a node that cannot be registered for half an hour is given up",
      v: view({
        record: { ...launched, createdAt: NOW - 1_800_001, launchedAt: NOW - 1_800_001 },
        claim: nodeClaim({ conditions: ["Launched"] }),
        instance: MACHINE,
        nodes: [node("joined")],
      }),
      reason: "registration_timeout",
    },
    {
      name: "an initialization has no timeout",
      v: view({
        record: { ...launched, createdAt: NOW - 9_000_000 },
        claim: nodeClaim({ conditions: ["Launched", "Registered"] }),
        nodes: [node("registered", { ready: false })],
      }),
      reason: undefined,
    },
    {
      name: "a NodeClaim expires after 720 h by default",
      v: view({
        record: launched,
        claim: nodeClaim({ conditions: ["Launched", "Registered", "Initialized"], creationTimestamp: at(720 * 3_600) }),
        nodes: [node()],
      }),
      reason: "expired",
    },
  ])("$name", ({ v, reason }) => {
    expect(ends(v)).toBe(reason);
  });
});

it("the line of an expired NodeClaim names its NodePool as an object, as all lines do", () => {
  const made = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"], creationTimestamp: at(720 * 3_600) });
  const claim = { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, "karpenter.sh/nodepool": "default" } } };
  const { actions } = advance(view({ record: launched, claim, nodes: [node()] }));
  expect(actions).toContainEqual(
    expect.objectContaining({ message: "deleting expired nodeclaim", fields: { NodePool: { name: "default" } } }),
  );
});

it.for([
  { expireAfter: "0s", want: [expect.stringContaining("expire after 0s, and take 40 s to start")] },
  { expireAfter: "1m", want: [expect.stringContaining("expire after 1m, and take 40 s to start")] },
  { expireAfter: "2m", want: [] },
])("a node that expires after $expireAfter and took 40 s to start: its NodePool's owner is told of a life too short", (row) => {
  const made = nodeClaim({ conditions: ["Launched", "Registered"], creationTimestamp: at(200), ownerReferences: [OWNER] });
  const initialized = objects.fullCondition("Initialized", at(160));
  const conditions = [...(made.status?.conditions ?? []), initialized];
  const claim = { ...made, spec: { ...made.spec, expireAfter: row.expireAfter }, status: { ...made.status, conditions } };
  const { actions } = advance(view({ record: launched, claim, nodes: [node()] }));
  expect(actions.flatMap((action) => (action.type === "Event" ? [action.event.message] : []))).toEqual(row.want);
});

it("a NodeClaim that is given up wakes the planner, because nothing changes about the pods that wait for it", () => {
  const { actions } = advance(view({ record: record({ createdAt: NOW - 300_001, launchFailedAt: NOW }), claim: nodeClaim() }));
  expect(actions).toContainEqual({
    type: "Wake",
    wakeUp: { kind: "provision", cluster: "c1", cause: "NodeClaimTerminating", detail: "launch_timeout default-abcde" },
  });
});

describe("registration", () => {
  const registered = (joined: Node, claim = nodeClaim({ conditions: ["Launched"] })): Node => {
    const action = advance(view({ record: named, claim, instance: MACHINE, nodes: [joined] })).actions[0];
    if (action?.type !== "WriteNode") throw new Error("the node is not written");
    return action.node;
  };

  it("a registered node loses the unregistered taint and gets finalizer, owner and labels of its NodeClaim", () => {
    const { metadata, spec } = registered(node("joined"));
    expect(spec.taints).not.toContainEqual(UNREGISTERED_TAINT);
    expect(metadata.finalizers).toEqual([TERMINATION_FINALIZER]);
    expect(metadata.labels).toMatchObject({ [REGISTERED]: "true", "karpenter.sh/nodepool": "default" });
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "default-abcde", uid: "uid-1", blockOwnerDeletion: true },
    ]);
  });

  it("a registered node gets its NodeClaim's taints unless user data has set them", () => {
    const claim = nodeClaim({ conditions: ["Launched"] });
    const tainted = { ...claim, spec: { ...claim.spec, taints: [{ key: "gpu", effect: "NoSchedule" as const }] } };
    expect(registered(node("joined"), tainted).spec.taints).toEqual([{ key: "gpu", effect: "NoSchedule" }]);
    const joined = node("joined");
    const synced = { ...joined, metadata: { ...joined.metadata, labels: { "karpenter.sh/do-not-sync-taints": "true" } } };
    expect(registered(synced, tainted).spec.taints).toEqual([]);
  });
});

describe("initialization", () => {
  const reasonOf = (n: Node, requests: Record<string, string> = {}): string | undefined => {
    const claim = nodeClaim({ conditions: ["Launched", "Registered"] });
    const wanting = {
      ...claim,
      spec: { ...claim.spec, startupTaints: [{ key: "cni", effect: "NoSchedule" as const }], resources: { requests } },
    };
    const action = advance(view({ record: launched, claim: wanting, nodes: [n] })).actions[0];
    return action?.type === "WriteClaim" ? action.claim.status?.conditions?.find(({ type }) => type === "Initialized")?.reason : undefined;
  };
  it.for([
    { name: "a node that is not ready", n: node("registered", { ready: false }), want: "NodeNotReady" },
    {
      name: "a startup taint with any value",
      n: node("registered", { taints: [{ key: "cni", value: "x", effect: "NoSchedule" }] }),
      want: "StartupTaintsExist",
    },
    {
      name: "an ephemeral taint",
      n: node("registered", { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] }),
      want: "KnownEphemeralTaintsExist",
    },
    {
      name: "a readiness taint",
      n: node("registered", { taints: [{ key: "readiness.k8s.io/net", effect: "NoSchedule" }] }),
      want: "KnownEphemeralTaintsExist",
    },
    { name: "an unregistered extended resource", n: node(), requests: { "nvidia.com/gpu": "1" }, want: "ResourceNotRegistered" },
    { name: "nothing missing", n: node(), want: undefined },
  ])("initialization waits for $name", ({ n, requests, want }) => {
    expect(reasonOf(n, requests ?? {})).toBe(want);
  });

  it("an initialized NodeClaim writes Karpenter's log line", () => {
    const initialized = node();
    const labelled = {
      ...initialized,
      metadata: { ...initialized.metadata, labels: { ...initialized.metadata.labels, [INITIALIZED]: "true" } },
    };
    const claim = nodeClaim({ conditions: ["Launched", "Registered"] });
    expect(messages(view({ record: launched, claim, nodes: [labelled] }))).toEqual(["initialized nodeclaim"]);
  });
});
