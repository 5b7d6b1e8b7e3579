import { expect, it } from "vitest";
import type { EC2NodeClassSpec } from "#core/model/node-class.ts";
import { NODE_TIE_PRICE } from "#core/model/prices.ts";
import { FAMILIES } from "#core/node-class/family.ts";
import { burstOf, unknownBurstables } from "#core/offerings/burstable.ts";
import { nodeCost, surplusPrice } from "#core/offerings/node-cost.ts";
import { volumePrice } from "#core/offerings/volume-price.ts";
import { instanceType } from "../../support/objects.ts";

const typed = (name: string, cpu: string, os = "linux") =>
  instanceType(name, { capacity: { cpu }, offerings: [], requirements: [{ key: "kubernetes.io/os", operator: "In", values: [os] }] });

it.for([
  { name: "t3.nano", cpu: "2", os: "linux", want: { baseline: 100, price: 0.05 } },
  { name: "t3a.medium", cpu: "2", os: "linux", want: { baseline: 400, price: 0.05 } },
  { name: "t3.2xlarge", cpu: "8", os: "linux", want: { baseline: 3200, price: 0.05 } },
  { name: "t3.large", cpu: "2", os: "windows", want: { baseline: 600, price: 0.096 } },
  { name: "t4g.small", cpu: "2", os: "linux", want: { baseline: 400, price: 0.04 } },
  { name: "t2.xlarge", cpu: "4", os: "linux", want: { baseline: 900, price: 0.05 } },
  { name: "t2.2xlarge", cpu: "8", os: "linux", want: { baseline: 1350, price: 0.05 } },
  { name: "t2.micro", cpu: "1", os: "linux", want: { baseline: 100, price: 0.05 } },
  { name: "t8i.large", cpu: "2", os: "linux", want: { baseline: 600, price: 0.05 } },
  { name: "t8i.8xlarge", cpu: "32", os: "linux", want: { baseline: 12_800, price: 0.05 } },
  { name: "t1.micro", cpu: "1", os: "linux", want: undefined },
  { name: "trn1.2xlarge", cpu: "8", os: "linux", want: undefined },
  { name: "m7g.large", cpu: "2", os: "linux", want: undefined },
])("$name with $os charges for cpu above its baseline as AWS lists it", ({ name, cpu, os, want }) => {
  const burst = burstOf(typed(name, cpu, os));
  expect(burst).toEqual(want && { baseline: expect.closeTo(want.baseline, 9), price: want.price });
});

it("a type that EC2 calls burstable is one, whatever its name, and its family is named as unknown", () => {
  const next = { ...typed("b1.large", "2"), burstable: true as const };
  expect(burstOf(next)?.baseline).toBeCloseTo(600, 9);
  expect(unknownBurstables([next, typed("t8i.large", "2"), typed("t3.large", "2"), typed("m5.large", "2")])).toEqual(["b1", "t8i"]);
});

it("surplus credits are charged for the cpu above the baseline, and not under the setting list", () => {
  const small = typed("t4g.small", "2");
  expect(surplusPrice(small, 400, {})).toBe(0);
  expect(surplusPrice(small, 1400, {})).toBeCloseTo(0.04, 12);
  expect(surplusPrice(small, 1400, { burstablePrice: "list" })).toBe(0);
  expect(surplusPrice(typed("m7g.medium", "1"), 900, {})).toBe(0);
  expect(surplusPrice(undefined, 900, {})).toBe(0);
});

it("a node costs its overhead and its volumes", () => {
  expect(nodeCost({ volumePrice: 0.01 }, { nodeOverheadPrice: 0.05 })).toBeCloseTo(0.06 + NODE_TIE_PRICE, 12);
  expect(nodeCost(undefined, {})).toBeCloseTo(0.02 + NODE_TIE_PRICE, 12);
  expect(nodeCost(undefined, { nodeOverheadPrice: 0 })).toBe(NODE_TIE_PRICE);
});

const device = (ebs: NonNullable<NonNullable<EC2NodeClassSpec["blockDeviceMappings"]>[number]["ebs"]>) => ({
  deviceName: "/dev/xvda",
  ebs,
});

it.for([
  { name: "the default volume of Amazon Linux", family: "AL2023", devices: undefined, month: 20 * 0.08 },
  { name: "both default volumes of Bottlerocket", family: "Bottlerocket", devices: undefined, month: 26 * 0.08 },
  { name: "a volume of 20 GiB where only the image knows", family: "Custom", devices: undefined, month: 20 * 0.08 },
  { name: "gp3 within its free IOPS and throughput", devices: [device({ volumeSize: "100Gi", iops: 3000, throughput: 125 })], month: 8 },
  { name: "gp3 above them", devices: [device({ volumeSize: "100Gi", iops: 4000, throughput: 225 })], month: 8 + 5 + 4 },
  { name: "gp2", devices: [device({ volumeType: "gp2", volumeSize: "100Gi" })], month: 10 },
  { name: "io2 with its IOPS", devices: [device({ volumeType: "io2", volumeSize: "100Gi", iops: 1000 })], month: 12.5 + 65 },
  { name: "io1 of a snapshot whose size is not known", devices: [device({ volumeType: "io1", iops: 100 })], month: 2.5 + 6.5 },
  { name: "all devices", devices: [device({ volumeSize: "20Gi" }), device({ volumeType: "st1", volumeSize: "500Gi" })], month: 1.6 + 22.5 },
] as const)("a node's volumes cost what AWS lists: $name", ({ devices, month, ...rest }) => {
  const family = FAMILIES["family" in rest ? rest.family : "AL2023"];
  expect(730 * volumePrice(devices === undefined ? {} : { blockDeviceMappings: devices }, family)).toBeCloseTo(month, 9);
});
