import { CreateTagsCommand, DescribeInstancesCommand, DescribeSubnetsCommand, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it } from "vitest";
import { documentedBucket } from "../e2e/fake-aws/faults.ts";
import { clientConfig, ec2Client, errorOf, fakeAws, fleet, outcome, subnetIn, template } from "./support.ts";

const zones = ["us-west-2a", "us-west-2b", "us-west-2c"] as const;

describe("capacity", () => {
  it("an empty pool adds an entry to the error set, and the next pool launches", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", ice: { instanceType: "m5.large", zone: "us-west-2a", capacityType: "on-demand" } });
    const overrides = zones.map((zone) => ({ InstanceType: "m5.large" as const, SubnetId: subnetIn(fake, zone) }));
    const answer = await ec2.send(fleet(fake, { overrides }));
    expect(outcome(answer)).toEqual({ instances: ["1 m5.large us-west-2b"], errors: ["InsufficientInstanceCapacity"] });
    expect(answer.Errors?.[0]?.LaunchTemplateAndOverrides?.Overrides?.SubnetId).toBe(subnetIn(fake, "us-west-2a"));
    expect(answer.Errors?.[0]?.Lifecycle).toBe("on-demand");
  });

  it("a pool with two left gives two, and the rest comes from the next", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", ice: { zone: "us-west-2a", available: 2 } });
    const overrides = zones.map((zone) => ({ InstanceType: "m5.large" as const, SubnetId: subnetIn(fake, zone) }));
    expect(outcome(await ec2.send(fleet(fake, { count: 3, overrides })))).toEqual({
      instances: ["2 m5.large us-west-2a", "1 m5.large us-west-2b"],
      errors: ["InsufficientInstanceCapacity"],
    });
    expect(outcome(await ec2.send(fleet(fake, { overrides }))).instances).toEqual(["1 m5.large us-west-2b"]);
  });

  it("spot may be empty while on-demand is not, under any code", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", ice: { capacityType: "spot", code: "MaxSpotInstanceCountExceeded", message: "Max spot" } });
    expect(outcome(await ec2.send(fleet(fake, { capacityType: "spot" }))).errors).toEqual(["MaxSpotInstanceCountExceeded"]);
    expect(outcome(await ec2.send(fleet(fake))).errors).toEqual([]);
  });

  it("a partial fleet launches some of the requested instances and says why", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", times: 1, partial: 2 });
    expect(outcome(await ec2.send(fleet(fake, { count: 5 })))).toEqual({
      instances: ["2 m5.large us-west-2a"],
      errors: ["InsufficientInstanceCapacity"],
    });
    expect(outcome(await ec2.send(fleet(fake, { count: 5 }))).instances).toEqual(["5 m5.large us-west-2a"]);
  });
});

describe("refusals", () => {
  it("an error fault begins after some calls and ends after some", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    fake.faults.add({ action: "ec2:DescribeSubnets", after: 1, times: 2, error: { code: "InternalError", status: 500 } });
    const outcomes: string[] = [];
    for (let i = 0; i < 4; i += 1) outcomes.push(await errorOf(ec2.send(new DescribeSubnetsCommand({}))));
    expect(outcomes).toEqual(["ok", "InternalError", "InternalError", "ok"]);
  });

  it("an error fault can hit one role only, or one set of parameters", async () => {
    const fake = await fakeAws({ identify: (key) => (key === "AKIALAUNCH" ? "launcher" : "planner") });
    fake.faults.add({ action: "ec2:*", match: { role: "planner" }, error: { code: "UnauthorizedOperation", status: 403 } });
    expect(await errorOf(ec2Client(fake, "AKIAPLAN").send(new DescribeSubnetsCommand({})))).toBe("UnauthorizedOperation");
    expect(await errorOf(ec2Client(fake, "AKIALAUNCH").send(new DescribeSubnetsCommand({})))).toBe("ok");
    fake.faults.clear();
    fake.faults.add({
      action: "*",
      match: { params: { Filters: [{ Name: "vpc-id" }] } },
      error: { code: "InvalidParameterValue" },
    });
    const ec2 = ec2Client(fake);
    expect(await errorOf(ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "vpc-id", Values: ["x"] }] })))).toBe(
      "InvalidParameterValue",
    );
    expect(await errorOf(ec2.send(new DescribeSubnetsCommand({})))).toBe("ok");
  });

  it("a throttle has the words of each service, and the SDK retries it", async () => {
    const fake = await fakeAws();
    const ssm = new SSMClient(clientConfig(fake));
    const ask = new GetParameterCommand({ Name: "/aws/service/none" });
    fake.faults.add({ action: "*", times: 2, throttle: true });
    expect(await errorOf(ec2Client(fake).send(new DescribeSubnetsCommand({})))).toBe("RequestLimitExceeded");
    expect(await errorOf(ssm.send(ask))).toBe("ThrottlingException");
    fake.faults.add({ action: "*", times: 1, throttle: true });
    expect(await errorOf(ec2Client(fake, "AKIATEST", 3).send(new DescribeSubnetsCommand({})))).toBe("ok");
  });

  it("an empty token bucket throttles calls until it refills", async () => {
    const fake = await fakeAws({ ec2Bucket: { capacity: 2, refillPerSecond: 1 } });
    const ec2 = ec2Client(fake);
    const ask = () => errorOf(ec2.send(new DescribeSubnetsCommand({})));
    expect([await ask(), await ask(), await ask()]).toEqual(["ok", "ok", "RequestLimitExceeded"]);
    fake.advance(1000);
    expect([await ask(), await ask()]).toEqual(["ok", "RequestLimitExceeded"]);
  });

  it("with EC2's documented buckets each action has one of its own", async () => {
    const fake = await fakeAws({ ec2Bucket: documentedBucket });
    const ec2 = ec2Client(fake);
    const outcomes = (count: number, ask: () => Promise<string>) => Promise.all(Array.from({ length: count }, ask));
    const isOk = (outcome: string) => outcome !== "RequestLimitExceeded";
    const terminate = () => errorOf(ec2.send(new TerminateInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"] })));
    const launch = () => errorOf(ec2.send(fleet(fake, { token: "1" })));
    expect((await outcomes(55, launch)).filter(isOk)).toHaveLength(50);
    expect((await outcomes(105, terminate)).filter(isOk)).toHaveLength(100);
    expect((await outcomes(105, () => errorOf(ec2.send(new DescribeSubnetsCommand({}))))).filter(isOk)).toHaveLength(100);
    fake.advance(1_000);
    expect((await outcomes(10, launch)).filter(isOk)).toHaveLength(5);
  });
});

describe("connections", () => {
  it("a connection closed after the effect leaves an instance that the same client token finds", async () => {
    const fake = await fakeAws();
    await template(fake, ec2Client(fake));
    fake.faults.add({ action: "CreateFleet", times: 1, dropConnectionAfterEffect: true });
    expect(await errorOf(ec2Client(fake).send(fleet(fake, { token: "claim-1" })))).not.toBe("ok");
    expect(fake.state.instances.size).toBe(1);
    const again = await ec2Client(fake).send(fleet(fake, { token: "claim-1" }));
    expect(again.Instances?.[0]?.InstanceIds).toEqual([...fake.state.instances.keys()]);
    expect(fake.state.instances.size).toBe(1);
    expect(fake.state.calls.map(({ action, outcome: how }) => `${action} ${how}`)).toEqual([
      "CreateLaunchTemplate ok",
      "CreateFleet dropped",
      "CreateFleet ok",
    ]);
  });

  it("the SDK's retry after a closed connection launches nothing twice", async () => {
    const fake = await fakeAws();
    await template(fake, ec2Client(fake));
    fake.faults.add({ action: "CreateFleet", times: 1, dropConnectionAfterEffect: true });
    expect(outcome(await ec2Client(fake, "AKIATEST", 3).send(fleet(fake))).instances).toHaveLength(1);
    expect(fake.state.instances.size).toBe(1);
  });

  it("a connection closed before the effect launches nothing", async () => {
    const fake = await fakeAws();
    await template(fake, ec2Client(fake));
    fake.faults.add({ action: "CreateFleet", times: 1, dropConnection: true });
    expect(await errorOf(ec2Client(fake).send(fleet(fake)))).not.toBe("ok");
    expect(fake.state.instances.size).toBe(0);
  });

  it("a delay postpones the answer", async () => {
    const fake = await fakeAws();
    fake.faults.add({ action: "DescribeSubnets", delayMs: 120 });
    const before = performance.now();
    await ec2Client(fake).send(new DescribeSubnetsCommand({}));
    expect(performance.now() - before).toBeGreaterThan(110);
  });
});

describe("eventual consistency", () => {
  it("a new instance is unknown for a while", async () => {
    const fake = await fakeAws({ visibleAfterMs: 2000, bootDelayMs: 5000 });
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const { Instances } = await ec2.send(fleet(fake));
    const InstanceIds = Instances?.[0]?.InstanceIds ?? [];
    expect(await errorOf(ec2.send(new DescribeInstancesCommand({ InstanceIds })))).toBe("InvalidInstanceID.NotFound");
    const tag = new CreateTagsCommand({ Resources: InstanceIds, Tags: [{ Key: "Name", Value: "x" }] });
    expect(await errorOf(ec2.send(tag))).toBe("InvalidInstanceID.NotFound");
    fake.advance(2000);
    expect(await errorOf(ec2.send(tag))).toBe("ok");
  });
});
