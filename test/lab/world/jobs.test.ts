import { describe, expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { lab, node, workload } from "./support.ts";

const MINUTE = 60_000;
type Lab = ReturnType<typeof lab>;

const run = (l: Lab, ms: number) => l.clock.run({ until: l.clock.now() + ms });
const pods = (l: Lab): readonly Pod[] => l.world.store.list("Pod") as readonly Pod[];
const phases = (l: Lab) => pods(l).map(({ status }) => status?.phase);
const jobs = (l: Lab): string[] => l.world.store.list("Job").map(({ metadata }) => metadata.name);

interface JobStatus {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

const statusOf = (l: Lab, name: string): JobStatus => l.world.store.get("Job", name, "default")?.status as JobStatus;
const endOf = (l: Lab, name: string): string | undefined => statusOf(l, name).conditions?.find(({ status }) => status === "True")?.type;

/** A Job whose pods run for so many seconds. */
function job(name: string, seconds: number, spec: object = {}): ApiObject {
  const made = workload("Job", name, spec);
  const { template } = made.spec as { readonly template: { readonly metadata: object } };
  const annotations = { "lab.karpenter-serverless/run-seconds": String(seconds) };
  return { ...made, spec: { ...(made.spec as object), template: { ...template, metadata: { ...template.metadata, annotations } } } };
}

describe("a Job", () => {
  it("runs its pods for the seconds of the annotation, a minute without it, and is Complete then", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("short", 10));
    l.world.apply(workload("Job", "plain"));
    await run(l, 30_000);
    expect([endOf(l, "short"), endOf(l, "plain")]).toEqual(["Complete", undefined]);
    await run(l, 40_000);
    expect(endOf(l, "plain")).toBe("Complete");
    expect(phases(l)).toEqual(["Succeeded", "Succeeded"]);
  });

  it("does not run a pod again whose record was removed with its node", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("once", 10));
    await run(l, MINUTE);
    l.world.delete("Node", "n");
    await run(l, 2 * MINUTE);
    expect(pods(l)).toEqual([]);
    expect(statusOf(l, "once")).toMatchObject({ active: 0, succeeded: 1, failed: 0 });
  });

  it("replaces a pod that was deleted before it finished, until the backoffLimit is exceeded", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("fragile", 600, { backoffLimit: 1 }));
    for (const failed of [1, 2]) {
      await run(l, 10_000);
      const [pod] = pods(l);
      expect(pod?.status?.phase).toBe("Running");
      l.world.delete("Pod", pod?.metadata.name ?? "", "default");
      await run(l, 10_000);
      expect(statusOf(l, "fragile").failed).toBe(failed);
    }
    expect(endOf(l, "fragile")).toBe("Failed");
    expect(pods(l)).toEqual([]);
  });

  it("does not count a disruption that its podFailurePolicy ignores", async () => {
    const l = lab();
    l.world.apply(node("n"));
    const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }];
    l.world.apply(job("calm", 60, { backoffLimit: 0, podFailurePolicy: { rules } }));
    await run(l, 10_000);
    l.world.delete("Pod", pods(l)[0]?.metadata.name ?? "", "default");
    await run(l, 2 * MINUTE);
    expect(statusOf(l, "calm")).toMatchObject({ succeeded: 1, failed: 0 });
  });

  it("runs as many pods at a time as its parallelism, and no more than its completions", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("batch", 30, { completions: 3, parallelism: 2 }));
    await run(l, 10_000);
    expect(phases(l)).toEqual(["Running", "Running"]);
    await run(l, 40_000);
    expect(statusOf(l, "batch")).toMatchObject({ active: 1, succeeded: 2 });
    await run(l, MINUTE);
    expect(statusOf(l, "batch")).toMatchObject({ active: 0, succeeded: 3 });
    expect(pods(l)).toHaveLength(3);
  });

  it("without completions is a work queue, which ends after the first success of all its pods", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("queue", 10, { parallelism: 3 }));
    await run(l, MINUTE);
    expect(statusOf(l, "queue")).toMatchObject({ active: 0, succeeded: 3 });
    expect(endOf(l, "queue")).toBe("Complete");
  });

  it("has no pods while it is suspended", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("later", 10));
    await run(l, 5_000);
    l.world.apply(job("later", 10, { suspend: true }));
    await run(l, MINUTE);
    expect(pods(l)).toEqual([]);
    expect(statusOf(l, "later")).toMatchObject({ succeeded: 0, failed: 0 });
    l.world.apply(job("later", 10, { suspend: false }));
    await run(l, MINUTE);
    expect(statusOf(l, "later")).toMatchObject({ succeeded: 1, failed: 0 });
  });

  it("is removed with its pods ttlSecondsAfterFinished after its end", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("brief", 10, { ttlSecondsAfterFinished: 60 }));
    await run(l, 50_000);
    expect(jobs(l)).toEqual(["brief"]);
    await run(l, MINUTE);
    expect([jobs(l), pods(l)]).toEqual([[], []]);
  });

  it("takes its running pods with it when it is deleted", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(job("cancelled", 600));
    await run(l, 10_000);
    l.world.delete("Job", "cancelled", "default");
    await run(l, 10_000);
    expect(pods(l)).toEqual([]);
  });
});

const cronJob = (spec: object, seconds = 10): ApiObject => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "tick" },
  spec: { schedule: "*/5 * * * *", jobTemplate: { spec: job("", seconds).spec }, ...spec },
});

/** Minutes of the virtual day at which a Job of the CronJob was started. */
const starts = (l: Lab): number[] => jobs(l).map((name) => Number(name.split("-").pop()) % (24 * 60));
const TEN = 10 * 60;

describe("a CronJob", () => {
  it("starts a Job at each hit of its schedule and keeps the last three", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(cronJob({}));
    await run(l, 26 * MINUTE);
    expect(starts(l)).toEqual([TEN + 15, TEN + 20, TEN + 25]);
    l.world.apply(cronJob({ successfulJobsHistoryLimit: 0 }));
    await run(l, MINUTE);
    expect(starts(l)).toEqual([]);
  });

  it("starts no second Job beside a running one with Forbid, and starts it late when the first has ended", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(cronJob({ concurrencyPolicy: "Forbid" }, 7 * 60));
    await run(l, 11 * MINUTE);
    expect(starts(l)).toEqual([TEN + 5]);
    await run(l, 2 * MINUTE);
    expect(starts(l)).toEqual([TEN + 5, TEN + 10]);
  });

  it("does not start a Job later than startingDeadlineSeconds after its hit", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(cronJob({ concurrencyPolicy: "Forbid", startingDeadlineSeconds: 30 }, 7 * 60));
    await run(l, 14 * MINUTE);
    expect(starts(l)).toEqual([TEN + 5]);
    await run(l, 2 * MINUTE);
    expect(starts(l)).toEqual([TEN + 5, TEN + 15]);
  });

  it("replaces the running Job with Replace, and runs both with Allow", async () => {
    for (const [concurrencyPolicy, expected] of [
      ["Replace", [TEN + 10]],
      ["Allow", [TEN + 5, TEN + 10]],
    ] as const) {
      const l = lab();
      l.world.apply(node("n"));
      l.world.apply(cronJob({ concurrencyPolicy }, 7 * 60));
      await run(l, 11 * MINUTE);
      expect(starts(l)).toEqual(expected);
      expect(pods(l)).toHaveLength(expected.length);
    }
  });

  it("starts nothing while it is suspended", async () => {
    const l = lab();
    l.world.apply(node("n"));
    l.world.apply(cronJob({ suspend: true }));
    await run(l, 20 * MINUTE);
    expect(jobs(l)).toEqual([]);
  });

  it("reads its schedule in its time zone", async () => {
    const l = lab();
    l.world.apply(node("n"));
    // 10:00 in UTC is 11:00 in Berlin in January.
    l.world.apply(cronJob({ schedule: "30 11 * * *", timeZone: "Europe/Berlin" }));
    await run(l, 40 * MINUTE);
    expect(starts(l)).toEqual([TEN + 30]);
  });
});
