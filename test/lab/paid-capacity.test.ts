import { describe, expect, it } from "vitest";
import type { PaidFor } from "#core/model/paid-capacity.ts";
import { createLab, type Lab } from "#lab/host.ts";
import { FAMILIES, NODE_CLASS, nodePool } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, messages, OPTIONS, pass, ready, runningPods, scale } from "../support/lab-story.ts";

const BOTH = { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot", "on-demand"] };
const POOL = nodePool([BOTH, FAMILIES], { disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "30s" } });
/** So that pods need several nodes. */
const SMALL = nodePool([BOTH, FAMILIES, { key: "karpenter.k8s.aws/instance-size", operator: "In", values: ["large", "xlarge"] }], {
  disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "30s" },
});

const plan = (of: PaidFor, perHour: number) => ({ savingsPlans: [{ of, perHour }] });
const M5: PaidFor = { kind: "family", family: "m5" };

/** Dollars an hour of machines of a capacity type, at the prices of EC2. */
const billed = (lab: Lab, capacityType: string): number =>
  alive(lab).reduce((sum, { price, instance }) => sum + (instance.capacityType === capacityType ? price : 0), 0);
const kinds = (lab: Lab): readonly string[] =>
  alive(lab)
    .map(({ instance }) => `${instance.capacityType} ${instance.instanceType.split(".")[0]}`)
    .sort();
const launches = (lab: Lab): number => messages(lab).filter((message) => message === "launched nodeclaim").length;
const RESERVED = { instanceType: "m5.xlarge", count: 2, platform: "Linux/UNIX", tenancy: "default" };

describe("on-demand capacity that is paid for, in a cluster", () => {
  it("of a Savings Plan is used up before spot is bought, nothing is moved afterwards, and spot goes first when pods go", async () => {
    const lab = await ready([NODE_CLASS, SMALL, INFLATE], { settings: plan(M5, 0.4) });
    scale(lab, 12);
    await pass(lab, 5 * MINUTE);
    expect(runningPods(lab)).toBe(12);
    const [paid, before] = [billed(lab, "on-demand"), kinds(lab)];
    expect(paid).toBeGreaterThan(0.19);
    expect(paid).toBeLessThanOrEqual(0.4);
    expect(before.filter((kind) => kind.startsWith("on-demand"))).toEqual(before.filter((kind) => kind === "on-demand m5"));
    expect(before.some((kind) => kind.startsWith("spot"))).toBe(true);
    const launched = launches(lab);
    await pass(lab, 15 * MINUTE);
    expect([kinds(lab), launches(lab)]).toEqual([before, launched]);
    scale(lab, 4);
    await pass(lab, 10 * MINUTE);
    expect(runningPods(lab)).toBe(4);
    expect(billed(lab, "spot")).toBe(0);
    expect(billed(lab, "on-demand")).toBeGreaterThan(0);
    lab.close();
  }, 60_000);

  it("of reserved instances that are bought later takes the place of spot when it was there for an hour, and is kept when it is gone for minutes", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { settings: { reservedInstances: true } });
    scale(lab, 6);
    await pass(lab, 5 * MINUTE);
    expect(billed(lab, "on-demand")).toBe(0);
    lab.cloud.reservedInstances.push(RESERVED);
    await pass(lab, 50 * MINUTE);
    expect(billed(lab, "on-demand")).toBe(0);
    await pass(lab, 20 * MINUTE);
    expect([billed(lab, "spot"), runningPods(lab)]).toEqual([0, 6]);
    expect(billed(lab, "on-demand")).toBeLessThanOrEqual(0.384);
    const [before, launched] = [kinds(lab), launches(lab)];
    expect(before.every((kind) => kind === "on-demand m5")).toBe(true);
    lab.cloud.reservedInstances.length = 0;
    await pass(lab, 15 * MINUTE);
    lab.cloud.reservedInstances.push(RESERVED);
    await pass(lab, 10 * MINUTE);
    expect([kinds(lab), launches(lab)]).toEqual([before, launched]);
    lab.close();
  }, 60_000);

  it("that two clusters use at the same time moves their pods once, and not again", async () => {
    const lab = createLab({ ...OPTIONS, settings: { reservedInstances: true }, second: "other" });
    lab.cloud.reservedInstances.push({ ...RESERVED, count: 1 });
    for (const world of [lab.world, lab.second]) for (const object of [NODE_CLASS, POOL, INFLATE]) world?.apply(object);
    await pass(lab, 65_000);
    for (const world of [lab.world, lab.second]) world?.scale("Deployment", "default", "inflate", 3);
    await pass(lab, 5 * MINUTE);
    expect(kinds(lab)).toEqual(["on-demand m5", "on-demand m5"]);
    await pass(lab, 70 * MINUTE);
    const [settled, launched] = [kinds(lab), launches(lab)];
    expect(settled.map((kind) => kind.split(" ")[0])).toEqual(["on-demand", "spot"]);
    await pass(lab, 10 * MINUTE);
    expect([kinds(lab), launches(lab)]).toEqual([settled, launched]);
    lab.close();
  }, 60_000);

  it("reads nothing, and buys spot, where no setting asks for it", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE]);
    lab.cloud.reservedInstances.push(RESERVED);
    scale(lab, 6);
    await pass(lab, 10 * MINUTE);
    expect(kinds(lab).every((kind) => kind.startsWith("spot"))).toBe(true);
    expect(await lab.deps.store.getDocument("paid/us-west-2")).toBeUndefined();
    lab.close();
  });
});
