import { afterEach, describe, expect, it } from "vitest";
import { advance } from "#core/lifecycle/advance.ts";
import { foreignInstance } from "#core/lifecycle/identity.ts";
import type { Lab } from "#lab/host.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import * as builders from "../support/builders.ts";
import { alive, INFLATE, MINUTE, names, POOL, pass, ready, records, scale } from "../support/lab-story.ts";

const HASH = `karpenter.sh/nodeclaim`;

describe("whose an instance is", () => {
  it.for([
    { name: "our own", tags: { "eks:eks-cluster-name": "a", [HASH]: "c", "kubernetes.io/cluster/a": "owned" }, ours: true },
    { name: "Karpenter's, before it has the NodeClaim's name", tags: { "eks:eks-cluster-name": "a" }, ours: true },
    { name: "one of an older Karpenter", tags: { "kubernetes.io/cluster/a": "owned" }, ours: true },
    { name: "another cluster's", tags: { "eks:eks-cluster-name": "b", [HASH]: "c" }, ours: false },
    {
      name: "another cluster's that calls itself ours, too",
      tags: { "eks:eks-cluster-name": "b", "kubernetes.io/cluster/a": "owned" },
      ours: false,
    },
    { name: "another NodeClaim's", tags: { "eks:eks-cluster-name": "a", [HASH]: "d" }, ours: false },
    { name: "one without tags", tags: {}, ours: false },
  ])("$name: $ours", ({ tags, ours }) => {
    expect(foreignInstance({ id: "i-1", tags }, { cluster: "a", name: "c" }) === undefined).toBe(ours);
  });
});

describe("a NodeClaim that terminates", () => {
  const { INSTANCE, NOW, node, nodeClaim, record, view } = builders;
  const theirs = { ...INSTANCE, state: "running", launchedAt: 0, tags: { "eks:eks-cluster-name": "b" } } as const;
  const ending = (reason: "adopted" | "provisioned") => ({
    ...record({ uid: "uid-1", instance: INSTANCE, launchedAt: 0, terminating: { reason: "expired", at: NOW } }),
    reason,
  });

  it("asks what an adopted instance is before anything is drained", () => {
    expect(advance(view({ record: ending("adopted"), claim: nodeClaim(), nodes: [node()] })).ask).toBe("instance");
  });

  it.for(["adopted", "provisioned"] as const)("leaves an instance of another owner alone, and its node: %s", (reason) => {
    const { actions } = advance(view({ record: ending(reason), claim: nodeClaim(), nodes: [node()], instance: theirs }));
    expect(actions.map(({ type }) => type)).toEqual(["Log", "Event"]);
  });

  it.for(["shutting-down", "terminated"] as const)("is not held by an instance without tags that is %s", (state) => {
    const { actions } = advance(view({ record: ending("adopted"), claim: nodeClaim(), instance: { ...theirs, tags: {}, state } }));
    expect(actions.map(({ type }) => type)).not.toContain("Event");
  });
});

describe("a NodeClaim that names another cluster's instance", () => {
  let lab: Lab | undefined;
  afterEach(() => lab?.close());

  /** A running machine of the cluster "other" in this cluster's account. */
  async function withTheirs(): Promise<{ readonly lab: Lab; readonly id: string; readonly forged: () => void }> {
    lab = await ready([NODE_CLASS, POOL, INFLATE]);
    const { world, deps } = lab;
    scale(lab, 1);
    await pass(lab, 2 * MINUTE);
    const [record] = await records(lab);
    const claim = world.store.get("NodeClaim", record?.name ?? "");
    const id = record?.instance?.id ?? "";
    await deps.fleet.tag(id, { "eks:eks-cluster-name": "other", [`kubernetes.io/cluster/${world.cluster}`]: "no" });
    scale(lab, 0);
    if (record) await deps.store.remove(record);
    for (const kind of ["NodeClaim", "Node"]) {
      for (const name of names(lab, kind)) {
        world.store.patch(kind, name, undefined, { user: "test" }, (object) => ({
          ...object,
          metadata: { ...object.metadata, finalizers: [] },
        }));
        world.delete(kind, name);
      }
    }
    const { uid: _, resourceVersion: __, ...metadata } = { ...claim?.metadata };
    const forged = (): void => {
      world.store.create({ ...claim, metadata: { ...metadata, name: "forged" } } as never, { user: "tenant" });
      const made = world.store.get("NodeClaim", "forged");
      world.store.update({ ...made, status: claim?.["status"] } as never, { user: "tenant", subresource: "status" });
    };
    return { lab, id, forged };
  }

  it("is not adopted, is told, and can be deleted; the instance goes on", async () => {
    const { lab: theirs, id, forged } = await withTheirs();
    const isAlive = (): boolean => alive(theirs).some(({ instance }) => instance.id === id);
    expect(isAlive()).toBe(true);
    forged();
    await pass(theirs, 30 * MINUTE);
    expect(isAlive()).toBe(true);
    expect(await records(theirs)).toEqual([]);
    expect(theirs.world.events.map(({ reason, about }) => `${about.metadata.name} ${reason}`)).toContain("forged ForeignInstance");
    theirs.world.delete("NodeClaim", "forged");
    await pass(theirs, 2 * MINUTE);
    expect(names(theirs, "NodeClaim")).toEqual([]);
    expect(isAlive()).toBe(true);
  });
});
