import { RunInstancesCommand } from "@aws-sdk/client-ec2";
import { expect, it } from "vitest";
import { impairedInstances } from "#adapters/aws/instance-status.ts";
import { ec2Client, fakeAws, imageFor, subnetIn } from "../../fake-aws/support.ts";

it("failed checks and scheduled events are listed with their times, once per instance, and healthy instances are left out", async () => {
  const fake = await fakeAws();
  const client = ec2Client(fake);
  const started = await client.send(
    new RunInstancesCommand({
      ImageId: imageFor(fake),
      InstanceType: "m5.large",
      SubnetId: subnetIn(fake, "us-west-2a"),
      MinCount: 3,
      MaxCount: 3,
    }),
  );
  fake.advance(60_000);
  const [broken = "", retired = ""] = (started.Instances ?? []).map(({ InstanceId = "" }) => InstanceId);
  expect(await impairedInstances(client)).toEqual([]);
  fake.impair(broken, "instance", 300_000);
  fake.impair(broken, "system", 60_000);
  fake.scheduleMaintenance(broken, "system-reboot");
  fake.scheduleMaintenance(retired, "instance-retirement");
  const found = await impairedInstances(client);
  expect(found.toSorted((a, b) => a.events.length - b.events.length || (a.instanceId === broken ? -1 : 1))).toEqual([
    {
      instanceId: broken,
      instanceFailedSince: expect.any(Number),
      systemFailedSince: expect.any(Number),
      events: ["system-reboot"],
    },
    { instanceId: retired, events: ["instance-retirement"] },
  ]);
});
