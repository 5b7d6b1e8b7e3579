import { describe, expect, it } from "vitest";
import { examined } from "#installer/checks/examined.ts";
import { Installed, nodeClass, READY } from "./world.ts";

const STACK = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless" };

/** What the person reads at the end of an installation, and how long it took in s. */
async function endOf(world: Installed) {
  const lines: string[] = [];
  const began = world.now;
  const ports = { ...world.installationPorts(), now: () => world.now, sleep: world.ports().sleep };
  const isHealthy = await examined(STACK, ports, (line) => lines.push(line));
  return { isHealthy, lines, seconds: (world.now - began) / 1_000 };
}

describe("the end of an installation", () => {
  it("says in one line that doctor finds no fault", async () => {
    expect(await endOf(new Installed())).toEqual({ isHealthy: true, lines: ["doctor: 27 of 27 checks are ok"], seconds: 0 });
  });

  it("waits until the functions have looked at a new EC2NodeClass", async () => {
    const world = new Installed();
    world.put(nodeClass("default", []));
    world.onSleep = () => {
      if (world.now % 10_000 === 0) world.put(nodeClass("default", READY));
    };
    const { lines, seconds } = await endOf(world);
    expect(lines).toEqual(["waiting until the functions have looked at EC2NodeClass default", "doctor: 27 of 27 checks are ok"]);
    expect(seconds).toBe(10);
  });

  it("tells what is at fault, also an EC2NodeClass that nobody looks at for two minutes", async () => {
    const world = new Installed();
    world.put(nodeClass("default", []));
    world.httpStatus = 502;
    const { isHealthy, lines, seconds } = await endOf(world);
    expect([isHealthy, seconds]).toEqual([false, 120]);
    expect(lines.slice(1)).toEqual([
      "doctor: 25 of 27 checks are ok, but",
      expect.stringContaining("FAULT  webhook: its URL answers 502"),
      expect.stringContaining("FAULT  EC2NodeClass default: no function has looked at it yet"),
    ]);
  });

  it("is no fault of an installation to which the person has yet to apply an EC2NodeClass", async () => {
    const world = new Installed();
    world.objects.delete("EC2NodeClass/default");
    expect(await endOf(world)).toMatchObject({ isHealthy: true });
  });
});
