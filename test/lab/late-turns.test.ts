import { describe, expect, it } from "vitest";
import type { Lab } from "#lab/host.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { expectAccountedFor, ids, MINUTE, messages, pass, ready, records, SECOND } from "../support/lab-story.ts";

const is = (key: string, value: string) => ({ key, operator: "In", values: [value] });
/** NodeClaims that are launched by one call. */
const ALIKE = [ON_DEMAND, is("node.kubernetes.io/instance-type", "m5.large"), is("topology.kubernetes.io/zone", "us-west-2a")];
const NODES = 12;
const FULL_MS = 7 * MINUTE;

/**
 * A lab with a NodePool of so many replicas. From the moment that `begins()` Lambda refuses the functions of NodeClaims
 * for seven minutes.
 */
async function crowded(begins: (lab: Lab) => boolean): Promise<Lab> {
  let lab: Lab | undefined;
  let fullFrom = Number.POSITIVE_INFINITY;
  const isThrottled = (fn: string): boolean => {
    if (fn !== "lifecycle" || lab === undefined) return false;
    const now = lab.world.clock.now();
    if (begins(lab)) fullFrom = Math.min(fullFrom, now);
    return now >= fullFrom && now < fullFrom + FULL_MS;
  };
  lab = await ready([NODE_CLASS], { settings: { staticCapacity: true }, isThrottled });
  lab.world.apply(nodePool(ALIKE, { limits: {}, replicas: NODES }));
  return lab;
}

const nameAll = async (lab: Lab): Promise<readonly string[]> => (await records(lab)).map(({ name }) => name).sort();

/** The NodeClaims that were planned have a machine each, the first and only one. */
async function expectKept(lab: Lab, planned: readonly string[]): Promise<void> {
  expect(planned).toHaveLength(NODES);
  expect(await nameAll(lab)).toEqual(planned);
  expect(lab.cloud.machines()).toHaveLength(NODES);
  expect(messages(lab)).not.toContain("terminating due to timeout");
  await expectAccountedFor(lab, NODES);
  lab.close();
}

describe("an account that runs too few invocations at once", () => {
  it("NodeClaims whose turn comes seven minutes after their machines were launched keep them", async () => {
    const lab = await crowded(({ cloud }) => cloud.machines().length === NODES);
    await pass(lab, 30 * SECOND);
    expect(ids(lab)).toHaveLength(NODES);
    const planned = await nameAll(lab);
    expect((await records(lab)).filter(({ instance }) => instance === undefined)).toHaveLength(NODES - 1);
    await pass(lab, 12 * MINUTE);
    await expectKept(lab, planned);
  });

  it("NodeClaims whose first turn comes seven minutes after their plan are launched", async () => {
    const lab = await crowded(({ world }) => world.store.list("NodePool").length > 0);
    await pass(lab, 30 * SECOND);
    expect(ids(lab)).toEqual([]);
    const planned = await nameAll(lab);
    await pass(lab, 12 * MINUTE);
    await expectKept(lab, planned);
  });
});
