import { DescribeInstanceStatusCommand, DescribeInstancesCommand, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import { describe, expect, it, vi } from "vitest";
import type { AwsEvent } from "../e2e/fake-aws/options.ts";
import type { FakeInstance } from "../e2e/fake-aws/world.ts";
import { ec2Client, errorOf, fakeAws, fleet, template } from "./support.ts";

async function oneInstance(options: Parameters<typeof fakeAws>[0] = {}, capacityType: "on-demand" | "spot" = "on-demand") {
  const fake = await fakeAws(options);
  const ec2 = ec2Client(fake);
  await template(fake, ec2, "t-1", { UserData: Buffer.from("#!/bin/sh\n/etc/eks/bootstrap.sh").toString("base64") });
  const { Instances } = await ec2.send(fleet(fake, { capacityType }));
  const id = Instances?.[0]?.InstanceIds?.[0] ?? "";
  return { fake, ec2, id, state: () => fake.state.instances.get(id)?.state };
}

const detail = (events: readonly AwsEvent[]) => events.map((event) => event.detail["state"] ?? event["detail-type"]);

describe("an instance's life", () => {
  it("an instance is pending, running, shutting-down, terminated, and then unknown", async () => {
    const { fake, ec2, id, state } = await oneInstance({ bootDelayMs: 3000, terminateDelayMs: 2000, forgetAfterMs: 60_000 });
    expect(state()).toBe("pending");
    fake.advance(2999);
    expect(state()).toBe("pending");
    fake.advance(1);
    expect(state()).toBe("running");
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    expect(state()).toBe("shutting-down");
    fake.advance(2000);
    expect(state()).toBe("terminated");
    fake.advance(60_000);
    expect(await errorOf(ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] })))).toBe("InvalidInstanceID.NotFound");
  });

  it("an instance ends once, however often it is terminated", async () => {
    const onTerminated = vi.fn();
    const { fake, ec2, id } = await oneInstance({ onTerminated, subnets: [{ zone: "us-west-2a", freeAddresses: 5 }] });
    fake.advance(5000);
    for (let i = 0; i < 2; i += 1) await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    fake.advance(5000);
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    fake.advance(5000);
    expect(onTerminated).toHaveBeenCalledTimes(1);
    expect([...fake.state.subnets.values()][0]?.freeAddresses).toBe(5);
  });

  it("an address comes again only when all others of its subnet have been given", async () => {
    const fake = await fakeAws({ subnets: [{ zone: "us-west-2a", cidr: "10.0.0.0/28" }] });
    const ec2 = ec2Client(fake);
    await template(fake, ec2, "t-1", {});
    const hosts: number[] = [];
    for (let i = 0; i < 13; i += 1) {
      const { Instances } = await ec2.send(fleet(fake, { capacityType: "on-demand" }));
      const id = Instances?.[0]?.InstanceIds?.[0] ?? "";
      hosts.push(Number(fake.state.instances.get(id)?.privateIp.split(".").at(-1)));
      await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
      fake.advance(5_000);
    }
    expect(hosts).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 4, 5]);
  });

  it("onRunning is called once, with the decoded user data and the host name", async () => {
    const onRunning = vi.fn<(instance: FakeInstance) => void>();
    const { fake } = await oneInstance({ onRunning });
    fake.advance(10_000);
    expect(onRunning).toHaveBeenCalledTimes(1);
    const [instance] = onRunning.mock.calls[0] ?? [];
    expect(instance).toMatchObject({
      userData: "#!/bin/sh\n/etc/eks/bootstrap.sh",
      zone: "us-west-2a",
      instanceType: "m5.large",
      privateDnsName: "ip-10-0-0-4.us-west-2.compute.internal",
      state: "running",
    });
  });

  it("an instance that is terminated while pending does not boot", async () => {
    const onRunning = vi.fn();
    const { fake, ec2, id, state } = await oneInstance({ onRunning, bootDelayMs: 3000, terminateDelayMs: 10_000 });
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    fake.advance(5000);
    expect(state()).toBe("shutting-down");
    expect(onRunning).not.toHaveBeenCalled();
  });

  it("the error of a hook is kept, and the fake continues", async () => {
    const { fake, state } = await oneInstance({ onRunning: () => Promise.reject(new Error("no cluster")) });
    fake.advance(5000);
    await vi.waitFor(() => expect(fake.state.hookErrors.map(String)).toEqual(["Error: no cluster"]));
    expect(state()).toBe("running");
  });

  it("an instance boots as real time passes", async () => {
    const { state } = await oneInstance({ bootDelayMs: 30, now: Date.now });
    await vi.waitFor(() => expect(state()).toBe("running"));
  });
});

describe("events", () => {
  it("every change of state sends an event", async () => {
    const { fake, ec2, id } = await oneInstance();
    fake.advance(5000);
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    fake.advance(5000);
    expect(detail(fake.state.events)).toEqual(["pending", "running", "shutting-down", "terminated"]);
    expect(fake.state.events[1]).toMatchObject({
      version: "0",
      source: "aws.ec2",
      "detail-type": "EC2 Instance State-change Notification",
      resources: [`arn:aws:ec2:us-west-2:111122223333:instance/${id}`],
      detail: { "instance-id": id, state: "running" },
    });
  });

  it("a spot interruption sends a notice two minutes before the end", async () => {
    const { fake, id, state } = await oneInstance({}, "spot");
    fake.advance(5000);
    expect(fake.interrupt(id)).toMatchObject({
      "detail-type": "EC2 Spot Instance Interruption Warning",
      resources: [`arn:aws:ec2:us-west-2a:instance/${id}`],
      detail: { "instance-id": id, "instance-action": "terminate" },
    });
    fake.advance(119_999);
    expect(state()).toBe("running");
    fake.advance(1);
    expect(state()).toBe("shutting-down");
    fake.advance(5000);
    expect(detail(fake.state.events)).toEqual([
      "pending",
      "running",
      "EC2 Spot Instance Interruption Warning",
      "shutting-down",
      "terminated",
    ]);
  });
});

describe("scheduled maintenance", () => {
  it("scheduled maintenance shows in the status and sends a health event", async () => {
    const { fake, ec2, id } = await oneInstance();
    fake.advance(5000);
    expect(fake.scheduleMaintenance(id, "instance-retirement")).toMatchObject({
      source: "aws.health",
      "detail-type": "AWS Health Event",
      detail: { service: "EC2", eventTypeCategory: "scheduledChange", affectedEntities: [{ entityValue: id }] },
    });
    const { InstanceStatuses = [] } = await ec2.send(
      new DescribeInstanceStatusCommand({ Filters: [{ Name: "event.code", Values: ["instance-retirement", "instance-stop"] }] }),
    );
    expect(InstanceStatuses.map(({ InstanceId, Events }) => [InstanceId, Events?.[0]?.Code])).toEqual([[id, "instance-retirement"]]);
  });
});

describe("failed checks", () => {
  it("a failed check shows as impaired since its time", async () => {
    const { fake, ec2, id } = await oneInstance();
    fake.advance(5000);
    fake.impair(id, "system", 180_000);
    const { InstanceStatuses = [] } = await ec2.send(
      new DescribeInstanceStatusCommand({ Filters: [{ Name: "system-status.status", Values: ["impaired"] }] }),
    );
    expect(InstanceStatuses).toHaveLength(1);
    expect(InstanceStatuses[0]?.SystemStatus?.Details?.[0]?.ImpairedSince?.getTime()).toBe(fake.state.clock.now() - 180_000);
    expect(InstanceStatuses[0]?.InstanceStatus?.Status).toBe("ok");
  });
});
