import { describe, expect, it } from "vitest";
import { renderLaunch } from "#core/launch/fleet-request.ts";
import { launchedAs, readOutcome } from "#core/launch/outcome.ts";
import type { ResolvedPlacementGroup } from "#core/model/node-class.ts";
import { ANY } from "#core/offerings/unavailable.ts";
import { claim, cluster, nodeClass, typesOf } from "./support.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const PARTITION = "karpenter.k8s.aws/placement-group-partition";
const LIMIT = "You've reached the limit of instances in this spread placement group. A spread placement group takes seven in a zone.";

const inGroup = (group: ResolvedPlacementGroup) => nodeClass({ status: { ...nodeClass().status, placementGroup: group } });
const spread = inGroup({ id: "pg-1", strategy: "spread" });
const parted = inGroup({ id: "pg-1", strategy: "partition", partitionCount: 3 });

function request(made = spread, partition: readonly string[] = []) {
  const { requirements } = claim().spec;
  const more = partition.length > 0 ? [{ key: PARTITION, operator: "In" as const, values: partition }] : [];
  const asked = claim({ spec: { requirements: [...requirements, ...more] } });
  const rendered = renderLaunch({
    claim: asked,
    record: { uid: "u" },
    nodeClass: made,
    instanceTypes: typesOf({ nodeClass: made }),
    cluster,
    attempt: 0,
  });
  if ("error" in rendered) throw new Error(rendered.error.message);
  return rendered.ok;
}

describe("a launch into a placement group", () => {
  it.for<{ name: string; made: typeof spread; partition?: readonly string[]; want: object | undefined }>([
    { name: "a launch names the placement group", made: spread, want: { groupId: "pg-1" } },
    { name: "a launch leaves the partition to EC2", made: parted, want: { groupId: "pg-1" } },
    {
      name: "a launch names the partition that the NodeClaim requires",
      made: parted,
      partition: ["2"],
      want: { groupId: "pg-1", partition: 2 },
    },
    { name: "a launch leaves a choice of partitions to EC2", made: parted, partition: ["2", "3"], want: { groupId: "pg-1" } },
    { name: "a launch without a placement group names none", made: nodeClass(), want: undefined },
  ])("$name", ({ made, partition, want }) => {
    expect(request(made, partition).templates[0]?.placement).toEqual(want);
  });

  it("a NodeClaim that requires a partition beyond the last has no capacity", () => {
    expect(() => request(parted, ["4"])).toThrow(/no instance type/);
  });

  it("a launched NodeClaim has the labels of its group and partition", () => {
    const instance = {
      id: "i-1",
      instanceType: "m5.large",
      zone: "us-west-2a",
      capacityType: "spot" as const,
      imageId: "ami-amd",
      partition: "3",
    };
    const { labels } = launchedAs(instance, { claim: claim(), nodeClass: parted, instanceTypes: typesOf({ nodeClass: parted }) });
    expect(labels).toMatchObject({ "karpenter.k8s.aws/placement-group-id": "pg-1", [PARTITION]: "3" });
  });

  it.for([
    { name: "of one type", message: "no room", type: "m5.large", others: true },
    { name: "of the whole zone, where a spread group is full there", message: LIMIT, type: ANY, others: false },
  ])("a launch without capacity in a placement group leaves marks $name, only for that group", ({ message, type, others }) => {
    const place = { instanceType: "m5.large", zone: "us-west-2a", capacityType: "on-demand" as const };
    const errors = [{ code: message === LIMIT ? "InstanceLimitExceeded" : "InsufficientInstanceCapacity", message, ...place }];
    const context = { claim: claim(), nodeClass: spread, instanceTypes: typesOf({ nodeClass: spread }) };
    const { unavailable, failure } = readOutcome(request().request, { errors }, NOW, context);
    expect(unavailable).toMatchObject([{ instanceType: type, zone: "us-west-2a@pg-1" }]);
    expect(failure?.kind).toBe("InsufficientCapacity");
    const canHave = (made: typeof spread, name: string) =>
      typesOf({ nodeClass: made, unavailable })
        .find((known) => known.name === name)
        ?.offerings.find(({ zone, capacityType }) => zone === "us-west-2a" && capacityType === "on-demand")?.available;
    expect([canHave(spread, "m5.large"), canHave(spread, "m5.xlarge")]).toEqual([false, others]);
    expect(canHave(nodeClass(), "m5.large")).toBe(true);
  });
});
