import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupAnswer, launchedForGroup } from "#core/launch-group/answer.ts";
import type { GroupLaunch } from "#core/model/launch-group.ts";

const launch = (members: readonly string[]): GroupLaunch => ({
  request: { clientToken: "g.1", count: members.length, capacityType: "spot", launchTemplates: [], tags: {} },
  ...{ members, requestedAt: 0, sender: "a" },
});
const machine = (id: string) => ({ id, instanceType: "m5.large", zone: "a", capacityType: "spot", imageId: "ami" }) as const;
const ice = {
  code: "InsufficientInstanceCapacity",
  message: "none left",
  instanceType: "m5.large",
  zone: "a",
  capacityType: "spot",
} as const;
const idsOf = (members: readonly string[], ids: readonly string[]) =>
  Object.entries(groupAnswer(launch(members), ids.map(machine), [], []).instances).map(([name, { id }]) => [name, id]);

describe("which instance of an answer is whose", () => {
  it("members by name have instances by id", () => {
    expect(idsOf(["a", "b", "c"], ["i-3", "i-1", "i-2"])).toEqual([
      ["a", "i-1"],
      ["b", "i-2"],
      ["c", "i-3"],
    ]);
  });

  it("in whatever order EC2 answers, each instance has one member, and each member at most one instance", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{1,4}$/), { maxLength: 12 });
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 12 }), fc.infiniteStream(fc.nat()), (given, count, order) => {
        const members = Array.from({ length: count }, (_, i) => `m-${String(i).padStart(2, "0")}`);
        const assigned = idsOf(members, given);
        const shuffled = given.map((id) => ({ id, at: order.next().value as number })).sort((a, b) => a.at - b.at);
        expect(
          idsOf(
            members,
            shuffled.map(({ id }) => id),
          ),
        ).toEqual(assigned);
        expect(assigned).toHaveLength(Math.min(members.length, given.length));
        expect(new Set(assigned.map(([, id]) => id)).size).toBe(assigned.length);
      }),
    );
  });

  it("a partial answer says why the others have none, and a complete one of several offerings does not", () => {
    const marks = [{ instanceType: "m5.large", zone: "a", capacityType: "spot", expiresAt: 9 }] as const;
    const partial = groupAnswer(launch(["a", "b"]), [machine("i-1")], [ice], marks);
    expect(partial).toMatchObject({ failure: { kind: "InsufficientCapacity", message: /none left/ }, unavailable: marks });
    expect(groupAnswer(launch(["a"]), [machine("i-1")], [ice], marks)).not.toHaveProperty("failure");
    const refused = groupAnswer(launch(["a"]), [], [{ ...ice, code: "UnauthorizedOperation" }], []);
    expect(refused.failure?.kind).toBe("Refused");
  });

  it("the instances of a group are known by their tag", () => {
    const of = (id: string, group?: string) =>
      ({
        ...machine(id),
        state: "running",
        launchedAt: 0,
        tags: group === undefined ? {} : { "karpenter-serverless/launch-group": group },
      }) as const;
    expect(launchedForGroup("g.1", [of("i-1", "g.1"), of("i-2", "g.2"), of("i-3")]).map(({ id }) => id)).toEqual(["i-1"]);
  });
});
