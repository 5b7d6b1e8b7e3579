import { IAMClient } from "@aws-sdk/client-iam";
import { PricingClient } from "@aws-sdk/client-pricing";
import { SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it } from "vitest";
import { awsInventory } from "#adapters/aws/inventory.ts";
import { imageQueries, queriesFor } from "#adapters/aws/selectors.ts";
import type { CloudInventory } from "#core/ports/cloud-inventory.ts";
import type { FakeAws } from "../../e2e/fake-aws/fake-aws.ts";
import type { FakeAwsOptions } from "../../e2e/fake-aws/options.ts";
import { clientConfig, ec2Client, fakeAws } from "../../fake-aws/support.ts";

async function open(options: Partial<FakeAwsOptions> = {}): Promise<{ fake: FakeAws; inventory: CloudInventory }> {
  const fake = await fakeAws(options);
  const config = clientConfig(fake);
  const inventory = awsInventory({
    ec2: ec2Client(fake),
    ssm: new SSMClient(config),
    pricing: new PricingClient(config),
    iam: new IAMClient(config),
  });
  return { fake, inventory };
}

const discovery = { tags: { "karpenter.sh/discovery": "karpenter-test" } };

describe("awsInventory", () => {
  it("subnets and security groups are found by tag, by tag key and by id, each once", async () => {
    const { fake, inventory } = await open();
    const subnets = await inventory.subnets([discovery, { tags: { "karpenter.sh/discovery": "*" } }]);
    expect(subnets.map(({ zone }) => zone).sort()).toEqual(["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"]);
    expect(subnets[0]).toMatchObject({
      id: expect.stringMatching(/^subnet-/),
      zoneId: expect.stringMatching(/^usw2-az/),
      availableIps: expect.any(Number),
    });
    expect(await inventory.subnets([{ id: subnets[1]?.id ?? "" }])).toEqual([subnets[1]]);
    expect(await inventory.subnets([{ tags: { nobody: "has it" } }])).toEqual([]);
    const groups = await inventory.securityGroups([discovery]);
    expect(groups).toHaveLength(1);
    expect(await inventory.securityGroups([{ name: groups[0]?.name ?? "" }])).toEqual(groups);
    expect(fake.state.calls.filter(({ action }) => action === "DescribeSubnets")).toHaveLength(4);
  });

  it("images are found by SSM parameters", async () => {
    const { fake, inventory } = await open({ ownImages: [{ name: "mine-1", architecture: "arm64", tags: { team: "a" } }] });
    const name = `/aws/service/eks/optimized-ami/${fake.cluster.version}/amazon-linux-2023/x86_64/standard/recommended/image_id`;
    const id = (await inventory.parameter(name)) ?? "";
    expect(id).toMatch(/^ami-/);
    expect(await inventory.parameter("/no/such")).toBeUndefined();
    expect(await inventory.images([{ id }])).toEqual([
      expect.objectContaining({ id, architecture: "x86_64", creationDate: expect.any(String) }),
    ]);
    expect(await inventory.images([{ ssmParameter: name }, { ssmParameter: "/no/such" }])).toEqual(await inventory.images([{ id }]));
    expect((await inventory.images([{ name: "mine-*" }]))[0]).toMatchObject({ name: "mine-1", architecture: "arm64" });
    expect((await inventory.images([{ tags: { team: "a" } }]))[0]).toMatchObject({ name: "mine-1" });
  });

  it("an instance profile is created once, and removed", async () => {
    const { fake, inventory } = await open();
    const profile = { name: "p", path: "/karpenter/us-west-2/c/u/", role: "KarpenterNodeRole-karpenter-test", tags: { a: "b" } };
    expect(await inventory.ensureInstanceProfile(profile)).toBe("p");
    expect(await inventory.ensureInstanceProfile(profile)).toBe("p");
    expect(fake.state.calls.filter(({ action }) => action === "CreateInstanceProfile")).toHaveLength(1);
    await expect(inventory.ensureInstanceProfile({ ...profile, name: "q", role: "nobody" })).rejects.toMatchObject({
      name: "NotFoundError",
    });
    expect(await inventory.instanceProfiles?.("/karpenter/us-west-2/c/")).toMatchObject([
      { name: "p", createdAt: expect.any(Number) },
      { name: "q" },
    ]);
    expect(await inventory.instanceProfiles?.("/karpenter/us-west-2/other/")).toEqual([]);
    await inventory.removeInstanceProfile?.("p");
    await inventory.removeInstanceProfile?.("p");
    expect(fake.state.calls.at(-1)?.action).toBe("GetInstanceProfile");
  });

  it("two concurrent requests create one instance profile", async () => {
    const { inventory } = await open();
    const profile = { name: "p", path: "/karpenter/us-west-2/c/u/", role: "KarpenterNodeRole-karpenter-test", tags: {} };
    expect(await Promise.all([1, 2, 3].map(() => inventory.ensureInstanceProfile(profile)))).toEqual(["p", "p", "p"]);
  });

  it("instance types, their zones and prices are read", async () => {
    const { inventory } = await open();
    expect((await inventory.instanceTypes()).map(({ InstanceType }) => InstanceType)).toContain("m5.large");
    expect((await inventory.instanceTypeZones())["g4dn.xlarge"]).toHaveLength(3);
    expect(await inventory.zones()).toContainEqual({ name: "us-west-2a", zoneId: "usw2-az2" });
    expect(await inventory.onDemandPrices()).toMatchObject({ "m5.large": 0.096, "m5.metal": 4.608 });
    expect((await inventory.spotPrices())["m5.large"]).toEqual({
      "us-west-2a": 0.051542,
      "us-west-2b": 0.062198,
      "us-west-2c": 0.052732,
      "us-west-2d": 0.044832,
    });
  });

  it("a throttled call throws ThrottledError", async () => {
    const { fake, inventory } = await open();
    fake.faults.add({ action: "DescribeSubnets", throttle: true });
    await expect(inventory.subnets([discovery])).rejects.toMatchObject({ name: "ThrottledError" });
  });
});

describe("selector terms", () => {
  it("selector terms are selected by id first, and names and ids are combined", () => {
    expect(
      queriesFor([{ id: "sg-1", tags: { a: "b" } }, { name: "n" }, { id: "sg-2" }, { tags: { a: "*", b: "c" } }], {
        id: "group-id",
        name: "group-name",
      }),
    ).toEqual([
      { filters: [{ Name: "group-id", Values: ["sg-1", "sg-2"] }] },
      { filters: [{ Name: "group-name", Values: ["n"] }] },
      {
        filters: [
          { Name: "tag-key", Values: ["a"] },
          { Name: "tag:b", Values: ["c"] },
        ],
      },
    ]);
  });

  it("image terms with a name select images of the account and of Amazon", () => {
    expect(
      imageQueries(
        [{ name: "n" }, { name: "m", owner: "1" }, { tags: { a: "b" } }, { alias: "al2023@latest" }, { id: "ami-1" }],
        ["ami-2"],
      ),
    ).toEqual([
      { filters: [{ Name: "image-id", Values: ["ami-1", "ami-2"] }] },
      { filters: [{ Name: "name", Values: ["n"] }], owners: ["self", "amazon"] },
      { filters: [{ Name: "name", Values: ["m"] }], owners: ["1"] },
      { filters: [{ Name: "tag:a", Values: ["b"] }] },
    ]);
  });
});
