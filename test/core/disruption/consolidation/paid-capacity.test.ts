import { describe, expect, it } from "vitest";
import { findCandidates } from "#core/disruption/cluster/candidate.ts";
import { viewCluster } from "#core/disruption/cluster/view.ts";
import { validate } from "#core/disruption/command/validate.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import type { PaidFor, PaidShare } from "#core/model/paid-capacity.ts";
import { WITH_SOLVE } from "#test/support/disruption/with-solve.ts";
import { instanceType, type MachineParts, NOW, nodePool, pod, snapshot } from "../builders.ts";

const ANY: PaidFor = { kind: "any" };
/** 4 CPUs at $0.10 an hour on demand, and $0.04 as spot. */
const TYPES = [instanceType("m5.large", 0.1)];

function scene(
  machines: readonly MachineParts[],
  paid: readonly PaidShare[],
  podsOn: readonly string[] = machines.map(({ name }) => name),
) {
  const pods = podsOn.flatMap((name) => [pod(`${name}-0`, name), pod(`${name}-1`, name), pod(`${name}-2`, name)]);
  return { ...snapshot({ pools: [nodePool()], types: TYPES, machines, pods }), paid };
}

const settings = { cluster: "c", nodeOverheadPrice: 0 };
const decide = (read: ReturnType<typeof scene>) =>
  planDisruption({ snapshot: read, records: [], commands: [], settings, now: NOW, ...WITH_SOLVE, newId: () => "id" });
const share = (perHour: number, keeps = perHour, of: PaidFor = ANY): PaidShare => ({ of, perHour, keeps });
const onDemand = (name: string): MachineParts => ({ name, type: "m5.large", capacityType: "on-demand" });
const spot = (name: string): MachineParts => ({ name, type: "m5.large", capacityType: "spot" });

describe("consolidation knows on-demand machines that are paid for", () => {
  it("replaces one that nothing pays for by spot, and leaves one that is paid for", () => {
    expect(decide(scene([onDemand("n1")], [])).command).toMatchObject({ decision: "replace", candidates: [{ node: "n1" }] });
    const { command, blocked } = decide(scene([onDemand("n1")], [share(0.1)]));
    expect(command).toBeUndefined();
    expect(blocked.map(({ message }) => message)).toEqual([
      "Can't replace with a cheaper node: a Savings Plan or reserved instance pays for its machine",
    ]);
  });

  it("replaces only as many as nothing pays for, the youngest", () => {
    const machines = ["n1", "n2", "n3"].map(onDemand);
    const read = scene(machines, [share(0.2)]);
    const born = (i: number) => new Date(NOW - (10 - i) * 3_600_000).toISOString();
    const dated = {
      ...read,
      nodeClaims: read.nodeClaims.map((claim, i) => ({
        ...claim,
        metadata: { ...claim.metadata, creationTimestamp: born([1, 0, 2][i] ?? 0) },
      })),
    };
    const { command } = decide(dated);
    expect(command?.candidates.map(({ node }) => node)).toEqual(["n3"]);
    const prices = findCandidates(viewCluster({ snapshot: dated, records: [], commands: [], now: NOW })).all;
    expect(prices.map(({ isPaidFor }) => isPaidFor)).toEqual([true, true, false]);
  });

  it("moves pods from spot to what is left, and not back", () => {
    const { command } = decide(scene([spot("n1")], [share(0.1)]));
    expect(command).toMatchObject({ decision: "replace", candidates: [{ node: "n1" }], replacements: [{ paidFor: "any" }] });
    expect(command?.replacements[0]?.requirements).toContainEqual({
      key: "karpenter.sh/capacity-type",
      operator: "In",
      values: ["on-demand"],
    });
    expect(command?.savingsPerHour).toBeGreaterThan(0);
    expect(decide(scene([onDemand("n1")], [share(0.1)])).command).toBeUndefined();
    expect(decide(scene([spot("n1")], [share(0.09)])).command).toBeUndefined();
  });

  it("counts what was left for the last hour for new machines, and what was paid for in it for those that run", () => {
    expect(decide(scene([onDemand("n1")], [share(0, 0.1)])).command).toBeUndefined();
    expect(decide(scene([spot("n1")], [share(0, 0.1)])).command).toBeUndefined();
  });

  it("does not begin a replacement that was paid for when it was decided, and is not any more", () => {
    const { command } = decide(scene([spot("n1")], [share(0.1)]));
    const again = (paid: readonly PaidShare[]) => {
      const view = viewCluster({ snapshot: scene([spot("n1")], paid), records: [], commands: [], now: NOW + 15_000, settings });
      return command && validate(command, view, simulateWithSolve).holds;
    };
    expect([again([share(0.1)]), again([]), again([share(0.1, 0.1, { kind: "family", family: "m5" })])]).toEqual([true, false, false]);
  });

  it("still removes one that holds no pods", () => {
    expect(decide(scene([onDemand("n1")], [share(0.1)], [])).command).toMatchObject({ method: "emptiness", decision: "delete" });
  });
});
