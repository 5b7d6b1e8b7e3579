import { describe, expect, it } from "vitest";
import { alikeMembers, isComplete, launchHash, MAX_GROUP, nextGroup, withLaunchGroups } from "#core/launch-group/plan.ts";
import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { nodeClaim, record } from "../../support/builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const zones = (...values: string[]) => ({ key: ZONE, operator: "In", values }) as const;

interface Asked {
  readonly requirements?: NodeClaim["spec"]["requirements"];
  readonly requests?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: NodeClaim["spec"]["taints"];
}

function intent(name: string, { requirements = [zones("a")], requests = { cpu: "1" }, labels, taints }: Asked = {}): NodeClaimRecord {
  const { metadata, spec } = nodeClaim();
  const manifest = {
    ...nodeClaim(),
    metadata: { ...metadata, name, ...(labels && { labels: { ...metadata.labels, ...labels } }) },
    spec: { ...spec, requirements, resources: { requests }, ...(taints && { taints }) },
  };
  return record({ name, intentId: `intent-${name}`, manifest });
}
const intents = (count: number, asked?: Asked) => Array.from({ length: count }, (_, i) => intent(`c-${String(i).padStart(4, "0")}`, asked));
const groupsOf = (records: readonly NodeClaimRecord[]) => [
  ...new Map(records.flatMap(({ launchGroup }) => (launchGroup ? [[launchGroup.id, launchGroup]] : []))).values(),
];

describe("which NodeClaims of a plan are launched together", () => {
  it("alike NodeClaims of one zone form one group, which knows the most that any of them requests", () => {
    const records = withLaunchGroups([...intents(4), intent("c-9", { requests: { cpu: "500m", memory: "2Gi" } })], 5);
    const [group, ...others] = groupsOf(records);
    expect(others).toEqual([]);
    expect(group).toMatchObject({ id: "intent-c-0000.1", members: records.map(({ name }) => name), zoneTurn: 0 });
    expect(group?.requests).toEqual({ cpu: "1", memory: "2Gi" });
  });

  it("fewer than the setting asks for, and all where it is none, are launched one by one", () => {
    expect(groupsOf(withLaunchGroups(intents(4), 5))).toEqual([]);
    expect(groupsOf(withLaunchGroups(intents(40), undefined))).toEqual([]);
  });

  it("NodeClaims with a choice of zones form a group for each zone, so that their nodes are spread", () => {
    const free = { requirements: [zones("a", "b", "c")] };
    expect(groupsOf(withLaunchGroups(intents(14, free), 5))).toEqual([]);
    const groups = groupsOf(withLaunchGroups(intents(16, free), 5));
    expect(groups.map(({ zoneTurn, members }) => [zoneTurn, members.length])).toEqual([
      [0, 6],
      [1, 5],
      [2, 5],
    ]);
    expect(groupsOf(withLaunchGroups(intents(15, { requirements: [] }), 5))).toHaveLength(3);
  });

  it("a group has no more members than the bound, and large plans are divided evenly", () => {
    const groups = groupsOf(withLaunchGroups(intents(2 * MAX_GROUP + 1), 5));
    expect(groups.map(({ members }) => members.length)).toEqual([34, 34, 33]);
    expect(new Set(groups.flatMap(({ members }) => members)).size).toBe(2 * MAX_GROUP + 1);
  });

  it.for([
    { name: "another zone", other: { requirements: [zones("b")] } },
    { name: "another label", other: { labels: { team: "blue" } } },
    { name: "a taint", other: { taints: [{ key: "x", effect: "NoSchedule" }] } as const },
    { name: "minValues", other: { requirements: [{ ...zones("a"), minValues: 1 }] } },
    { name: "an EFA", other: { requests: { cpu: "1", "vpc.amazonaws.com/efa": "1" } } },
  ])("NodeClaims are not alike that differ by $name", ({ other }) => {
    expect(launchHash(intent("b", other).manifest)).not.toBe(launchHash(intent("a").manifest));
  });

  it("the order of requirements and values, the name and the amount that is requested make no difference", () => {
    const arch = { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] } as const;
    const one = intent("a", { requirements: [zones("a", "b"), arch] });
    const other = intent("b", { requirements: [arch, zones("b", "a")], requests: { cpu: "7" } });
    expect(launchHash(other.manifest)).toBe(launchHash(one.manifest));
  });

  it("members of a large plan wait longer for each other, because all of its NodeClaims are made first", () => {
    const [small] = groupsOf(withLaunchGroups(intents(5), 5));
    const [large] = groupsOf(withLaunchGroups(intents(2_000), 5));
    expect([small?.joinMs, large?.joinMs]).toEqual([8_050, 28_000]);
  });

  it("two plans of the same intents give the same groups", () => {
    expect(withLaunchGroups(intents(20), 5)).toEqual(withLaunchGroups(intents(20), 5));
  });
});

describe("the next attempt of a group", () => {
  const [{ launchGroup: plan } = record()] = withLaunchGroups(intents(5), 5);
  if (plan === undefined) throw new Error("no group");
  const request = { clientToken: "t", capacityType: "spot", launchTemplates: [], tags: {} } as const;
  const group = (instances: readonly string[]): LaunchGroup => ({
    ...{ cluster: "c", id: plan.id, version: 3, members: [], expiresAt: 0 },
    launch: { request, members: plan.members, requestedAt: 0, sender: plan.members[0] ?? "" },
    answer: {
      instances: Object.fromEntries(
        instances.map((name) => [name, { id: `i-${name}`, instanceType: "m5.large", zone: "a", capacityType: "spot", imageId: "ami" }]),
      ),
      unavailable: [],
    },
  });

  it("is made by those without an instance, under a token of its own", () => {
    const next = nextGroup({ ...plan, joinedAt: 7 }, group(["c-0001", "c-0003"]));
    expect(next).toEqual({ ...plan, id: "intent-c-0000.2", members: ["c-0000", "c-0002", "c-0004"] });
  });

  it("a NodeClaim that alone has no instance is launched alone", () => {
    expect(nextGroup(plan, group(["c-0000", "c-0001", "c-0002", "c-0003"]))).toBeUndefined();
  });
});

it("a request serves the members of one hash, and none that has joined with two", () => {
  const members = [
    { name: "b", alike: "x" },
    { name: "a", alike: "x" },
    { name: "c", alike: "y" },
    { name: "d", alike: "x" },
    { name: "d", alike: "y" },
  ];
  const group: LaunchGroup = { cluster: "c", id: "g.1", version: 1, members, expiresAt: 0 };
  expect(alikeMembers(group, "x")).toEqual(["a", "b"]);
  const plan = { id: "g.1", members: ["a", "b", "c", "e"], requests: {}, zoneTurn: 0, joinMs: 0 };
  expect(isComplete(plan, group)).toBe(false);
  expect(isComplete({ ...plan, members: ["a", "b", "c"] }, group)).toBe(true);
});
