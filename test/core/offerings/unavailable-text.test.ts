import { expect, it } from "vitest";
import type { CapacityType } from "#core/model/instance-type.ts";
import { kindOfError, remedyFor, saidText } from "#core/offerings/ec2-errors.ts";
import { quotaLink, vcpuQuota } from "#core/offerings/quotas.ts";
import { retriedAt, unavailableText } from "#core/offerings/unavailable-text.ts";

const BACK = Date.parse("2026-01-01T12:03:00Z");
const unavailable = (name: string, zone: string, capacityType: CapacityType, code: string, message = "", at = BACK) => ({
  name,
  offerings: [{ zone, capacityType, price: 1, available: false, unavailableUntil: at, unavailableCause: { code, message } }],
});

it.for([
  ["m5.large", "L-1216C47A", "L-34B43A08"],
  ["im4gn.large", "L-1216C47A", "L-34B43A08"],
  ["t4g.small", "L-1216C47A", "L-34B43A08"],
  ["z1d.large", "L-1216C47A", "L-34B43A08"],
  ["hpc7g.4xlarge", "L-F7808C92", undefined],
  ["inf2.xlarge", "L-1945791B", "L-B5D1601B"],
  ["trn1.2xlarge", "L-2C3B7624", "L-6B0D517C"],
  ["dl1.24xlarge", "L-6E869C2A", "L-85EED4F7"],
  ["d3.xlarge", "L-1216C47A", "L-34B43A08"],
  ["g6.xlarge", "L-DB2E81BA", "L-3819A6DF"],
  ["gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"],
  ["vt1.3xlarge", "L-DB2E81BA", "L-3819A6DF"],
  ["p5.48xlarge", "L-417A185B", "L-7212CCBC"],
  ["f2.6xlarge", "L-74FC7D96", "L-88CF9481"],
  ["x8g.large", "L-7295265B", "L-E3A00192"],
  ["u-6tb1.56xlarge", "L-43DA4232", undefined],
  ["u7i-12tb.224xlarge", "L-43DA4232", undefined],
  ["mac2.metal", undefined, undefined],
] as const)("%s counts in the quota %s on demand and %s as spot", ([type, onDemand, spot]) => {
  expect([vcpuQuota(type, false)?.code, vcpuQuota(type, true)?.code]).toEqual([onDemand, spot]);
});

it.for([
  ["us-west-2a", "https://us-west-2.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-1"],
  ["us-west-2-lax-1a", "https://us-west-2.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-1"],
  ["ap-southeast-7b", "https://ap-southeast-7.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-1"],
  ["cn-north-1a", "https://cn-north-1.console.amazonaws.cn/servicequotas/home/services/ec2/quotas/L-1"],
  ["us-gov-west-1a", "https://us-gov-west-1.console.amazonaws-us-gov.com/servicequotas/home/services/ec2/quotas/L-1"],
  ["eusc-de-east-1a", "https://eusc-de-east-1.console.amazonaws-eusc.eu/servicequotas/home/services/ec2/quotas/L-1"],
  ["us-iso-east-1a", undefined],
  ["subnet-0a1b", undefined],
  [undefined, undefined],
] as const)("the console's page of a quota in %s is %s", ([zone, link]) => {
  expect(quotaLink(zone, "L-1")).toBe(link);
});

it("a quota names itself by family and capacity type, and is no lack of capacity", () => {
  const text = unavailableText([
    unavailable("g6.xlarge", "eu-west-1a", "spot", "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"),
  ]);
  expect(text).toBe(
    'g6.xlarge fits, but EC2 says MaxSpotInstanceCountExceeded: Max spot instance count exceeded (spot in eu-west-1a); it is tried again from 2026-01-01T12:03:00Z; raise the quota "All G and VT Spot Instance Requests" (L-3819A6DF, in vCPUs) in Service Quotas: https://eu-west-1.console.aws.amazon.com/servicequotas/home/services/ec2/quotas/L-3819A6DF',
  );
});

it("several causes are said one after another, each with its remedy, and the first time counts", () => {
  const types = [
    unavailable("c5.large", "us-west-2a", "on-demand", "InsufficientInstanceCapacity", "long", BACK + 9),
    unavailable("m5.large", "us-west-2a", "spot", "AuthFailure.ServiceLinkedRoleCreationNotPermitted", "no."),
  ];
  expect(retriedAt(types)).toBe(BACK);
  const text = unavailableText(types);
  expect(text).toContain(
    "c5.large and m5.large fit, but there is no on-demand capacity for them in us-west-2a (EC2 says InsufficientInstanceCapacity), and EC2 says AuthFailure.ServiceLinkedRoleCreationNotPermitted: no (spot in us-west-2a)",
  );
  expect(text).toContain("they are tried again from 2026-01-01T12:03:00Z; allow more types");
  expect(text).toContain("aws iam create-service-linked-role --aws-service-name spot.amazonaws.com");
});

it("a code that nothing is known of is said with EC2's message alone", () => {
  const said = { code: "BrandNewProblem", message: "the moon is full." };
  expect([kindOfError(said), remedyFor(said), saidText(said)]).toEqual(["unknown", "", "EC2 says BrandNewProblem: the moon is full"]);
});

it.for([
  [
    "OptInRequired",
    "In order to use this AWS Marketplace product you need to accept terms: https://aws.amazon.com/marketplace/pp?sku=1.",
    "(https://aws.amazon.com/marketplace/pp?sku=1)",
  ],
  ["UnauthorizedOperation", "User is not authorized to perform: iam:PassRole on resource: x", "nodeRoles"],
  ["UnauthorizedOperation", "You are not authorized to perform this operation.", "service control policy"],
  ["InvalidParameterCombination", "The specified instance type is not eligible for Free Tier", "free plan"],
  ["InsufficientFreeAddressesInSubnet", "not enough free addresses in subnet 'subnet-1a'", "subnet-1a has no free addresses"],
] as const)("%s (%s) leads to %s", ([code, message, part]) => {
  expect(remedyFor({ code, message })).toContain(part);
});
