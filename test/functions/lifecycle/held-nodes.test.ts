import { expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { ConflictError, RefusedError } from "#core/ports/errors.ts";
import type { ClaimState } from "#functions/lifecycle/claim-state.ts";
import { uncordonTogether } from "#functions/lifecycle/held-nodes.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { INSTANCE, NOW, node, nodeClaim, record } from "../../support/builders.ts";
import { pod } from "../../support/objects.ts";

/** A node that is held, of the instance `i-ID`. */
function held(id: string): Node {
  const made = node("joined");
  return { ...made, metadata: { ...made.metadata, name: `node-${id}` }, spec: { ...made.spec, providerID: `aws:///us-west-2b/i-${id}` } };
}

/** Uncordons nodes a and b, each of which was launched for one pod; `change` breaks something. */
async function uncordoning(
  change: Partial<{
    isFirst: boolean;
    cluster: string;
    listed: readonly string[];
    update: Error;
    conflicts: number;
    now: Node;
    /** It is the reconcile of node a, which has read its record and its NodeClaim. */
    isOwn: boolean;
    isRecordContested: boolean;
  }> = {},
) {
  const {
    isFirst = true,
    cluster = record().cluster,
    listed = ["i-a", "i-b"],
    update,
    now,
    isOwn = false,
    isRecordContested = false,
  } = change;
  let { conflicts = Number.POSITIVE_INFINITY } = change;
  const happened: string[] = [];
  const read: string[] = [];
  const initialized: string[] = [];
  const recordOf = (id: string): NodeClaimRecord =>
    record({
      ...{ name: id, uid: `uid-${id}`, cluster: id === "i-b" ? cluster : record().cluster, instance: { ...INSTANCE, id } },
      ...{ heldFor: [`default/p-${id}`], podUids: [`uid-p-${id}`] },
    });
  const claimOf = (name: string): NodeClaim => {
    const made = nodeClaim({ conditions: ["Launched"] });
    return { ...made, metadata: { ...made.metadata, name, uid: `uid-${name}` } };
  };
  const deps = {
    ...{ cluster: { name: record().cluster }, memory: new ProcessMemory(), now: () => NOW, log: { debug() {}, error() {} } },
    store: {
      isFirstWithin: async () => isFirst,
      byInstance: async (id: string) => recordOf(id),
      update: async (record: NodeClaimRecord) => {
        if (isRecordContested) throw new ConflictError("changed");
        return record;
      },
    },
    fleet: { describe: async (ids: readonly string[]) => ids.filter((id) => listed.includes(id)).map((id) => ({ ...INSTANCE, id })) },
    kubernetes: {
      version: async () => "1.36",
      get: async (kind: string, name: string): Promise<NodeClaim | Pod | Node | undefined> => {
        read.push(`${kind} ${name}`);
        if (kind === "Node") return now;
        return kind === "Pod" ? pod(name, { metadata: { uid: `uid-${name}` } }) : claimOf(name);
      },
      nominate: async ({ metadata }: Pod, name: string) => void happened.push(`${metadata.name} to ${name}`),
      update: async (_kind: string, { metadata, spec }: Node) => {
        happened.push(`${metadata.name} has ${spec.taints?.length} taints`);
        if (metadata.labels?.["karpenter.sh/initialized"] === "true") initialized.push(metadata.name);
        if (update && metadata.name === "node-a" && conflicts-- > 0) throw update;
        return { metadata, spec };
      },
    },
  };
  const own: ClaimState = isOwn ? { record: recordOf("i-a"), claim: claimOf("i-a") } : {};
  const outcome = await uncordonTogether([held("b"), held("a")], { name: "i-a", state: own, deps: deps as unknown as LifecycleDeps });
  return { outcome, happened, read, initialized };
}

const ALL = ["p-i-b to node-b", "p-i-a to node-a", "node-b has 0 taints", "node-a has 0 taints"];

it("the pods of all nodes are nominated before the first node takes pods", async () => {
  expect((await uncordoning()).happened).toEqual(ALL);
});

it("the reconcile that uncordons does not read its own NodeClaim again, and continues with the node that it has written", async () => {
  const { outcome, happened, read } = await uncordoning({ isOwn: true });
  expect(happened.toSorted()).toEqual(ALL.toSorted());
  expect(read.filter((one) => one.startsWith("NodeClaim"))).toEqual(["NodeClaim i-b"]);
  expect(outcome).toMatchObject({
    outcome: "requeue",
    state: { record: { name: "i-a" }, nodes: [{ metadata: { name: "node-a" }, spec: { taints: [] } }] },
  });
});

it("the reconciles of the other nodes continue from what was written, and their nodes are initialized in the same write", async () => {
  const { outcome, initialized } = await uncordoning({ isOwn: true });
  expect(initialized.toSorted()).toEqual(["node-a", "node-b"]);
  expect(outcome).toMatchObject({
    others: [
      { name: "i-b", state: { record: { nodeName: "node-b" }, claim: { metadata: { name: "i-b" } }, nodes: [{ spec: { taints: [] } }] } },
    ],
  });
});

it("a node whose record has a conflict is uncordoned, and initialized by its own reconcile", async () => {
  const { happened, initialized } = await uncordoning({ isRecordContested: true });
  expect([happened.toSorted(), initialized]).toEqual([ALL.toSorted(), []]);
});

it("a reconcile whose own node was not written reads again", async () => {
  expect((await uncordoning({ isOwn: true, update: new RefusedError("no") })).outcome).toMatchObject({
    outcome: "requeue",
    state: {},
    others: [{ name: "i-b" }],
  });
});

it.for([
  { name: "written by another", update: new ConflictError("changed") },
  { name: "refused by a policy", update: new RefusedError("no") },
])("a node whose write is $name keeps no other from taking pods", async ({ update }) => {
  expect(await uncordoning({ update })).toMatchObject({ outcome: { others: [{ name: "i-b" }] }, happened: ALL });
});

it("a node that another wrote in the same moment is read and uncordoned again at once", async () => {
  const now = { ...held("a"), metadata: { ...held("a").metadata, resourceVersion: "2" } };
  const again = await uncordoning({ update: new ConflictError("changed"), conflicts: 2, now });
  expect(again.happened).toEqual([...ALL, "node-a has 0 taints", "node-a has 0 taints"]);
});

it("a node that another uncordoned in the same moment is left as it is", async () => {
  const now: Node = {
    ...held("a"),
    metadata: { ...held("a").metadata, labels: { "karpenter.sh/registered": "true" } },
    spec: { ...held("a").spec, taints: [] },
  };
  expect((await uncordoning({ update: new ConflictError("changed"), now })).happened).toEqual(ALL);
});

it("a node that is written again and again is left to its own reconcile", async () => {
  const { happened } = await uncordoning({ update: new ConflictError("changed"), now: held("a") });
  expect(happened).toEqual([...ALL, ...Array.from({ length: 4 }, () => "node-a has 0 taints")]);
});

it("one invocation uncordons the nodes, and another leaves them alone", async () => {
  expect(await uncordoning({ isFirst: false })).toMatchObject({ outcome: { outcome: "done" }, happened: [] });
});

it.for([
  { name: "that EC2 does not list yet", change: { listed: ["i-a"] } },
  { name: "of another cluster", change: { cluster: "another" } },
])("a node $name is left to its own reconcile", async ({ change }) => {
  expect((await uncordoning(change)).happened).toEqual(["p-i-a to node-a", "node-a has 0 taints"]);
});
