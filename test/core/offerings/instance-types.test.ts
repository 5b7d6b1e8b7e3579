import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { formatResources, parseResources } from "#core/model/quantity.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { allocatableOf } from "#core/offerings/overhead.ts";

const settings = { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 };
const catalogue = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
const subnets = catalogue.zones.map(({ name, zoneId }, i) => ({ id: `subnet-${i}`, zone: name, zoneID: zoneId }));

function nodeClass(spec: Partial<EC2NodeClass["spec"]> = {}): EC2NodeClass {
  return {
    metadata: { name: "default" },
    spec: { subnetSelectorTerms: [], securityGroupSelectorTerms: [], amiSelectorTerms: [{ alias: "al2023@latest" }], ...spec },
    status: { subnets },
  };
}

function typesOf(overrides: Partial<Parameters<typeof instanceTypesOf>[0]> = {}): ReadonlyMap<string, InstanceType> {
  const types = instanceTypesOf({ catalogue, nodeClass: nodeClass(), unavailable: [], settings, ...overrides });
  return new Map(types.map((type) => [type.name, type]));
}

function only(name: string, overrides: Partial<Parameters<typeof instanceTypesOf>[0]> = {}): InstanceType {
  const type = typesOf({ catalogue: { ...catalogue, types: catalogue.types.filter((t) => t.name === name) }, ...overrides }).get(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

/** Karpenter's own answers (infra/data/make.ts). */
const golden = JSON.parse(
  gunzipSync(readFileSync(new URL("./instance-types.golden.json.gz", import.meta.url))).toString("utf8"),
) as InstanceType[];

describe("instanceTypesOf", () => {
  it(`agrees with Karpenter's own code: ${golden.length} types of us-west-2, ${valuesOf(golden)} values, 0 differences`, () => {
    const ours = typesOf();
    expect([...ours.keys()].sort()).toEqual(golden.map(({ name }) => name).sort());
    expect(golden).toHaveLength(1345);
    expect(valuesOf([...ours.values()])).toBe(valuesOf(golden));
    const different = golden.filter((type) => JSON.stringify(comparable(type)) !== JSON.stringify(comparable(ours.get(type.name) ?? type)));
    expect(different.slice(0, 3).map((type) => [comparable(type), comparable(ours.get(type.name) ?? type)])).toEqual([]);
    expect(different).toHaveLength(0);
  });

  it.for([
    { name: "m5.large", spec: {}, want: { cpu: "1930m", memory: "6903Mi", pods: "29", "vpc.amazonaws.com/pod-eni": "9" } },
    { name: "c5.large", spec: {}, want: { cpu: "1930m", memory: "3114Mi", pods: "29" } },
    { name: "c5a.2xlarge", spec: {}, want: { cpu: "7910m", memory: "14162Mi", pods: "58", "ephemeral-storage": "17Gi" } },
    {
      name: "m5.large",
      spec: { amiSelectorTerms: [{ alias: "windows2022@latest" }] },
      want: { cpu: "1930m", memory: "6012Mi", pods: "110", "ephemeral-storage": "44Gi" },
    },
    // AL2023 reserves memory for the pods that the interfaces allow, Bottlerocket for those that it runs.
    { name: "m5.large", spec: { kubelet: { maxPods: 10 } }, want: { memory: "6903Mi", pods: "10" } },
    {
      name: "m5.large",
      spec: { amiSelectorTerms: [{ alias: "bottlerocket@latest" }], kubelet: { maxPods: 10, podsPerCore: 1 } },
      want: { memory: "7112Mi", pods: "10" },
    },
    { name: "m5.large", spec: { kubelet: { podsPerCore: 3 } }, want: { pods: "6" } },
    {
      name: "m5.large",
      spec: { kubelet: { kubeReserved: { cpu: "1" }, systemReserved: { memory: "1Gi" }, evictionHard: { "memory.available": "100%" } } },
      want: { cpu: "1", memory: "5979Mi" },
    },
  ])("pods may use $want of $name with $spec", ({ name, spec, want }) => {
    const allocatable = formatResources(allocatableOf(only(name, { nodeClass: nodeClass(spec as Partial<EC2NodeClass["spec"]>) })));
    expect(allocatable).toMatchObject(want);
  });

  it.for([
    { name: "m5d.large", spec: { instanceStorePolicy: "RAID0" }, want: "75G" },
    { name: "m5.large", spec: { instanceStorePolicy: "RAID0" }, want: "20Gi" },
    { name: "m5.large", spec: { blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: "100Gi" } }] }, want: "100Gi" },
    { name: "m5.large", spec: { blockDeviceMappings: [{ deviceName: "/dev/sdb", ebs: { volumeSize: "100Gi" } }] }, want: "20Gi" },
    { name: "m5.large", spec: { blockDeviceMappings: [{ deviceName: "/x", rootVolume: true, ebs: { volumeSize: "7Gi" } }] }, want: "7Gi" },
    {
      name: "m5.large",
      spec: { amiFamily: "Custom", blockDeviceMappings: [{ deviceName: "/a" }, { deviceName: "/b", ebs: { volumeSize: "9Gi" } }] },
      want: "9Gi",
    },
  ])("the storage of $name with $spec is $want", ({ name, spec, want }) => {
    expect(only(name, { nodeClass: nodeClass(spec as Partial<EC2NodeClass["spec"]>) }).capacity["ephemeral-storage"]).toBe(want);
  });

  it("zones without a subnet of the NodeClass have no available offering", () => {
    const type = only("m5.large", { nodeClass: { ...nodeClass(), status: { subnets: subnets.slice(0, 1) } } });
    expect(type.requirements.find(({ key }) => key === "topology.kubernetes.io/zone")?.values).toEqual(["us-west-2a"]);
    expect(type.offerings.filter(({ available }) => available).map(({ zone }) => zone)).toEqual(["us-west-2a", "us-west-2a"]);
    expect(type.offerings).toHaveLength(8);
    const none = only("m5.large", { nodeClass: { ...nodeClass(), status: {} } });
    expect(none.requirements.find(({ key }) => key === "topology.kubernetes.io/zone")?.operator).toBe("DoesNotExist");
    expect(none.offerings.some(({ available }) => available)).toBe(false);
  });

  it("a marked offering is unavailable, and every spot offering when spot as a whole is marked", () => {
    const mark = { instanceType: "m5.large", zone: "us-west-2b", capacityType: "spot", expiresAt: 1 } as const;
    const one = only("m5.large", { unavailable: [mark] }).offerings.filter(({ available }) => !available);
    expect(one).toEqual([expect.objectContaining({ zone: "us-west-2b", capacityType: "spot", price: 0.062198, unavailableUntil: 1 })]);
    const all = only("m5.large", { unavailable: [{ ...mark, instanceType: "*", zone: "*" }] }).offerings.filter(
      ({ available }) => available,
    );
    expect(new Set(all.map(({ capacityType }) => capacityType))).toEqual(new Set(["on-demand"]));
  });

  it("offerings that lack only a price are flagged", () => {
    const { "m5.large": _, ...onDemand } = catalogue.onDemand;
    const [first, ...others] = subnets;
    const without = { ...catalogue, onDemand, types: catalogue.types.filter(({ name }) => name === "m5.large") };
    const unavailable = [{ instanceType: "m5.large", zone: first?.zone ?? "", capacityType: "on-demand" as const, expiresAt: 0 }];
    const { offerings } = only("m5.large", { catalogue: without, unavailable });
    const unpriced = offerings.filter((offering) => offering.unpriced);
    expect(unpriced.map(({ zone, capacityType, price, available }) => [zone, capacityType, price, available])).toEqual(
      others.map(({ zone }) => [zone, "on-demand", 0, false]),
    );
  });

  it("on-demand prices replace spot prices until spot prices were read", () => {
    const spot = only("m5.large", { catalogue: { ...bundledCatalogue("us-west-2"), types: catalogue.types } }).offerings;
    expect(spot.every(({ price, available }) => price === 0.096 && available)).toBe(true);
    const read = only("m5.large", { catalogue: { ...catalogue, spot: {} } }).offerings.filter(
      ({ capacityType }) => capacityType === "spot",
    );
    expect(read.every(({ price, available }) => price === 0 && !available)).toBe(true);
  });

  it("equal requirements are one object across types and NodeClasses", () => {
    const arch = (name: string) => only(name).requirements.find(({ key }) => key === "kubernetes.io/arch");
    expect(arch("m5.large")).toBe(arch("c5.large"));
    expect(arch("m5.large")).not.toBe(arch("m6g.large"));
  });
});

/** Quantities as numbers, lists sorted: the golden file spells some differently ("2.147483648e+09"). */
function comparable(type: InstanceType): unknown {
  const sorted = (list: object | undefined): unknown => Object.entries(list ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const quantities = (list: InstanceType["capacity"] | undefined): unknown => sorted(parseResources(list));
  return {
    name: type.name,
    requirements: type.requirements.map(({ key, operator, values }) => [key, operator, [...(values ?? [])].sort()]),
    capacity: quantities(type.capacity),
    overhead: [type.overhead.kubeReserved, type.overhead.systemReserved, type.overhead.evictionThreshold].map(quantities),
    offerings: type.offerings.map(({ zone, capacityType, price, available }) => [zone, capacityType, price, available]),
  };
}

/** Number of compared facts: requirements, quantities, and price and availability of offerings. */
function valuesOf(types: readonly InstanceType[]): number {
  const sizeOf = (list: object | undefined): number => Object.keys(list ?? {}).length;
  return types.reduce((sum, { requirements, capacity, overhead, offerings }) => {
    const { kubeReserved, systemReserved, evictionThreshold } = overhead;
    const quantities = [capacity, kubeReserved, systemReserved, evictionThreshold].map(sizeOf);
    return sum + requirements.length + quantities.reduce((a, b) => a + b) + 2 * offerings.length;
  }, 0);
}
