import { describe, expect, it } from "vitest";
import { rebuild } from "#cli/rebuild/rebuild.ts";
import type { Lab } from "#lab/host.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import {
  expectAccountedFor,
  INFLATE,
  ids,
  MINUTE,
  messages,
  names,
  POOL,
  pass,
  ready,
  records,
  running,
  runningPods,
  SECOND,
  SPOT_POOL,
  scale,
} from "../support/lab-story.ts";

/** Removes NodeClaims with their finalizers, as a user with too many rights would. */
function loseClaims(lab: Lab): void {
  for (const name of names(lab, "NodeClaim")) {
    lab.world.store.patch("NodeClaim", name, undefined, { user: "an accident" }, (claim) => {
      claim.metadata.finalizers = [];
      return claim;
    });
    lab.world.delete("NodeClaim", name);
  }
}

/** Removes NodeClaims as a restore of the API server from a backup does: nodes do not name them either. */
function forgetClaims(lab: Lab): void {
  for (const name of names(lab, "Node")) {
    lab.world.store.patch("Node", name, undefined, { user: "a backup" }, (node) => {
      node.metadata.ownerReferences = [];
      return node;
    });
  }
  loseClaims(lab);
}

/** Deletes the items of the table. */
async function loseTable(lab: Lab): Promise<void> {
  const { store } = lab.deps;
  for (const record of await records(lab)) await store.remove(record);
  for (const command of await store.commands(lab.world.cluster)) await store.removeCommand(command);
}

describe("a lost table", () => {
  it("ends no instance: NodeClaims get records again, with the instances that they have", async () => {
    const lab = await running(7);
    const before = ids(lab);
    await pass(lab, 6 * MINUTE);
    await loseTable(lab);
    await pass(lab, 10 * MINUTE);
    expect(ids(lab)).toEqual(before);
    expect(runningPods(lab)).toBe(7);
    await expectAccountedFor(lab, before.length);
    scale(lab, 0);
    await pass(lab, 5 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it.for([1, 2, 3, 5, 8, 13, 21])("%i s into a launch, nothing is launched twice", async (seconds) => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, 2);
    await pass(lab, seconds * SECOND);
    await loseTable(lab);
    await pass(lab, 4 * MINUTE);
    expect(runningPods(lab)).toBe(2);
    expect(lab.cloud.machines()).toHaveLength(1);
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("a spot notice that comes before the adoption is acted on then", async () => {
    const lab = await running(2, [NODE_CLASS, SPOT_POOL, INFLATE]);
    await pass(lab, 6 * MINUTE);
    const [id = ""] = ids(lab);
    await loseTable(lab);
    lab.cloud.interruptSpot(id);
    await pass(lab, 110 * SECOND);
    expect(ids(lab)).not.toEqual([id]);
    expect(messages(lab)).toContain("initiating delete from interruption message");
    expect(runningPods(lab)).toBe(2);
    lab.close();
  });
});

describe("NodeClaims that vanish without a deletion", () => {
  it("all at once, keep their instances, and an event says what to do", async () => {
    const lab = await running(7, [NODE_CLASS, POOL, INFLATE], { sources: [] });
    scale(lab, 14);
    await pass(lab, 3 * MINUTE);
    const before = ids(lab);
    expect(before.length).toBeGreaterThan(1);
    loseClaims(lab);
    await pass(lab, 5 * MINUTE);
    // The garbage collector of the cluster deletes nodes whose owner is gone, so nodes are launched for their pods; the
    // old nodes are not drained.
    expect(ids(lab)).toEqual(expect.arrayContaining([...before]));
    expect(messages(lab).filter((message) => message.includes("rebuild --cluster lab"))).toHaveLength(1);
    lab.close();
  });
});

describe("rebuild", () => {
  /** Two or more nodes that run. */
  async function several(): Promise<Lab> {
    const lab = await running(7);
    scale(lab, 14);
    await pass(lab, 4 * MINUTE);
    expect(ids(lab).length).toBeGreaterThan(1);
    return lab;
  }

  it("finds nothing to do in an intact cluster", async () => {
    const lab = await several();
    expect(await rebuild(lab.deps, { apply: true })).toBe("Nothing is missing in cluster lab.\n");
    lab.close();
  });

  it.for([
    { name: "the table is lost", lose: loseTable },
    { name: "NodeClaims are lost", lose: forgetClaims },
    {
      name: "both are lost, and only EC2 and the nodes are left",
      lose: async (lab: Lab) => {
        forgetClaims(lab);
        await loseTable(lab);
      },
    },
  ])("when $name, keeps every instance and launches none", async ({ lose }) => {
    const lab = await several();
    const machines = ids(lab);
    const bought = lab.cloud.machines().length;
    await lose(lab);
    const dry = await rebuild(lab.deps, { apply: false });
    expect(dry).toContain(`${machines.length} to write. Nothing was written: do it with --apply.`);
    expect(await rebuild(lab.deps, { apply: false })).toBe(dry);
    const done = await rebuild(lab.deps, { apply: true });
    expect(done.match(/\[done\]/g)).toHaveLength(machines.length);
    expect(await rebuild(lab.deps, { apply: false })).toBe("Nothing is missing in cluster lab.\n");
    // Longer than the registration timeout of a NodeClaim.
    await pass(lab, 20 * MINUTE);
    expect(ids(lab)).toEqual(machines);
    expect(lab.cloud.machines()).toHaveLength(bought);
    expect(runningPods(lab)).toBe(14);
    await expectAccountedFor(lab, machines.length);
    scale(lab, 0);
    await pass(lab, 10 * MINUTE);
    await expectAccountedFor(lab, 0);
    lab.close();
  });

  it("when NodeClaims are lost with their nodes, drains what it cannot keep", async () => {
    const lab = await several();
    const machines = ids(lab);
    loseClaims(lab);
    await pass(lab, 30 * SECOND);
    expect(await rebuild(lab.deps, { apply: true })).toContain("drained, since its node is being deleted");
    await pass(lab, 10 * MINUTE);
    expect(ids(lab).filter((id) => machines.includes(id))).toEqual([]);
    expect(runningPods(lab)).toBe(14);
    await expectAccountedFor(lab, ids(lab).length);
    lab.close();
  });

  it.for([1, 2, 3, 5, 8, 13, 21, 34])("%i s into a scale-up, a lost table loses no instance and doubles none", async (seconds) => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, 7);
    await pass(lab, seconds * SECOND);
    await loseTable(lab);
    await rebuild(lab.deps, { apply: true });
    await pass(lab, 5 * MINUTE);
    expect(runningPods(lab)).toBe(7);
    expect(lab.cloud.machines().length).toBe(ids(lab).length);
    await expectAccountedFor(lab, ids(lab).length);
    lab.close();
  });

  it.for([5, 12, 33, 38, 46, 52, 65, 80, 110])(
    "%i s into a scale-down, a lost table leaves no node behind and none half taken away",
    async (seconds) => {
      const lab = await several();
      scale(lab, 1);
      await pass(lab, seconds * SECOND);
      await loseTable(lab);
      await rebuild(lab.deps, { apply: true });
      await pass(lab, 15 * MINUTE);
      expect(runningPods(lab)).toBe(1);
      await expectAccountedFor(lab, 1);
      const tainted = (
        lab.world.store.list("Node") as readonly { readonly spec?: { readonly taints?: readonly { readonly key: string }[] } }[]
      )
        .flatMap(({ spec }) => spec?.taints ?? [])
        .filter(({ key }) => key === "karpenter.sh/disrupted");
      expect(tainted).toEqual([]);
      lab.close();
    },
  );
});
