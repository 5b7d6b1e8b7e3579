import { describe, expect, it } from "vitest";
import { addressesOf, freeAddresses, hasChoice } from "#core/launch/free-addresses.ts";
import { subnetByZone } from "#core/launch/subnets.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { INSTANCE, record } from "../../support/builders.ts";
import { typesOf } from "./support.ts";

const AT = 1_000_000;
const FREE = { "s-1": 100, "s-2": 90 };
const settings = { spec: {}, ipv6: false, now: AT + 60_000 };

const launched = (launchedAt: number): NodeClaimRecord => record({ instance: { ...INSTANCE, subnetId: "s-1" }, launchedAt });
const launching = (...subnets: readonly string[]): NodeClaimRecord => {
  const overrides = subnets.flatMap((subnetId) =>
    ["m5.large", "m5.xlarge"].map((instanceType) => ({ instanceType, subnetId, zone: "z", imageId: "ami", price: 1 })),
  );
  return record({ launch: { clientToken: "t", capacityType: "spot", launchTemplates: [{ name: "lt", overrides }], tags: {} } });
};

it.for([
  { name: "one address per pod", pods: 29, spec: {}, ipv6: false, want: 29 },
  { name: "whole prefixes and one address of its own", pods: 110, spec: { ipPrefixCount: 1 }, ipv6: false, want: 1 + 112 },
  { name: "all prefixes assigned at launch", pods: 29, spec: { ipPrefixCount: 4 }, ipv6: false, want: 65 },
  { name: "one address where pods have IPv6 addresses", pods: 110, spec: { ipPrefixCount: 1 }, ipv6: true, want: 1 },
])("a node takes $name", ({ pods, spec, ipv6, want }) => {
  expect(addressesOf(pods, spec, ipv6)).toBe(want);
});

describe("the free addresses of a subnet", () => {
  const free = (records: readonly NodeClaimRecord[], over = {}) =>
    freeAddresses({ at: AT, free: FREE }, records, typesOf(), { ...settings, ...over });

  it.for<{ name: string; records: readonly NodeClaimRecord[]; want: object }>([
    { name: "free addresses are EC2's count", records: [launched(AT - 1)], want: FREE },
    {
      name: "free addresses exclude instances launched since",
      records: [launched(AT), launched(AT + 1)],
      want: { "s-1": 100 - 58, "s-2": 90 },
    },
    {
      name: "free addresses exclude launches in progress, by the smallest type, in each possible subnet",
      records: [launching("s-1", "s-2")],
      want: { "s-1": 71, "s-2": 61 },
    },
    { name: "free addresses include only counted subnets", records: [launching("s-9")], want: FREE },
  ])("$name", ({ records, want }) => {
    expect(free(records)).toEqual(want);
  });

  it("free addresses are unknown when the count is old", () => {
    expect(free([], { now: AT + 11 * 60_000 })).toBeUndefined();
    expect(freeAddresses(undefined, [], [], settings)).toBeUndefined();
  });

  it("two concurrent launches use two subnets of a zone", () => {
    const subnets = ["s-1", "s-2"].map((id) => ({ id, zone: "z" }));
    expect(hasChoice(subnets) && !hasChoice(subnets.slice(1))).toBe(true);
    expect(subnetByZone(subnets, free([])).get("z")?.id).toBe("s-1");
    expect(subnetByZone(subnets, free([launching("s-1")])).get("z")?.id).toBe("s-2");
  });
});
