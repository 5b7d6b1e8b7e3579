import { describe, expect, it } from "vitest";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import { ConflictError, NotFoundError, RefusedError } from "#core/ports/errors.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { budget, deployment, lab, node, pod, START } from "./support.ts";

const claim = (name: string, more: Partial<NodeClaim["metadata"]> = {}): NodeClaim => ({
  metadata: { name, ...more },
  spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
});

describe("simulated API server", () => {
  it("gives a new object its identity, and drops a status that its writer may not set", async () => {
    const { kubernetes } = lab();
    const made = await kubernetes.create("NodeClaim", { ...claim("a"), status: { nodeName: "x" } });
    expect(made.metadata).toMatchObject({ name: "a", generation: 1, creationTimestamp: "2026-01-15T10:00:00Z" });
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.status).toBeUndefined();
    await expect(kubernetes.create("NodeClaim", claim("a"))).rejects.toBeInstanceOf(ConflictError);
  });

  it("refuses a stale write, a write to a missing object, and a new spec for a NodeClaim", async () => {
    const { kubernetes } = lab();
    const made = await kubernetes.create("NodeClaim", claim("a"));
    const labelled = await kubernetes.update("NodeClaim", { ...made, metadata: { ...made.metadata, labels: { x: "y" } } });
    expect(labelled.metadata.generation).toBe(1);
    await expect(kubernetes.update("NodeClaim", made)).rejects.toBeInstanceOf(ConflictError);
    await expect(kubernetes.update("NodeClaim", claim("b"))).rejects.toBeInstanceOf(NotFoundError);
    const other = { ...labelled, spec: { ...labelled.spec, expireAfter: "1h" } };
    await expect(kubernetes.update("NodeClaim", other)).rejects.toBeInstanceOf(RefusedError);
  });

  it("refuses a NodeClaim that its CustomResourceDefinition does not admit, as 422", async () => {
    const { kubernetes } = lab();
    const { metadata, spec } = claim("a");
    await expect(kubernetes.create("NodeClaim", { metadata, spec: { ...spec, expireAfter: "1d" } })).rejects.toThrow(
      new RefusedError(
        'NodeClaim "a" is invalid: spec.expireAfter "1d" is not valid; write a duration such as "30s", "5m", "720h" (no days)',
      ),
    );
    const made = await kubernetes.create("NodeClaim", claim("a"));
    const status = { ...made.status, conditions: [{ type: "Launched" }] } as never;
    await expect(kubernetes.updateStatus("NodeClaim", { ...made, status })).rejects.toBeInstanceOf(RefusedError);
  });

  it("writes status and the rest separately, and increments the generation with the spec alone", async () => {
    const { kubernetes, world } = lab();
    world.apply({
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "p" },
      spec: { template: { spec: claim("p").spec } },
    });
    const pool = (await kubernetes.get("NodePool", "p")) as NodePool;
    expect(pool.spec).toMatchObject({
      template: { spec: { expireAfter: "720h" } },
      disruption: { consolidateAfter: "0s", budgets: [{ nodes: "10%" }] },
    });
    const withStatus = await kubernetes.updateStatus("NodePool", { ...pool, spec: { ...pool.spec, weight: 9 }, status: { nodes: 2 } });
    expect(withStatus).toMatchObject({ spec: pool.spec, status: { nodes: 2 }, metadata: { generation: 1 } });
    const { status: _, ...bare } = withStatus;
    const heavier = await kubernetes.update("NodePool", { ...bare, spec: { ...pool.spec, weight: 9 } });
    expect(heavier).toMatchObject({ status: { nodes: 2 }, metadata: { generation: 2 } });
  });

  it("returns frozen objects", async () => {
    const { kubernetes } = lab();
    const made = await kubernetes.create("NodeClaim", claim("a"));
    expect(() => {
      (made.metadata as { name: string }).name = "b";
    }).toThrow(TypeError);
  });

  it("keeps an object until its last finalizer is removed", async () => {
    const { kubernetes, clock } = lab();
    const made = await kubernetes.create("NodeClaim", claim("a", { finalizers: ["karpenter.sh/termination"] }));
    expect(await kubernetes.delete("NodeClaim", "a", { uid: "another" })).toBe(false);
    const left = await kubernetes.delete("NodeClaim", "a", { ...(made.metadata.uid && { uid: made.metadata.uid }) });
    const going = (await kubernetes.get("NodeClaim", "a")) as NodeClaim;
    expect(left).toEqual(going);
    expect(going.metadata.deletionTimestamp).toBe(new Date(clock.now()).toISOString().replace(".000", ""));
    await kubernetes.update("NodeClaim", { ...going, metadata: { ...going.metadata, finalizers: [] } });
    expect(await kubernetes.get("NodeClaim", "a")).toBeUndefined();
    expect(await kubernetes.delete("NodeClaim", "a")).toBe(false);
  });

  it("deletes a bound pod gracefully and an unbound one at once", async () => {
    const { kubernetes, world, clock } = lab();
    world.apply(node("n1"));
    world.apply(pod("bound"));
    world.apply(pod("unbound", { nodeSelector: { no: "where" } }));
    await clock.run({ idle: 5_000 });
    await kubernetes.delete("Pod", "unbound", { namespace: "default" });
    expect(await kubernetes.get("Pod", "unbound", "default")).toBeUndefined();
    await kubernetes.delete("Pod", "bound", { namespace: "default" });
    expect((await kubernetes.get("Pod", "bound", "default"))?.metadata.deletionGracePeriodSeconds).toBe(30);
    await clock.run({ idle: 5_000 });
    expect(await kubernetes.get("Pod", "bound", "default")).toBeUndefined();
  });

  it("wraps a grace period of more than 292 years, as the nanoseconds of the API server do", async () => {
    const { kubernetes, world, clock } = lab();
    world.apply(node("n1"));
    world.apply(pod("patient", { nodeName: "n1", terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER }));
    await kubernetes.delete("Pod", "patient", { namespace: "default" });
    const { deletionTimestamp = "" } = (await kubernetes.get("Pod", "patient", "default"))?.metadata ?? {};
    expect(Math.abs(Date.parse(deletionTimestamp) - clock.now())).toBeLessThan(293 * 366 * 86_400_000);
  });

  it("lists objects by fields and labels", async () => {
    const { kubernetes, world, clock } = lab();
    world.apply(node("n1", { cpu: "1" }));
    world.apply(pod("a", {}, { tier: "web" }));
    world.apply(pod("b", {}, { tier: "db" }));
    await clock.run({ idle: 5_000 });
    const names = async (options: object) => (await kubernetes.list("Pod", options)).map((p) => p.metadata.name);
    expect(await names({ fieldSelector: "spec.nodeName=n1" })).toEqual(["a"]);
    expect(await names({ fieldSelector: "spec.nodeName=,status.phase!=Failed" })).toEqual(["b"]);
    expect(await names({ labelSelector: "tier in (db, cache)" })).toEqual(["b"]);
    expect(await names({ labelSelector: "tier,tier!=db" })).toEqual(["a"]);
    await expect(names({ labelSelector: "((" })).rejects.toThrow("cannot read the label selector");
  });

  it("deletes the dependents of a deleted owner", async () => {
    const { kubernetes, world, clock } = lab();
    world.apply({ apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "p" }, spec: {} } as ApiObject);
    const uid = world.store.get("NodePool", "p")?.metadata.uid ?? "";
    const ownerReferences = [{ apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "p", uid }];
    await kubernetes.create("NodeClaim", claim("owned", { ownerReferences }));
    await kubernetes.create("NodeClaim", claim("free"));
    world.delete("NodePool", "p");
    await clock.run({ idle: 2_000 });
    expect((await kubernetes.list("NodeClaim")).map((c) => c.metadata.name)).toEqual(["free"]);
    await kubernetes.create("NodeClaim", claim("late", { ownerReferences }));
    await clock.run({ idle: 2_000 });
    expect(await kubernetes.get("NodeClaim", "late")).toBeUndefined();
  });

  it("evicts as many pods as a PodDisruptionBudget allows, and more once a replacement is ready", async () => {
    const { kubernetes, world, clock } = lab();
    world.apply(node("n1", { cpu: "8" }));
    world.apply(deployment("web", 3));
    world.apply(budget("web", "web", { minAvailable: 2 }));
    await clock.run({ idle: 5_000 });
    const [first, second] = (await kubernetes.list("Pod")) as [Pod, Pod];
    expect(await kubernetes.evict({ ...first, metadata: { ...first.metadata, uid: "stranger" } })).toBe("gone");
    expect(await kubernetes.evict(first)).toBe("evicted");
    expect(await kubernetes.evict(second)).toBe("blocked");
    await clock.run({ idle: 5_000 });
    expect(await kubernetes.evict(second)).toBe("evicted");
    world.apply(budget("web-too", "web", { maxUnavailable: 3 }));
    await clock.run({ idle: 5_000 });
    const [other] = (await kubernetes.list("Pod")) as [Pod];
    expect(await kubernetes.evict(other)).toBe("blocked");
  });

  it("records events with their time", async () => {
    const { kubernetes, world } = lab();
    await kubernetes.publish({ type: "Normal", reason: "Nominated", message: "m", about: { kind: "Pod", metadata: { name: "p" } } });
    expect(world.events).toMatchObject([{ at: START, reason: "Nominated" }]);
  });
});
