import { afterEach, describe, expect, it } from "vitest";
import { rebuild } from "#cli/rebuild/rebuild.ts";
import type { Lab } from "#lab/host.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import { FAMILIES, NODE_CLASS, nodePool, SPOT } from "../simulation/story.ts";
import { INFLATE, MINUTE, messages, names, pass, reasons, records, running, runningPods, SECOND, scale } from "../support/lab-story.ts";
import { KARPENTER, otherOwner, watched } from "../support/other-owner.ts";

let lab: Lab | undefined;
afterEach(() => lab?.close());

const POOL = nodePool([SPOT, FAMILIES]);

/** A Karpenter whose leader renews its Lease every two seconds, until the returned function ends it. */
function karpenter({ world }: Lab): () => void {
  const metadata = { name: "karpenter-leader-election", namespace: "karpenter" };
  const write = (spec: object): void => {
    const lease = world.store.get("Lease", metadata.name, metadata.namespace);
    if (lease === undefined)
      world.store.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec }, { user: "karpenter" });
    else world.store.update({ ...lease, spec }, { user: "karpenter" });
  };
  let runs = true;
  const renew = (): void => {
    if (runs) write({ holderIdentity: "karpenter-6d4_1", renewTime: new Date(world.clock.now()).toISOString() });
  };
  renew();
  world.clock.every(2 * SECOND, "Karpenter renews its Lease", renew);
  return () => {
    runs = false;
  };
}

const SENTENCE = /^Karpenter runs in this cluster, too: its Lease karpenter\/karpenter-leader-election is being renewed\./;

describe("while a Karpenter runs in the cluster", () => {
  it("nothing is launched, disrupted or written on NodePools, one sentence says so, and work goes on when it has ended", async () => {
    lab = await running(2, [NODE_CLASS, POOL, INFLATE]);
    const nodes = names(lab, "NodeClaim");
    const end = karpenter(lab);
    const writes: string[] = [];
    lab.world.onChange(({ kind, object, user }) => {
      if (user === PRODUCT && ["NodePool", "EC2NodeClass", "NodeClaim", "Node"].includes(kind))
        writes.push(`${kind} ${object.metadata.name}`);
    });
    scale(lab, 12);
    lab.world.apply({ ...POOL, spec: { ...(POOL.spec as object), weight: 5 } });
    await pass(lab, 8 * MINUTE);
    scale(lab, 0);
    await pass(lab, 7 * MINUTE);
    expect(names(lab, "NodeClaim")).toEqual(nodes);
    expect(writes).toEqual([]);
    expect(messages(lab).filter((message) => SENTENCE.test(message))).toHaveLength(2);
    expect(reasons(lab).filter((reason) => reason === "KarpenterRuns")).toHaveLength(1);
    end();
    scale(lab, 12);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(12);
  });

  it("a NodeClaim with a record goes on: when a user deletes it, its node is drained and its instance ends", async () => {
    lab = await running(1, [NODE_CLASS, POOL, INFLATE]);
    karpenter(lab);
    const [claim = ""] = names(lab, "NodeClaim");
    lab.world.delete("NodeClaim", claim);
    await pass(lab, 5 * MINUTE);
    expect([names(lab, "NodeClaim"), await records(lab)]).toEqual([[], []]);
  });

  it("a NodeClaim that nobody has launched yet is left to it", async () => {
    lab = await running(1, [NODE_CLASS, POOL, INFLATE]);
    karpenter(lab);
    const { nodeClassRef } = KARPENTER;
    lab.world.apply({
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name: "default-new" },
      spec: { requirements: [], nodeClassRef },
    });
    await pass(lab, 5 * MINUTE);
    expect((await records(lab)).map(({ name }) => name)).not.toContain("default-new");
  });

  it("with BESIDE_KARPENTER, pods get nodes", async () => {
    lab = await running(1, [NODE_CLASS, POOL, INFLATE], { settings: { besideKarpenter: true } });
    karpenter(lab);
    scale(lab, 12);
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(12);
  });
});

describe("NodeClaims that a Karpenter has launched before it ended", () => {
  it("are left alone, one line says so, and `rebuild` adopts them", async () => {
    const watch = watched();
    lab = await running(1, [NODE_CLASS, POOL, INFLATE], { hooks: watch.hooks });
    const theirs = await otherOwner(KARPENTER, lab, watch, 4);
    const [disrupted] = theirs.machines;
    theirs.disrupt(disrupted, "Drifted");
    await pass(lab, 30 * MINUTE);
    // Their owner reads in the events why these nodes are not disrupted.
    const touched = (await theirs.touched()).filter((what) => !what.startsWith("event DisruptionBlocked"));
    expect(touched).toEqual([]);
    const told = messages(lab).filter((message) => message.startsWith("4 NodeClaims were launched by another controller"));
    expect(told).toHaveLength(1);
    expect(JSON.stringify(lab.world.events)).toContain("was launched by another controller; the command adopt takes it over");

    await rebuild(lab.deps, { apply: true });
    await pass(lab, 15 * MINUTE);
    // One pod needs one node: the others are empty, and are removed as any empty node.
    expect(names(lab, "NodeClaim")).toHaveLength(1);
    expect(runningPods(lab)).toBe(1);
  });
});
