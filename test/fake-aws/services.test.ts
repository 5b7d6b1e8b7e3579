import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  DescribeImagesCommand,
  DescribeInstanceTypesCommand,
  DescribeSpotPriceHistoryCommand,
  DescribeSubnetsCommand,
  paginateDescribeInstanceTypes,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { AddRoleToInstanceProfileCommand, CreateInstanceProfileCommand, IAMClient } from "@aws-sdk/client-iam";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../e2e/fake-aws/catalogue.ts";
import { smallCatalogue } from "../e2e/fake-aws/small-catalogue.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clientConfig, ec2Client, errorOf, fakeAws, imageFor, subnetIn } from "./support.ts";

describe("SSM and images", () => {
  it.for([
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/recommended/image_id",
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.36-v20260901/image_id",
    "/aws/service/bottlerocket/aws-k8s-1.36-nvidia/arm64/latest/image_id",
    "/aws/service/bottlerocket/aws-k8s-1.36/x86_64/1.49.0/image_id",
    "/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.36/image_id",
  ])("%s is an image", async (Name) => {
    const fake = await fakeAws();
    const { Parameter } = await new SSMClient(clientConfig(fake)).send(new GetParameterCommand({ Name }));
    const { Images } = await ec2Client(fake).send(new DescribeImagesCommand({ ImageIds: [Parameter?.Value ?? ""] }));
    expect(Images).toHaveLength(1);
  });

  it("AL2 images exist up to Kubernetes 1.32 only", async () => {
    const of = (version: string) => `/aws/service/eks/optimized-ami/${version}/amazon-linux-2/recommended/image_id`;
    const old = await fakeAws({ cluster: { version: "1.32" } });
    expect(old.state.parameters.has(of("1.32"))).toBe(true);
    const current = await fakeAws();
    expect(current.state.parameters.has(of("1.36"))).toBe(false);
  });

  it("the newest release is recommended, and a later one after its publication", async () => {
    const fake = await fakeAws();
    const before = imageFor(fake);
    expect(fake.state.images.get(before)?.name).toBe("amazon-eks-node-al2023-x86_64-standard-1.36-v20261105");
    fake.release({ date: "v20261120", bottlerocket: "1.51.0" });
    expect(fake.state.images.get(imageFor(fake))?.name).toBe("amazon-eks-node-al2023-x86_64-standard-1.36-v20261120");
    expect(fake.state.images.has(before)).toBe(true);
  });
});

describe("images of the account", () => {
  it("images of the account are found by owner and tag, and need IncludeDeprecated when deprecated", async () => {
    const fake = await fakeAws({
      ownImages: [
        { name: "ours-new", architecture: "x86_64", tags: { team: "a" } },
        { name: "ours-old", architecture: "x86_64", tags: { team: "a" }, deprecationTime: "2026-02-01T00:00:00.000Z" },
      ],
    });
    const names = async (IncludeDeprecated: boolean) => {
      const ask = new DescribeImagesCommand({ Owners: ["self"], Filters: [{ Name: "tag:team", Values: ["a"] }], IncludeDeprecated });
      return (await ec2Client(fake).send(ask)).Images?.map(({ Name }) => Name);
    };
    expect(await names(false)).toEqual(["ours-new"]);
    expect(await names(true)).toEqual(["ours-new", "ours-old"]);
  });
});

describe("instance types", () => {
  it("a page of instance types may be empty and still have a next page", async () => {
    const fake = await fakeAws();
    const pages: number[] = [];
    const arm = [{ Name: "processor-info.supported-architecture", Values: ["arm64"] }];
    for await (const { InstanceTypes = [] } of paginateDescribeInstanceTypes({ client: ec2Client(fake), pageSize: 5 }, { Filters: arm })) {
      pages.push(InstanceTypes.length);
    }
    expect(pages).toEqual([1, 1]);
    const metal = new DescribeInstanceTypesCommand({ MaxResults: 5, Filters: [{ Name: "bare-metal", Values: ["true"] }] });
    const { InstanceTypes, NextToken } = await ec2Client(fake).send(metal);
    expect([InstanceTypes, NextToken === undefined]).toEqual([[], false]);
  });

  it("a filter with a name that no record has is refused", async () => {
    const fake = await fakeAws();
    const ask = new DescribeInstanceTypesCommand({ Filters: [{ Name: "colour", Values: ["red"] }] });
    expect(await errorOf(ec2Client(fake).send(ask))).toBe("InvalidParameterValue");
  });
});

describe("filters", () => {
  it("all filters of a request together have at most two hundred values", async () => {
    const fake = await fakeAws();
    const ask = (count: number) =>
      errorOf(
        ec2Client(fake).send(
          new DescribeSubnetsCommand({ Filters: [{ Name: "subnet-id", Values: Array.from({ length: count }, (_, i) => `subnet-${i}`) }] }),
        ),
      );
    expect([await ask(200), await ask(201)]).toEqual(["ok", "FilterLimitExceeded"]);
  });
});

describe("IAM and EC2 together", () => {
  it("EC2 accepts a new instance profile only after a delay, and only with its role", async () => {
    const fake = await fakeAws({ profileVisibleAfterMs: 5000 });
    const iam = new IAMClient(clientConfig(fake));
    const dryRun = (Name: string) =>
      errorOf(
        ec2Client(fake).send(
          new RunInstancesCommand({
            DryRun: true,
            MinCount: 1,
            MaxCount: 1,
            ImageId: imageFor(fake),
            InstanceType: "m5.large",
            SubnetId: subnetIn(fake, "us-west-2a"),
            IamInstanceProfile: { Name },
          }),
        ),
      );
    for (const InstanceProfileName of ["fresh", "empty"]) await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
    const RoleName = "KarpenterNodeRole-karpenter-test";
    await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: "fresh", RoleName }));
    expect(await dryRun("fresh")).toBe("InvalidParameterValue");
    fake.advance(5000);
    expect([await dryRun("fresh"), await dryRun("empty")]).toEqual(["DryRunOperation", "InvalidParameterValue"]);
  });
});

describe("the call log", () => {
  it("the call log has the caller, action, time and result of each call, with long texts cut", async () => {
    const fake = await fakeAws({ identify: (key) => `role-of-${key}` });
    await errorOf(ec2Client(fake, "AKIAONE").send(new DescribeSubnetsCommand({ SubnetIds: ["subnet-0", "x".repeat(500)] })));
    expect(fake.state.calls).toMatchObject([
      {
        number: 1,
        service: "ec2",
        action: "DescribeSubnets",
        accessKey: "AKIAONE",
        role: "role-of-AKIAONE",
        outcome: "InvalidSubnetID.NotFound",
      },
    ]);
    expect(JSON.stringify(fake.state.calls[0]?.params).length).toBeLessThan(300);
  });

  it("the call log has the caller of a presigned STS request", async () => {
    const fake = await fakeAws({ identify: () => "provisioner" });
    const url = `${fake.url}/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Credential=AKIAX%2F20261121%2Fus-west-2%2Fsts%2Faws4_request`;
    expect(await (await fetch(url)).text()).toContain("<Arn>arn:aws:sts::111122223333:assumed-role/provisioner/fake</Arn>");
    const json = (await (await fetch(url, { headers: { accept: "application/json" } })).json()) as Record<string, unknown>;
    expect(json).toMatchObject({ GetCallerIdentityResponse: { GetCallerIdentityResult: { Account: "111122223333" } } });
  });

  it("an unknown action is answered with InvalidAction, and an unreadable request with what is wrong", async () => {
    const fake = await fakeAws();
    const body = new URLSearchParams({ Action: "DescribeVolumes", Version: "2016-11-15" });
    const unknown = await fetch(fake.url, { method: "POST", body });
    expect(unknown.status).toBe(400);
    expect(await unknown.text()).toContain("<Code>InvalidAction</Code>");
    const nothing = await fetch(`${fake.url}/favicon.ico`);
    expect([nothing.status, await nothing.text()]).toEqual([
      400,
      "MissingAction: GET /favicon.ico names no action that this stand-in knows.",
    ]);
  });
});

describe("spot prices", () => {
  it("the last page of spot prices has an empty token, as in EC2", async () => {
    const fake = await fakeAws();
    const { NextToken } = await ec2Client(fake).send(new DescribeSpotPriceHistoryCommand({ StartTime: new Date() }));
    expect(NextToken).toBe("");
  });

  it("a spot price can change in one zone, be removed, and apply to later launches", async () => {
    const fake = await fakeAws();
    const asked = async () => {
      const { SpotPriceHistory = [] } = await ec2Client(fake).send(new DescribeSpotPriceHistoryCommand({ InstanceTypes: ["m5.large"] }));
      return Object.fromEntries(SpotPriceHistory.map(({ AvailabilityZone = "", SpotPrice }) => [AvailabilityZone, Number(SpotPrice)]));
    };
    const before = await asked();
    const [zone = "", other = ""] = Object.keys(before);
    fake.changePrice({ instanceType: "m5.large", zone, price: 0.01 });
    fake.changePrice({ instanceType: "m5.large", zone: other, price: 0 });
    const { [other]: _, ...rest } = before;
    expect(await asked()).toEqual({ ...rest, [zone]: 0.01 });
    const bad = { instanceType: "m5.large", zone: "mars-1a", price: 1 };
    expect(() => fake.changePrice(bad)).toThrow("There is no spot price in mars-1a of m5.large.");
    fake.reset();
    expect(await asked()).toEqual(before);
  });
});

describe("a catalogue from files", () => {
  it("raw records and prices are read, compressed or not, and a missing region is an error with a sentence", async () => {
    const folder = temporaryFolder("fake-aws");
    const { onDemandPrices, spotPrices, ...base } = smallCatalogue;
    const at = (name: string) => join(folder, name);
    writeFileSync(at("types.json.gz"), gzipSync(JSON.stringify(base)));
    writeFileSync(at("prices.json"), JSON.stringify({ onDemand: { "us-west-2": onDemandPrices } }));
    writeFileSync(at("spot.json"), JSON.stringify({ spot: { "us-west-2": spotPrices } }));
    writeFileSync(at("elsewhere.json"), JSON.stringify({ spot: {} }));
    const files = { instanceTypes: at("types.json.gz"), prices: at("prices.json"), spotPrices: at("spot.json") };
    expect(loadCatalogue(files)).toEqual(smallCatalogue);
    expect(() => loadCatalogue({ ...files, spotPrices: at("elsewhere.json") })).toThrow(/elsewhere\.json has no prices for us-west-2/);
  });
});
