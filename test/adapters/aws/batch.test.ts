import { describe, expect, it } from "vitest";
import { batched } from "#adapters/aws/batch.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { pacedEc2 } from "#adapters/aws/pace.ts";
import { ThrottledError } from "#core/ports/errors.ts";
import { ec2Client, errorOf, fakeAws, fleet as fleetOf, template } from "../../fake-aws/support.ts";

const length = async (keys: readonly string[]) => new Map(keys.map((key) => [key, key.length]));

describe("batched", () => {
  it("requests of one moment become one call, and each caller gets its own answer", async () => {
    const calls: (readonly string[])[] = [];
    const call = async (keys: readonly string[]) => {
      calls.push(keys);
      return length(keys.filter((key) => key !== "?"));
    };
    const ask = batched(call, { most: 10, waitMs: 1, blame: () => true });
    expect(await Promise.all(["a", "bb", "a", "?"].map(ask))).toEqual([1, 2, 1, undefined]);
    expect(await ask("ccc")).toBe(3);
    expect(calls).toEqual([["a", "bb", "?"], ["ccc"]]);
  });

  it("a full call is followed by another", async () => {
    const calls: number[] = [];
    const call = async (keys: readonly string[]) => {
      calls.push(keys.length);
      return length(keys);
    };
    const ask = batched(call, { most: 2, waitMs: 1, blame: () => true });
    await Promise.all(["a", "b", "c"].map(ask));
    expect(calls).toEqual([2, 1]);
  });

  it.for([
    { name: "asks for each alone when one of them is to blame", blame: true, want: ["fulfilled", "rejected"], calls: 3 },
    { name: "does not ask again when none is", blame: false, want: ["rejected", "rejected"], calls: 1 },
  ])("$name", async ({ blame, want, calls }) => {
    let count = 0;
    const call = async (keys: readonly string[]) => {
      count += 1;
      if (keys.includes("bad")) throw new Error("bad");
      return length(keys);
    };
    const ask = batched(call, { most: 10, waitMs: 1, blame: () => blame });
    const settled = await Promise.allSettled(["good", "bad"].map(ask));
    expect(settled.map(({ status }) => status)).toEqual(want);
    expect(count).toBe(calls);
  });
});

describe("ec2Fleet", () => {
  it("many instances are described and terminated in one call each, though EC2 does not know one of them", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const { Instances: [made] = [] } = await ec2.send(fleetOf(fake, { count: 3 }));
    const ids = [...(made?.InstanceIds ?? []), "i-00000000000000000"];
    const fleet = ec2Fleet(ec2);
    const described = await Promise.all(ids.map((id) => fleet.describe([id])));
    expect(described.map((found) => found.length)).toEqual([1, 1, 1, 0]);
    await Promise.all(ids.map((id) => fleet.terminate(id)));
    expect([...fake.state.instances.values()].map(({ state }) => state)).toEqual(Array.from({ length: 3 }, () => "shutting-down"));
    const calls = (action: string) => fake.state.calls.filter((call) => call.action === action).length;
    expect([calls("DescribeInstances"), calls("TerminateInstances")]).toEqual([1, 5]);
  });

  it("instances that EC2 knows are terminated in one call", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    await template(fake, ec2);
    const { Instances: [made] = [] } = await ec2.send(fleetOf(fake, { count: 3 }));
    const fleet = ec2Fleet(ec2);
    await Promise.all((made?.InstanceIds ?? []).map((id) => fleet.terminate(id)));
    expect(fake.state.calls.filter(({ action }) => action === "TerminateInstances")).toHaveLength(1);
  });

  it("a throttled call fails for every caller, without further calls", async () => {
    const fake = await fakeAws();
    fake.faults.add({ action: "TerminateInstances", error: { code: "RequestLimitExceeded", message: "slow down" } });
    const fleet = ec2Fleet(ec2Client(fake));
    expect(await Promise.all(["i-1", "i-2"].map((id) => errorOf(fleet.terminate(id))))).toEqual(["ThrottledError", "ThrottledError"]);
    expect(fake.state.calls).toHaveLength(1);
  });
});

describe("pacedEc2", () => {
  const counting = (refuse?: string) => {
    const told: string[] = [];
    const pace = {
      async turn(action: string) {
        if (action === refuse) throw new ThrottledError("come again", { retryAfterMs: 7_000 });
        told.push(action);
      },
      throttled: async (action: string) => void told.push(`${action} throttled`),
    };
    return { told, pace };
  };

  it("every attempt takes a turn, and the pace is told of each that EC2 throttles", async () => {
    const fake = await fakeAws();
    const { told, pace } = counting();
    const ec2 = pacedEc2(ec2Client(fake, undefined, 3), pace);
    await template(fake, ec2);
    fake.faults.add({ action: "CreateFleet", times: 2, error: { code: "RequestLimitExceeded", message: "slow down", status: 503 } });
    await ec2.send(fleetOf(fake, { token: "1" }));
    await ec2Fleet(ec2).list("karpenter-test");
    expect(told.filter((one) => !one.startsWith("CreateLaunchTemplate"))).toEqual([
      ...["CreateFleet", "CreateFleet throttled", "CreateFleet", "CreateFleet throttled", "CreateFleet", "DescribeInstances"],
    ]);
  });

  it("a request that has no turn yet is neither made nor tried again, and says when it may be", async () => {
    const fake = await fakeAws();
    const { told, pace } = counting("TerminateInstances");
    const fleet = ec2Fleet(pacedEc2(ec2Client(fake, undefined, 5), pace));
    await expect(fleet.terminate("i-1")).rejects.toMatchObject({ name: "ThrottledError", retryAfterMs: 7_000 });
    expect([told, fake.state.calls]).toEqual([[], []]);
  });

  it("another error is no throttle", async () => {
    const fake = await fakeAws();
    const { told, pace } = counting();
    const fleet = ec2Fleet(pacedEc2(ec2Client(fake), pace));
    await fleet.terminate("i-0123456789abcdef0");
    expect(told).toEqual(["TerminateInstances"]);
  });
});
