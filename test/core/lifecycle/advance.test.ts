import { describe, expect, it } from "vitest";
import type { ClaimView } from "../../../core/lifecycle/action.ts";
import { advance } from "../../../core/lifecycle/advance.ts";
import { INITIALIZED, REGISTERED, TERMINATION_FINALIZER, UNREGISTERED_TAINT } from "../../../core/model/labels.ts";
import type { Node } from "../../../core/model/node.ts";
import { at, INSTANCE, NOW, node, nodeClaim, record, view } from "../../support/builders.ts";

const launched = record({ uid: "uid-1", instance: INSTANCE, launchedAt: NOW - 30_000 });
const types = (v: ClaimView): readonly string[] => advance(v).actions.map(({ type }) => type);
const messages = (v: ClaimView): readonly string[] =>
  advance(v).actions.flatMap((action) => (action.type === "Log" ? [action.message] : []));

describe("a claim's life takes the first step that is missing", () => {
  it.for([
    { name: "nothing anywhere: nothing to do", v: view(), want: [] },
    { name: "a claim that a person made is taken into care", v: view({ claim: nodeClaim({ annotations: {} }) }), want: ["Adopt"] },
    { name: "so is one of ours whose record is lost", v: view({ claim: nodeClaim() }), want: ["Adopt"] },
    {
      name: "but not while a launch may be under way that EC2 does not list yet",
      v: view({ claim: nodeClaim({ creationTimestamp: at(59) }) }),
      want: [],
    },
    {
      name: "unless it tells of its machine itself",
      v: view({ claim: nodeClaim({ creationTimestamp: at(59), conditions: ["Launched"] }) }),
      want: ["Adopt"],
    },
    {
      name: "another provider's claim is left alone",
      v: view({ claim: { ...nodeClaim(), spec: { requirements: [], nodeClassRef: { group: "x.example", kind: "X", name: "x" } } } }),
      want: [],
    },
    { name: "an intent gets its custom resource", v: view({ record: record() }), want: ["CreateClaim"] },
    {
      name: "a stranger of the same name keeps it, our intent goes",
      v: view({ record: record(), claim: nodeClaim({ annotations: {} }) }),
      want: ["Forget"],
    },
    {
      name: "a claim made by hand gets the label of its class",
      v: view({ record: record(), claim: nodeClaim({ labels: {} }) }),
      want: ["WriteClaim"],
    },
    { name: "no launch without the finalizer", v: view({ record: record(), claim: nodeClaim({ finalizers: [] }) }), want: ["WriteClaim"] },
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
    { name: "a failed launch rests", v: view({ record: record({ launchFailedAt: NOW - 1_000 }), claim: nodeClaim() }), want: [] },
    { name: "an instance on record is told to its claim", v: view({ record: launched, claim: nodeClaim() }), want: ["WriteLaunched"] },
    {
      name: "a node that has joined is registered",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched"] }), nodes: [node("joined")] }),
      want: ["WriteNode"],
    },
    {
      name: "a node that joined without its taint is registered with a word about it",
      v: view({
        record: launched,
        claim: nodeClaim({ conditions: ["Launched"] }),
        nodes: [{ ...node("joined"), spec: { ...node("joined").spec, taints: [] } }],
      }),
      want: ["Log", "Event", "WriteNode"],
    },
    {
      name: "a claim that others' finalizers hold is not taken into care again",
      v: view({ claim: nodeClaim({ deletionTimestamp: at(1), finalizers: ["example.com/other"] }) }),
      want: [],
    },
    {
      name: "a registered node is told to its claim",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched"] }), nodes: [node()] }),
      want: ["RecordRegistration", "WriteClaim", "Log", "Count"],
    },
    {
      name: "a ready node is labelled initialized",
      v: view({ record: launched, claim: nodeClaim({ conditions: ["Launched", "Registered"] }), nodes: [node()] }),
      want: ["WriteNode"],
    },
    {
      name: "a claim that is up wakes the command that waits for it",
      v: view({
        record: { ...launched, commandId: "c" },
        claim: nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] }),
        nodes: [node()],
      }),
      want: ["WriteRecord", "Wake"],
    },
    { name: "a deleted claim ends", v: view({ record: launched, claim: nodeClaim({ deletionTimestamp: at(1) }) }), want: ["WriteRecord"] },
    { name: "a claim whose object was torn away is left to the sweep", v: view({ record: launched }), want: [] },
    {
      name: "a claim that was restored from a backup goes on under its new UID",
      v: view({ record: launched, claim: nodeClaim({ uid: "uid-2" }) }),
      want: ["WriteRecord"],
    },
    {
      name: "a claim that was made again for a machine that is there is known by its UID",
      v: view({ record: record({ instance: INSTANCE }), claim: nodeClaim() }),
      want: ["WriteRecord"],
    },
    {
      name: "a stranger with a UID of its own is no backup",
      v: view({ record: launched, claim: nodeClaim({ uid: "uid-2", annotations: {} }) }),
      want: ["Forget"],
    },
    {
      name: "a registered node that names another claim as its owner is told whose it is",
      v: view({
        record: launched,
        claim: nodeClaim({ uid: "uid-1", conditions: ["Launched"] }),
        nodes: [{ ...node(), metadata: { ...node().metadata, ownerReferences: [] } }],
      }),
      want: ["WriteNode"],
    },
    {
      name: "deleting the node ends the claim",
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
      name: "launch: 5 minutes from creation",
      v: view({ record: record({ createdAt: NOW - 300_001 }), claim: nodeClaim() }),
      reason: "launch_timeout",
    },
    {
      name: "launch: not a moment earlier",
      v: view({ record: record({ createdAt: NOW - 300_000 }), claim: nodeClaim() }),
      reason: undefined,
    },
    {
      name: "registration: 15 minutes from creation",
      v: view({ record: { ...launched, createdAt: NOW - 900_001 }, claim: nodeClaim({ conditions: ["Launched"] }) }),
      reason: "registration_timeout",
    },
    {
      name: "initialization: none",
      v: view({
        record: { ...launched, createdAt: NOW - 9_000_000 },
        claim: nodeClaim({ conditions: ["Launched", "Registered"] }),
        nodes: [node("registered", { ready: false })],
      }),
      reason: undefined,
    },
    {
      name: "expiry: 720 h unless the claim says otherwise",
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

describe("registration (nodeclaim-lifecycle.md §5)", () => {
  const registered = (joined: Node, claim = nodeClaim({ conditions: ["Launched"] })): Node => {
    const action = advance(view({ record: launched, claim, nodes: [joined] })).actions[0];
    if (action?.type !== "WriteNode") throw new Error("the node is not written");
    return action.node;
  };

  it("takes the unregistered taint away, and adds finalizer, owner and labels of the claim", () => {
    const { metadata, spec } = registered(node("joined"));
    expect(spec.taints).not.toContainEqual(UNREGISTERED_TAINT);
    expect(metadata.finalizers).toEqual([TERMINATION_FINALIZER]);
    expect(metadata.labels).toMatchObject({ [REGISTERED]: "true", "karpenter.sh/nodepool": "default" });
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "default-abcde", uid: "uid-1", blockOwnerDeletion: true },
    ]);
  });

  it("merges the claim's taints, unless user data has set them", () => {
    const claim = nodeClaim({ conditions: ["Launched"] });
    const tainted = { ...claim, spec: { ...claim.spec, taints: [{ key: "gpu", effect: "NoSchedule" as const }] } };
    expect(registered(node("joined"), tainted).spec.taints).toEqual([{ key: "gpu", effect: "NoSchedule" }]);
    const joined = node("joined");
    const synced = { ...joined, metadata: { ...joined.metadata, labels: { "karpenter.sh/do-not-sync-taints": "true" } } };
    expect(registered(synced, tainted).spec.taints).toEqual([]);
  });
});

describe("initialization waits, and says for what", () => {
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
    { name: "not ready", n: node("registered", { ready: false }), want: "NodeNotReady" },
    {
      name: "a startup taint, whatever its value",
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
    { name: "a device plugin", n: node(), requests: { "nvidia.com/gpu": "1" }, want: "ResourceNotRegistered" },
    { name: "nothing", n: node(), want: undefined },
  ])("$name", ({ n, requests, want }) => {
    expect(reasonOf(n, requests ?? {})).toBe(want);
  });

  it("and ends in the line that people search for", () => {
    const initialized = node();
    const labelled = {
      ...initialized,
      metadata: { ...initialized.metadata, labels: { ...initialized.metadata.labels, [INITIALIZED]: "true" } },
    };
    const claim = nodeClaim({ conditions: ["Launched", "Registered"] });
    expect(messages(view({ record: launched, claim, nodes: [labelled] }))).toEqual(["initialized nodeclaim"]);
  });
});
