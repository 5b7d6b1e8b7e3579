import { afterEach, describe, expect, it } from "vitest";
import { advance } from "#core/lifecycle/advance.ts";
import { isNameOf } from "#core/lifecycle/identity.ts";
import type { Node } from "#core/model/node.ts";
import { nodeOwners } from "#core/model/node-owner.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { planRepairs } from "#core/repair/plan.ts";
import type { Lab } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import * as builders from "../support/builders.ts";
import { alive, INFLATE, ids, MINUTE, names, POOL, pass, ready, runningPods, scale } from "../support/lab-story.ts";
import * as objects from "../support/objects.ts";

let lab: Lab | undefined;
afterEach(() => lab?.close());

describe("the names that a node of an instance may have", () => {
  const ipNamed = { id: "i-0abc", privateDnsName: "ip-10-0-1-2.us-west-2.compute.internal" };
  it.for([
    { node: "ip-10-0-1-2.us-west-2.compute.internal", instance: ipNamed, own: true },
    { node: "ip-10-0-1-2.corp.example", instance: ipNamed, own: true },
    { node: "i-0abc", instance: ipNamed, own: true },
    {
      node: "i-0abc.us-west-2.compute.internal",
      instance: { id: "i-0abc", privateDnsName: "i-0abc.us-west-2.compute.internal" },
      own: true,
    },
    { node: "anything", instance: { id: "i-0abc" }, own: true },
    { node: "ip-10-0-1-3.us-west-2.compute.internal", instance: ipNamed, own: false },
    { node: "i-0abcd", instance: ipNamed, own: false },
  ])("$node of $instance.privateDnsName: $own", ({ node, instance, own }) => {
    expect(isNameOf(node, instance)).toBe(own);
  });
});

describe("a NodeClaim whose node has joined", () => {
  const { INSTANCE, NOW, node, nodeClaim, record, view } = builders;
  const instance = {
    ...INSTANCE,
    state: "running",
    launchedAt: 0,
    tags: {},
    privateDnsName: "ip-10-0-0-1.us-west-2.compute.internal",
  } as const;
  const joined = node("joined");
  const twin: Node = { ...joined, metadata: { ...joined.metadata, name: "ip-10-9-9-9" } };
  const launchedClaim = nodeClaim({ conditions: ["Launched"] });
  const step = (nodes: readonly Node[], createdAt = NOW - 60_000, claim = launchedClaim) =>
    advance(view({ record: record({ uid: "uid-1", instance: INSTANCE, launchedAt: 0, createdAt }), claim, nodes, instance }));
  const LATE = NOW - 16 * 60_000;
  const saying = objects.fullCondition("Registered", builders.at(60), { status: "Unknown", reason: "NodeWriteRefused" });
  const refused = {
    ...launchedClaim,
    status: { ...launchedClaim.status, conditions: [...(launchedClaim.status?.conditions ?? []), saying] },
  };

  it("asks EC2 for the instance's name before it takes a node for its own", () => {
    expect(
      advance(view({ record: record({ uid: "uid-1", instance: INSTANCE, launchedAt: 0 }), claim: launchedClaim, nodes: [joined] })).ask,
    ).toBe("instance");
  });

  it("registers the node with the instance's name, whatever other nodes say", () => {
    const written = step([twin, node("joined", { ready: false })]).actions.flatMap((action) =>
      action.type === "WriteNode" ? [action.node.metadata.name] : [],
    );
    expect(written).toEqual([joined.metadata.name]);
  });

  it("does not register a node with another name, and says so", () => {
    const { actions } = step([twin]);
    expect(actions.map(({ type }) => type)).toEqual(["WriteClaim"]);
    expect(JSON.stringify(actions)).toMatch(
      /NodeNameMismatch.*ip-10-9-9-9 has the providerID, but not the name of the instance ip-10-0-0-1/,
    );
  });

  it.for([
    { name: "a node with another name", nodes: [twin] },
    { name: "two nodes with its name", nodes: [joined, { ...joined, metadata: { ...joined.metadata, name: "i-1" } }] },
    { name: "a node that cannot be written", nodes: [joined], claim: refused },
  ])("ends after fifteen minutes beside $name", ({ nodes, claim }) => {
    const reasons = step(nodes, LATE, claim).actions.flatMap((action) =>
      action.type === "WriteRecord" ? [action.record.terminating?.reason] : [],
    );
    expect(reasons).toEqual(["registration_timeout"]);
  });

  it("is registered late when its node is complete", () => {
    const written = step([node()], LATE).actions.flatMap((action) => (action.type === "WriteRecord" ? [action.record] : []));
    expect(written.map(({ nodeName, terminating }) => [nodeName, terminating])).toEqual([[node().metadata.name, undefined]]);
  });
});

describe("nodes of one providerID", () => {
  const ID = "aws:///us-west-2a/i-1";
  const named = (name: string, ready = true): Node => {
    const own = objects.node(name, { providerID: ID, ready });
    const old = (own.status?.conditions ?? []).map((condition) => ({ ...condition, lastTransitionTime: "2020-01-01T00:00:00Z" }));
    return { ...own, status: { ...own.status, conditions: old } };
  };
  const claim = (nodeName?: string) => objects.nodeClaim("c", { uid: "u", providerID: ID, status: { ...(nodeName && { nodeName }) } });

  it.for([
    { name: "its only node", nodes: ["a"], registered: undefined, own: ["a"], contested: [] },
    { name: "two nodes before one is registered", nodes: ["a", "b"], registered: undefined, own: [], contested: ["a", "b"] },
    { name: "the registered node of two", nodes: ["a", "b"], registered: "b", own: ["b"], contested: ["a", "b"] },
    { name: "a node with another name than the registered", nodes: ["a"], registered: "b", own: [], contested: ["a"] },
  ])("$name", ({ nodes, registered, own, contested }) => {
    const list = nodes.map((name) => named(name));
    const owners = nodeOwners(list, [claim(registered)]);
    expect(list.filter((node) => owners.claimOf(node) !== undefined).map(({ metadata }) => metadata.name)).toEqual(own);
    expect([...owners.contested.keys()]).toEqual(contested);
  });

  it.for([
    { name: "is the NodeClaim's that registration made its owner", owners: ["u2"], claim: "second", contested: [] },
    { name: "is nobody's when no NodeClaim is its owner", owners: [], claim: undefined, contested: ["a"] },
    { name: "is nobody's when both are", owners: ["u1", "u2"], claim: undefined, contested: ["a"] },
  ])("a node that two NodeClaims name $name", ({ owners, claim, contested }) => {
    const own = named("a");
    const ownerReferences = owners.map((uid) => ({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "x", uid }));
    const node = { ...own, metadata: { ...own.metadata, ownerReferences } };
    const twins = ["first", "second"].map((name, i) =>
      objects.nodeClaim(name, { uid: `u${i + 1}`, providerID: ID, status: { nodeName: "a" } }),
    );
    for (const claims of [twins, twins.toReversed()]) {
      const found = nodeOwners([node], claims);
      expect(found.claimOf(node)?.metadata.name).toBe(claim);
      expect([...found.contested.keys()]).toEqual(contested);
    }
  });

  it("an unhealthy imposter replaces nobody's machine", () => {
    const { repairs, blocked } = planRepairs({
      nodes: [named("mine"), named("imposter", false)],
      claims: [claim("mine")],
      now: Date.now(),
    });
    expect([...repairs, ...blocked]).toEqual([]);
  });
});

describe("an imposter in a cluster", () => {
  it("an empty node with the providerID of a full one ends nobody's machine, and is told", async () => {
    lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, 3);
    await pass(lab, 3 * MINUTE);
    const before = ids(lab);
    const { store } = lab.world;
    const [victim] = store.list("Node");
    const { uid: _, resourceVersion: __, ownerReferences: ___, ...metadata } = { ...victim?.metadata };
    store.create({ ...victim, metadata: { ...metadata, name: "zz-imposter" } } as ApiObject & { kind: string }, {
      user: "system:node:zz-imposter",
    });
    await pass(lab, 30 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(runningPods(lab)).toBe(3);
    const told = lab.world.events.filter(({ reason }) => reason === "NodeContested").map(({ about }) => about.metadata.name);
    expect(told).toContain("zz-imposter");
    expect(told).toContain(victim?.metadata.name);
  });

  it("a node that may not be written keeps no machine for longer than the registration time-out", async () => {
    lab = await ready([NODE_CLASS, POOL, INFLATE], {
      hooks: {
        before: ({ port, method, args: [kind], invocation }) => {
          if (invocation?.name === "lifecycle" && port === "kubernetes" && method === "update" && kind === "Node")
            throw new RefusedError("denied by policy");
          return undefined;
        },
      },
    });
    scale(lab, 1);
    await pass(lab, 2 * MINUTE);
    const [first] = names(lab, "NodeClaim");
    const machines = ids(lab);
    expect(machines).toHaveLength(1);
    await pass(lab, 17 * MINUTE);
    expect(alive(lab).map(({ instance }) => instance.id)).not.toContain(machines[0]);
    const told = lab.world.events.filter(({ about }) => about.metadata.name === first).map(({ reason }) => reason);
    expect(told).toContain("NodeWriteRefused");
  });
});
