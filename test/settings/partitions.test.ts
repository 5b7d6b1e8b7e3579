import { expect, it } from "vitest";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";
import { dnsSuffix, PARTITIONS, partitionOf, pricingRegion } from "#settings/partitions.ts";

it.for([
  ["us-west-2", "aws", "amazonaws.com", "us-east-1"],
  ["ap-northeast-2", "aws", "amazonaws.com", "ap-south-1"],
  ["eu-west-1", "aws", "amazonaws.com", "eu-central-1"],
  ["mx-central-1", "aws", "amazonaws.com", "us-east-1"],
  ["cn-north-1", "aws-cn", "amazonaws.com.cn", "cn-northwest-1"],
  ["us-gov-west-1", "aws-us-gov", "amazonaws.com", "us-east-1"],
  ["eusc-de-east-1", "aws-eusc", "amazonaws.eu", "eusc-de-east-1"],
  ["us-iso-west-1", "aws-iso", "c2s.ic.gov", "us-iso-east-1"],
  ["us-isob-west-1", "aws-iso-b", "sc2s.sgov.gov", "us-isob-east-1"],
  ["eu-isoe-west-1", "aws-iso-e", "cloud.adc-e.uk", "eu-isoe-west-1"],
  ["us-isof-east-1", "aws-iso-f", "csp.hci.ic.gov", "us-isof-south-1"],
])("%s is of %s, its endpoints are below %s, and its prices are read in %s", async ([region = "", id, suffix = "", prices]) => {
  expect(PARTITIONS.filter(({ regions }) => regions.test(region)).map((one) => one.id)).toEqual([id]);
  expect(dnsSuffix(region)).toBe(suffix);
  expect(pricingRegion(region)).toBe(prices);
  const token = await eksToken({ cluster: "c", region, credentials: { accessKeyId: "a", secretAccessKey: "b" } })();
  const url = Buffer.from(token.replace("k8s-aws-v1.", ""), "base64url").toString("utf8");
  expect(new URL(url).hostname).toBe(`sts.${region}.${suffix}`);
});

it("a region that no pattern fits is of no partition", () => {
  expect(partitionOf("moon-sea-1")).toBeUndefined();
});
