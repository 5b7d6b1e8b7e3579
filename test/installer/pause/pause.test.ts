import { describe, expect, it } from "vitest";
import { sentenceOf } from "#core/insight/history/sentence.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { pauseDocument } from "#core/pause/pause.ts";
import { heldWork } from "#core/pause/resume.ts";
import { doctor } from "#installer/checks/doctor.ts";
import { status } from "#installer/checks/status.ts";
import { pauseCommand, timeOf } from "#installer/pause/command.ts";
import { type PausePorts, pause, resume } from "#installer/pause/pause.ts";
import { Installed } from "../checks/world.ts";

const STACK = "karpenter-serverless";
const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-28T12:00:00Z");

const portsOf = (world: Installed, now = NOW): PausePorts => ({
  ...world.installationPorts(),
  records: () => world.records,
  now: () => now,
});
const paused = (world: Installed, more: object = {}, now = NOW) =>
  pause({ stackName: STACK, cluster: "c1", only: undefined, forMs: undefined, reason: "AMI crashes pods", ...more }, portsOf(world, now));
const resumed = (world: Installed, now = NOW) => resume({ stackName: STACK, cluster: "c1" }, portsOf(world, now));

const linesOf = async (world: Installed, command: typeof status, now = NOW): Promise<readonly string[]> => {
  const options = { cluster: "c1", region: "us-west-2", stackName: STACK, json: false };
  const { output } = await command(options, { ...world.installationPorts(), now: () => now });
  return output.split("\n").filter((line) => line.includes(" pause: "));
};

const byKubectl = (world: Installed, data: object): void =>
  world.put({
    ...{ apiVersion: "v1", kind: "ConfigMap", data },
    metadata: { name: "karpenter-serverless-pause", namespace: "kube-system", creationTimestamp: "2026-11-28T11:00:00Z" },
  });

describe("pause", () => {
  it("writes who, what, until when and why, and says so", async () => {
    const world = new Installed();
    const { arn } = await world.installationPorts().account.caller();
    const { output } = await paused(world, { only: "disruption", forMs: 2 * HOUR });
    expect(output.split("\n")).toEqual([
      `cluster c1: disruption is paused by ${arn} since 2026-11-28T12:00:00Z until 2026-11-28T14:00:00Z: AMI crashes pods`,
      "In force within 10 s, for 2h; notices of EC2 and deletions by people are acted upon.",
      "",
    ]);
    const text = `disruption is paused by ${arn} since 2026-11-28T12:00:00Z until 2026-11-28T14:00:00Z: AMI crashes pods`;
    for (const command of [status, doctor])
      expect(await linesOf(world, command)).toEqual([`note   pause: ${text}; karpenter-serverless resume --cluster c1 ends it`]);
    const kept = await world.records.history("c1", { since: 0, until: NOW + 1, about: "pause/table" });
    expect(kept.map(sentenceOf)).toEqual([text]);
  });

  it("again replaces it, and says what it replaces", async () => {
    const world = new Installed();
    await paused(world);
    const { output } = await paused(world, { only: "launches" }, NOW + HOUR);
    expect(output).toContain("; this replaces: disruption and launches are paused by ");
  });

  it("without an end is a fault of status and doctor after a day", async () => {
    const world = new Installed();
    await paused(world);
    expect(await linesOf(world, status, NOW + 23 * HOUR)).toEqual([expect.stringMatching(/^note /)]);
    for (const command of [status, doctor])
      expect(await linesOf(world, command, NOW + 72 * HOUR)).toEqual([
        expect.stringMatching(/^FAULT {2}pause: forgotten for 3 d, and without an end: .*; karpenter-serverless resume --cluster c1$/),
      ]);
  });

  it("of a cluster that the stack does not serve changes nothing", async () => {
    const world = new Installed();
    await expect(paused(world, { cluster: "other" })).rejects.toThrow(/serves c1 and not other; name the stack that does/);
    expect(await world.records.getDocument(pauseDocument("other"))).toBeUndefined();
  });

  it("--all pauses each cluster that the stack serves", async () => {
    const world = new Installed();
    world.clusters.set("c2", { name: "c2", state: "served", version: 1, sources: [] });
    world.stack = { ...(world.stack ?? { status: "", templateUrl: "" }), outputs: { ...world.outputs, AccessPath: "/a/" } };
    const { output } = await paused(world, { cluster: undefined });
    expect(output).toContain("cluster c1: ");
    expect(output).toContain("cluster c2: ");
    expect(await world.records.getDocument(pauseDocument("c2"))).toBeDefined();
  });

  it.for([
    { args: ["--reason", "x"], says: "name one cluster with --cluster NAME, or all of the stack with --all" },
    { args: ["--cluster", "c", "--all", "--reason", "x"], says: "name one cluster with --cluster NAME, or all of the stack with --all" },
    { args: ["--cluster", "c"], says: "--reason" },
    { args: ["--cluster", "c", "--reason", "x", "--only", "launch"], says: "--only launch: there is disruption and launches" },
    { args: ["--cluster", "c", "--reason", "x", "--for", "soon"], says: "--for soon: is no time; write 30m, 2h or 3d" },
    { args: ["--cluster", "c", "--reason", "x", "--for", "0h"], says: "--for 0h: is no time" },
  ])("$args is refused", async ({ args, says }) => {
    await expect(pauseCommand.run([...args, "--region", "us-west-2"], () => {})).rejects.toThrow(says);
  });

  it("--for takes days", () => {
    expect(["3d", "90m"].map(timeOf)).toEqual([72 * HOUR, 1.5 * HOUR]);
  });
});

describe("resume", () => {
  it("takes the pause back, once", async () => {
    const world = new Installed();
    await paused(world);
    expect((await resumed(world, NOW + HOUR)).output).toMatch(
      /^cluster c1: resumed; before, disruption and launches are paused by .*\n {2}plans within/,
    );
    expect(await linesOf(world, status, NOW + HOUR)).toEqual([]);
    expect((await resumed(world, NOW + HOUR)).output).toMatch(/^cluster c1: was not paused by this command\n/);
    const kept = await world.records.history("c1", { since: 0, until: NOW + 2 * HOUR, about: "pause/table" });
    expect(kept.map(sentenceOf)[1]).toMatch(/^resumed by arn:.*, 1h after the pause began$/);
  });

  it("names the ConfigMap that still holds, and how to end it", async () => {
    const world = new Installed();
    await paused(world);
    byKubectl(world, { only: "launches", by: "bob", reason: "quota" });
    expect((await resumed(world)).output.split("\n")[1]).toBe(
      "  still launches are paused by ConfigMap kube-system/karpenter-serverless-pause (by its own word bob) since 2026-11-28T11:00:00Z: quota; end it: kubectl delete configmap karpenter-serverless-pause -n kube-system",
    );
    expect(await linesOf(world, status)).toEqual([expect.stringContaining("paused by ConfigMap")]);
  });

  it("ends one that cannot be read", async () => {
    const world = new Installed();
    await world.records.putDocument(pauseDocument("c1"), new TextEncoder().encode("{"), "1");
    expect(await linesOf(world, status)).toEqual([expect.stringContaining("(the document cannot be read; run resume, or pause again)")]);
    await resumed(world);
    expect(await linesOf(world, status)).toEqual([]);
  });

  it("says what is done first", () => {
    const record = (name: string, fields: object) =>
      ({
        name,
        createdAt: NOW - 48 * HOUR,
        manifest: { spec: { expireAfter: "24h" } },
        instance: {},
        initializedAt: 1,
        ...fields,
      }) as NodeClaimRecord;
    const held = record("a", { terminating: { reason: "drifted", at: NOW } });
    const taken = record("b", { terminating: { reason: "spot_interrupted", at: NOW } });
    const young = record("d", { createdAt: NOW });
    expect(heldWork([held, taken, record("c", {}), young], NOW)).toEqual([
      "continues within a minute with the end of 1 NodeClaim (a), whose drain was held",
      "ends what has expired: 1 NodeClaim (c)",
      "plans within a minute for pods that wait, then looks for disruptions as budgets allow",
    ]);
  });
});
