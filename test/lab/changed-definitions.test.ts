import { afterEach, describe, expect, it } from "vitest";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Lab } from "#lab/host.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, NODE_CLASS, nodePool, openLab, START } from "../simulation/story.ts";

const MINUTE = 60_000;
const POOL = nodePool([{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }]);

function named(name: string, object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, name } };
}

/** An agent that takes memory of each node; the pods take CPU alone. */
const AGENT: ApiObject = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "default" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { containers: [{ name: "agent", image: "pause", resources: { requests: { memory: "1Gi" } } }] },
    },
  },
};

let lab: Lab | undefined;
afterEach(() => lab?.close());

/** A lab whose provision function has planned for a pod a few seconds ago, and remembers its definitions. */
async function warm(...objects: readonly ApiObject[]): Promise<Lab> {
  const opened = openLab(1, {});
  lab = opened;
  for (const object of [NODE_CLASS, ...objects, deployment(0, { cpu: "1" })]) opened.world.apply(object);
  await opened.world.clock.run({ until: START + 2 * MINUTE });
  opened.world.scale("Deployment", "default", "inflate", 1);
  await opened.world.clock.run({ until: START + 2 * MINUTE + 5_000 });
  expect(opened.world.store.list("NodeClaim")).toHaveLength(1);
  return opened;
}

describe("definitions that have changed since the last plan, a few seconds ago", () => {
  it("a NodePool that has just been deleted buys nothing more", async () => {
    const { world, cloud } = await warm(POOL, named("other", POOL));
    const [first] = world.store.list("NodeClaim");
    const pool = first?.metadata.labels?.["karpenter.sh/nodepool"] ?? "";
    world.delete("NodePool", pool);
    world.scale("Deployment", "default", "inflate", 60);
    await world.clock.run({ until: world.clock.now() + 5_000 });
    const later = cloud.machines().filter(({ instance }) => instance.tags["karpenter.sh/nodeclaim"] !== first?.metadata.name);
    expect(later.length).toBeGreaterThan(0);
    expect(later.filter(({ instance }) => instance.tags["karpenter.sh/nodepool"] === pool)).toEqual([]);
  });

  it("limits that were raised, and of which no wake-up has told, have room for pods that fit nowhere else", async () => {
    const { world } = await warm({ ...POOL, spec: { ...(POOL.spec as object), limits: { cpu: "2" } } });
    await world.clock.run({ until: world.clock.now() + 10_000 });
    // What the functions write themselves is told to none of them.
    world.store.patch("NodePool", POOL.metadata.name, undefined, { user: PRODUCT }, (pool) => {
      (pool["spec"] as { limits: object }).limits = { cpu: "400" };
      return pool;
    });
    world.scale("Deployment", "default", "inflate", 20);
    await world.clock.run({ until: world.clock.now() + 5_000 });
    expect(world.store.list("NodeClaim").length).toBeGreaterThan(1);
  });

  it("a DaemonSet that comes with pods has room beside them on each new node", async () => {
    const { world } = await warm(POOL);
    const claims = () => world.store.list("NodeClaim") as readonly NodeClaim[];
    const before = new Set(claims().map(({ metadata }) => metadata.name));
    world.apply(AGENT);
    world.scale("Deployment", "default", "inflate", 40);
    await world.clock.run({ until: world.clock.now() + 10_000 });
    const later = claims().filter(({ metadata }) => !before.has(metadata.name));
    expect(later.length).toBeGreaterThan(0);
    expect(new Set(later.map(({ spec }) => spec.resources?.requests?.["memory"]))).toEqual(new Set(["1Gi"]));
  });
});
