import { describe, expect, it } from "vitest";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import {
  alive,
  expectAccountedFor,
  INFLATE,
  line,
  MINUTE,
  messages,
  POOL,
  pass,
  ready,
  records,
  running,
  runningPods,
  SECOND,
  scale,
  until,
  usedUp,
} from "../support/lab-story.ts";

describe("EC2's buckets of requests", () => {
  it("a launch that would have to wait is put off without an invocation that sleeps, and is then made", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { ec2: {} });
    await usedUp(lab);
    scale(lab, 2);
    await pass(lab, 4 * SECOND);
    const [record] = await records(lab);
    // Forty calls of others come first, at 4.5 a second.
    expect((record?.dueAt ?? 0) - lab.world.clock.now()).toBeGreaterThan(4 * SECOND);
    expect(record?.launchPutOffAt).toBeDefined();
    expect(lab.cloud.machines()).toHaveLength(0);
    expect(line(lab, "waiting for EC2's request limit")?.fields).toMatchObject({ seconds: expect.any(Number) });
    expect(await until(lab, () => runningPods(lab) === 2, 90 * SECOND)).toBeGreaterThan(4 * SECOND);
    expect(lab.requests.counts.get("CreateFleet")).toMatchObject({ throttled: 0 });
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("a launch that EC2's bucket keeps waiting for longer than the launch time-out is not given up", async () => {
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { ec2: {} });
    await usedUp(lab);
    scale(lab, 2);
    for (let i = 0; i < 80; i++) {
      await usedUp(lab);
      await pass(lab, 5 * SECOND);
    }
    expect(lab.cloud.machines()).toHaveLength(0);
    await until(lab, () => runningPods(lab) === 2, 2 * MINUTE);
    expect(messages(lab)).not.toContain("terminating due to timeout");
    await expectAccountedFor(lab, 1);
    lab.close();
  });

  it("while launches wait, a node is drained and its instance ends", async () => {
    const lab = await running(2, undefined, { ec2: {} });
    const [machine] = alive(lab);
    await usedUp(lab, { tokens: -50 });
    lab.world.delete("NodeClaim", machine?.instance.tags["karpenter.sh/nodeclaim"] ?? "");
    await until(lab, () => !alive(lab).some(({ instance }) => instance.id === machine?.instance.id), 30 * SECOND);
    expect(lab.requests.counts.get("TerminateInstances")).toMatchObject({ passed: 1, throttled: 0 });
    await until(lab, () => runningPods(lab) === 2, 3 * MINUTE);
    lab.close();
  });

  it("eighty nodes at once from functions that know of each other by the table alone: no request is throttled", async () => {
    const pool = nodePool([ON_DEMAND, FAMILIES], { limits: {}, replicas: 80 });
    const lab = await ready([NODE_CLASS], {
      ec2: { lifecycles: 20, latencyMs: () => 300 },
      batchSize: 10,
      settings: { staticCapacity: true },
    });
    lab.world.apply(pool);
    await until(lab, () => alive(lab).length === 80, 60 * SECOND);
    for (const [action, { throttled }] of lab.requests.counts) expect([action, throttled]).toEqual([action, 0]);
    lab.close();
  });

  it("a table that takes no draws costs time, and no launch", async () => {
    let isDown = false;
    const before = ({ method }: { readonly method: string }) => {
      if (isDown && method === "swapPace") throw new Error("the table does not answer");
      return undefined;
    };
    const lab = await ready([NODE_CLASS, POOL, INFLATE], { ec2: {}, hooks: { before } });
    isDown = true;
    scale(lab, 2);
    await until(lab, () => runningPods(lab) === 2, 2 * MINUTE);
    await expectAccountedFor(lab, 1);
    lab.close();
  });
});
