import { DescribeLaunchTemplateVersionsCommand } from "@aws-sdk/client-ec2";
import { describe, expect, it } from "vitest";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { type FleetRequest, instancesOf, type LaunchTemplate } from "#core/model/fleet.ts";
import type { Fleet } from "#core/ports/fleet.ts";
import type { FakeAws } from "../../e2e/fake-aws/fake-aws.ts";
import { ec2Client, fakeAws, imageFor, subnetIn } from "../../fake-aws/support.ts";

const tags = { "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "karpenter-test" };

function template(fake: FakeAws, overrides: Partial<LaunchTemplate> = {}): LaunchTemplate {
  return {
    name: "karpenter.k8s.aws/0123456789abcdef",
    imageId: imageFor(fake),
    userData: "MIME-Version: 1.0\nä",
    instanceProfile: "KarpenterNodeInstanceProfile-karpenter-test",
    securityGroupIds: [[...fake.state.securityGroups.keys()][0] ?? ""],
    blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: 20, volumeType: "gp3", encrypted: true } }],
    metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
    detailedMonitoring: false,
    tags,
    capacityType: "on-demand",
    ...overrides,
  };
}

function request(fake: FakeAws, overrides: Partial<FleetRequest> = {}): FleetRequest {
  const override = {
    instanceType: "m5.large",
    subnetId: subnetIn(fake, "us-west-2a"),
    zone: "us-west-2a",
    imageId: imageFor(fake),
    price: 0.096,
  };
  return {
    clientToken: "uid-0",
    capacityType: "on-demand",
    launchTemplates: [{ name: template(fake).name, overrides: [override] }],
    tags: { ...tags, "karpenter.sh/nodeclaim": "default-abcde" },
    ...overrides,
  };
}

async function open(): Promise<{ fake: FakeAws; fleet: Fleet }> {
  const fake = await fakeAws();
  const fleet = ec2Fleet(ec2Client(fake));
  await fleet.ensureLaunchTemplate(template(fake));
  return { fake, fleet };
}

describe("ec2Fleet", () => {
  it.for(["on-demand", "spot"] as const)("EC2's own prices decide, unless the request carries prices (%s)", async (capacityType) => {
    const { fake, fleet } = await open();
    const place = { subnetId: subnetIn(fake, "us-west-2a"), zone: "us-west-2a", imageId: imageFor(fake) };
    const overrides = [
      { ...place, instanceType: "m5.large", price: 2 },
      { ...place, instanceType: "m5.xlarge", price: 1 },
    ];
    const launchTemplates = [{ name: template(fake).name, overrides }];
    const typeOf = async (more: Partial<FleetRequest>) =>
      (await fleet.launch(request(fake, { launchTemplates, capacityType, ...more }))).instance?.instanceType;
    expect(await typeOf({ clientToken: "uid-0" })).toBe("m5.large");
    expect(await typeOf({ clientToken: "uid-1", prioritized: true })).toBe("m5.xlarge");
  });

  it("an instance is launched and found by id and by its cluster's tags", async () => {
    const { fake, fleet } = await open();
    const { instance, errors } = await fleet.launch(request(fake));
    expect(errors).toEqual([]);
    expect(instance).toMatchObject({
      instanceType: "m5.large",
      zone: "us-west-2a",
      capacityType: "on-demand",
      imageId: imageFor(fake),
      subnetId: subnetIn(fake, "us-west-2a"),
    });
    const id = instance?.id ?? "";
    const [described] = await fleet.describe([id, "i-00000000000000000"]);
    expect(described).toMatchObject({ id, state: "pending", tags: { "karpenter.sh/nodeclaim": "default-abcde" } });
    expect(described?.securityGroupIds).toEqual(template(fake).securityGroupIds);
    expect((await fleet.list("karpenter-test")).map((found) => found.id)).toEqual([id]);
    expect(await fleet.list("other")).toEqual([]);
  });

  it("sending the same request again returns the same instance", async () => {
    const { fake, fleet } = await open();
    const first = await fleet.launch(request(fake));
    expect((await fleet.launch(request(fake))).instance?.id).toBe(first.instance?.id);
    await expect(fleet.launch(request(fake, { tags: { ...tags, a: "b" } }))).rejects.toMatchObject({ name: "RefusedError" });
  });

  it("offerings without capacity are returned beside the launched instance", async () => {
    const { fake, fleet } = await open();
    fake.faults.add({ action: "CreateFleet", ice: { instanceType: "m5.large", zone: "us-west-2a" } });
    const dry = await fleet.launch(request(fake, { capacityType: "spot" }));
    expect(dry.instance).toBeUndefined();
    expect(dry.errors).toEqual([
      expect.objectContaining({ code: "InsufficientInstanceCapacity", instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot" }),
    ]);
    const [first] = request(fake).launchTemplates;
    const more = {
      instanceType: "c5.large",
      subnetId: subnetIn(fake, "us-west-2b"),
      zone: "us-west-2b",
      imageId: imageFor(fake),
      price: 0.1,
    };
    const both = [{ name: first?.name ?? "", overrides: [...(first?.overrides ?? []), more] }];
    const mixed = await fleet.launch(request(fake, { clientToken: "uid-1", launchTemplates: both }));
    expect(mixed.instance).toMatchObject({ instanceType: "c5.large", zone: "us-west-2b" });
  });

  it("several instances are launched by one call, and a repeated call returns the same ones", async () => {
    const { fake, fleet } = await open();
    const asked = request(fake, { count: 3, clientToken: "group-1" });
    const ids = instancesOf(await fleet.launch(asked)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(instancesOf(await fleet.launch(asked)).map(({ id }) => id)).toEqual(ids);
    expect(fake.state.calls.filter(({ action }) => action === "CreateFleet")).toHaveLength(2);
    fake.faults.add({ action: "CreateFleet", partial: 2, times: 1 });
    const partial = await fleet.launch(request(fake, { count: 3, clientToken: "group-2" }));
    expect(instancesOf(partial)).toHaveLength(2);
    expect(partial.errors).toEqual([expect.objectContaining({ instanceType: "m5.large", zone: "us-west-2a" })]);
    expect(fake.state.instances.size).toBe(5);
  });

  it("a template is created once, with encoded user data, and again after it was garbage-collected", async () => {
    const { fake, fleet } = await open();
    await fleet.ensureLaunchTemplate(template(fake));
    await ec2Fleet(ec2Client(fake)).ensureLaunchTemplate(template(fake));
    const made = (): number => fake.state.calls.filter(({ action }) => action === "CreateLaunchTemplate").length;
    expect(made()).toBe(2);
    const { LaunchTemplateVersions = [] } = await ec2Client(fake).send(
      new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: template(fake).name, Versions: ["$Latest"] }),
    );
    const data = LaunchTemplateVersions[0]?.LaunchTemplateData;
    expect(Buffer.from(data?.UserData ?? "", "base64").toString("utf8")).toBe("MIME-Version: 1.0\nä");
    expect(data?.MetadataOptions).toMatchObject({ HttpTokens: "required", HttpPutResponseHopLimit: 1 });
    expect(data?.NetworkInterfaces?.[0]).toMatchObject({ DeviceIndex: 0, Groups: template(fake).securityGroupIds });

    fake.faults.add({ action: "CreateFleet", times: 1, error: { code: "InvalidLaunchTemplateName.NotFoundException", message: "gone" } });
    await expect(fleet.launch(request(fake))).rejects.toMatchObject({ name: "NotFoundError" });
    await fleet.ensureLaunchTemplate(template(fake));
    expect(made()).toBe(3);
  });

  it("a template that several NodeClaims need at the same time is created once, and again after a failure", async () => {
    const fake = await fakeAws();
    const fleet = ec2Fleet(ec2Client(fake));
    fake.faults.add({ action: "CreateLaunchTemplate", times: 1, error: { code: "InternalError", message: "m", status: 500 } });
    const ensure = () => Promise.allSettled([1, 2, 3].map(() => fleet.ensureLaunchTemplate(template(fake))));
    expect((await ensure()).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect((await ensure()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(fake.state.calls.filter(({ action }) => action === "CreateLaunchTemplate")).toHaveLength(2);
  });

  it("old templates of the cluster are removed, and a launch creates them again", async () => {
    const { fake, fleet } = await open();
    fake.advance(60_000);
    await fleet.ensureLaunchTemplate(template(fake, { name: "karpenter.k8s.aws/young" }));
    await fleet.ensureLaunchTemplate(
      template(fake, { name: "karpenter.k8s.aws/other", tags: { ...tags, "eks:eks-cluster-name": "other" } }),
    );
    const now = Date.UTC(2026, 10, 21, 12) + 60_000;
    expect(await fleet.removeLaunchTemplates?.("karpenter-test", now)).toBe(1);
    await expect(fleet.launch(request(fake))).rejects.toMatchObject({ name: "NotFoundError" });
    await fleet.ensureLaunchTemplate(template(fake));
    expect((await fleet.launch(request(fake))).instance).toBeDefined();
    expect(fake.state.launchTemplates.size).toBe(3);
  });

  it.for([
    { code: "RequestLimitExceeded", name: "ThrottledError" },
    { code: "UnauthorizedOperation", name: "RefusedError" },
    { code: "InvalidAMIID.NotFound", name: "RefusedError" },
    // Not the request is to blame: it succeeds with fresh credentials.
    { code: "ExpiredToken", name: "ExpiredToken" },
  ])("EC2's error $code becomes a $name", async ({ code, name }) => {
    const { fake, fleet } = await open();
    fake.faults.add({ action: "CreateFleet", error: { code, message: "m" } });
    await expect(fleet.launch(request(fake))).rejects.toMatchObject({ name, message: expect.stringContaining(name === code ? "m" : code) });
  });

  it("a template that a fleet's answer says is gone is created again", async () => {
    const sent: string[] = [];
    const send = async (command: object) => {
      sent.push(command.constructor.name);
      return { Errors: [{ ErrorCode: "InvalidLaunchTemplateName.NotFoundException", ErrorMessage: "m" }], Instances: [] };
    };
    const fleet = ec2Fleet({ send, config: { region: async () => "us-west-2" } } as never);
    const fake = await fakeAws();
    for (let i = 0; i < 2; i++) {
      await fleet.ensureLaunchTemplate(template(fake));
      await fleet.launch(request(fake));
    }
    expect(sent).toEqual(["CreateLaunchTemplateCommand", "CreateFleetCommand", "CreateLaunchTemplateCommand", "CreateFleetCommand"]);
  });

  it("an instance is rebooted, and an unknown one is said to be unknown", async () => {
    const { fake, fleet } = await open();
    const { instance } = await fleet.launch(request(fake));
    await expect(fleet.reboot?.(instance?.id ?? "")).resolves.toBeUndefined();
    await expect(fleet.reboot?.("i-00000000000000000")).rejects.toMatchObject({ name: "NotFoundError" });
  });

  it("an unknown instance counts as terminated, and instances are tagged", async () => {
    const { fake, fleet } = await open();
    const { instance } = await fleet.launch(request(fake));
    const id = instance?.id ?? "";
    await fleet.tag(id, { Name: "node-1" });
    expect((await fleet.describe([id]))[0]?.tags["Name"]).toBe("node-1");
    await fleet.terminate(id);
    expect((await fleet.describe([id]))[0]?.state).toBe("shutting-down");
    await fleet.terminate("i-00000000000000000");
    await expect(fleet.tag("i-00000000000000000", {})).rejects.toBeDefined();
  });
});
