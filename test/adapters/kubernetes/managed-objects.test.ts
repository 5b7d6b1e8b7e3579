import { expect, it } from "vitest";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";
import { simulatedKubernetes } from "#lab/world/api-server.ts";
import { createLabWorld } from "#lab/world/world.ts";
import * as objects from "../../support/objects.ts";

const node = (name: string, labels = {}) => objects.node(name, { providerID: `aws:///us-west-2a/${name}`, labels });
const nodeClaim = (name: string) => objects.nodeClaim(name, { uid: name });
const nodePool = (name: string, template = {}) => objects.nodePool(name, { uid: name, template });
const AUTO = { group: "eks.amazonaws.com", kind: "NodeClass", name: "default" };

function theirs(name: string): NodeClaim {
  const claim = nodeClaim(name);
  return { ...claim, spec: { ...claim.spec, nodeClassRef: AUTO } };
}

/** A cluster with objects of ours and of another controller, and what was asked of its API server to change. */
async function cluster() {
  const server = simulatedKubernetes(createLabWorld({ seed: 1, start: 0 }));
  await server.create("NodeClaim", nodeClaim("ours"));
  await server.create("NodeClaim", theirs("theirs"));
  await server.create("NodePool", nodePool("default"));
  await server.create("NodePool", nodePool("auto", { nodeClassRef: AUTO }));
  await server.create("Node", node("our-node", { "karpenter.k8s.aws/ec2nodeclass": "default" }));
  await server.create("Node", node("their-node", { "eks.amazonaws.com/nodeclass": "default" }));
  const asked: string[] = [];
  const recorded = (method: "create" | "update" | "updateStatus") => async (kind: Kind, object: Kinds[Kind]) => {
    asked.push(`${method} ${kind} ${object.metadata.name}`);
    return server[method](kind, object);
  };
  const writes = {
    ...{ create: recorded("create"), update: recorded("update"), updateStatus: recorded("updateStatus") },
    delete: async (kind: Kind, name: string) => {
      asked.push(`delete ${kind} ${name}`);
      return server.delete(kind, name);
    },
  };
  return { server, asked, managed: managedObjects({ ...server, ...writes } as unknown as Kubernetes) };
}

const names = (objects: readonly { readonly metadata: { readonly name: string } }[]) => objects.map(({ metadata }) => metadata.name);

it("hides another controller's NodeClaims and NodePools, and shows its nodes, because pods have room there", async () => {
  const { managed } = await cluster();
  expect(names(await managed.list("NodeClaim"))).toEqual(["ours"]);
  expect(names(await managed.list("NodePool"))).toEqual(["default"]);
  expect(names(await managed.list("Node"))).toEqual(["our-node", "their-node"]);
  expect(await managed.get("NodeClaim", "theirs")).toBeUndefined();
  expect(await managed.get("NodePool", "auto")).toBeUndefined();
  expect((await managed.get("NodeClaim", "ours"))?.metadata.name).toBe("ours");
});

it("shows another controller's objects to a reader who asks for those of every owner", async () => {
  const { managed } = await cluster();
  expect(names(await managed.list("NodeClaim", { everyOwner: true }))).toEqual(["ours", "theirs"]);
  expect(names(await managed.list("NodePool", { everyOwner: true }))).toEqual(["default", "auto"]);
});

it("refuses each write to another controller's objects before it reaches the API server", async () => {
  const { server, asked, managed } = await cluster();
  const [claim, pool, machine] = [
    await server.get("NodeClaim", "theirs"),
    await server.get("NodePool", "auto"),
    await server.get("Node", "their-node"),
  ];
  if (!claim || !pool || !machine) throw new Error("the cluster has no such objects");
  const writes = [
    () => managed.create("NodeClaim", theirs("new")),
    () => managed.update("NodeClaim", claim),
    () => managed.updateStatus("NodeClaim", claim),
    () => managed.delete("NodeClaim", "theirs"),
    () => managed.update("NodePool", pool),
    () => managed.updateStatus("NodePool", pool),
    () => managed.update("Node", machine),
    () => managed.delete("Node", "their-node"),
  ];
  for (const write of writes) await expect(write()).rejects.toThrow("belongs to another controller and must not be written");
  expect(asked).toEqual([]);
});

it("passes on writes to what is served here, and to nodes that no controller has labelled yet", async () => {
  const { server, asked, managed } = await cluster();
  const claim = await server.get("NodeClaim", "ours");
  if (!claim) throw new Error("the cluster has no such NodeClaim");
  await managed.update("NodeClaim", claim);
  await managed.create("Node", node("joined"));
  await managed.delete("Node", "our-node");
  expect(asked).toEqual(["update NodeClaim ours", "create Node joined", "delete Node our-node"]);
  expect(await managed.delete("Node", "gone")).toBe(false);
});

it("refuses a NodeClaim whose name another controller has taken, so that it is planned again under another name", async () => {
  const { managed } = await cluster();
  await expect(managed.create("NodeClaim", nodeClaim("theirs"))).rejects.toThrow("another controller has a NodeClaim of the name theirs");
  await expect(managed.create("NodeClaim", nodeClaim("ours"))).rejects.toMatchObject({ name: "ConflictError" });
});
