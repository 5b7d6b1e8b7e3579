import { nextHit, parseCron } from "#core/lib/cron.ts";
import { type ApiObject, timestamp } from "#manifests/api-object.ts";
import type { LabWorld } from "../world.ts";
import { debounced } from "./actor.ts";
import { type CronJob, endOf, type Job, setStatus, user, workloads } from "./owned-pods.ts";

const DELAY_MS = 20;
const CONTROLLER = "cronjob-controller";

/** When the schedule hits first after a time (ms); undefined when it never does or cannot be read. */
function nextRun({ spec: { schedule, timeZone = "UTC" } }: CronJob, after: number): number | undefined {
  const [, every, unit = "s"] = /^@every (\d+)([hms])$/.exec(schedule) ?? [];
  if (every !== undefined) return after + Number(every) * ({ h: 3_600_000, m: 60_000 }[unit] ?? 1_000);
  const cron = parseCron(schedule);
  if (cron === undefined) return undefined;
  // The hit is sought in local time. The offset is that of `after`: the hour of a change to summer time may be missed.
  const offset =
    Date.parse(`${new Date(after).toLocaleString("sv-SE", { timeZone }).replace(" ", "T")}Z`) - Math.floor(after / 1_000) * 1_000;
  const hit = nextHit(cron, after + offset);
  return hit === undefined ? undefined : hit - offset;
}

/** When a CronJob that has never run does so first, ms; undefined when it has run or never will. */
export const firstRun = (cronJob: CronJob, now: number): number | undefined =>
  cronJob.status?.lastScheduleTime === undefined && cronJob.spec.suspend !== true ? nextRun(cronJob, now) : undefined;

/** When a CronJob that has run less than twice does so next, ms; undefined when it has run twice or never will. */
export function firstOrSecondRun(cronJob: CronJob, now: number): number | undefined {
  const last = Date.parse(cronJob.status?.lastScheduleTime ?? "");
  const first = nextRun(cronJob, Date.parse(cronJob.metadata.creationTimestamp ?? ""));
  if (Number.isNaN(last)) return firstRun(cronJob, now);
  return cronJob.spec.suspend !== true && first !== undefined && last <= first ? nextRun(cronJob, last) : undefined;
}

/** The CronJob controller: starts a Job at each hit of the schedule, and keeps as many ended Jobs as the limits say. */
export function startCronJobs(world: LabWorld): void {
  const { clock } = world;
  /** The hit that each CronJob waits for, by uid, so that one timer is set for it. */
  const waiting = new Map<string, number>();
  const sync = debounced(world, "CronJob controller", DELAY_MS, () => {
    const jobs = Map.groupBy(workloads(world, "Job") as readonly Job[], ({ metadata }) => metadata.ownerReferences?.[0]?.uid ?? "");
    for (const cronJob of workloads(world, "CronJob") as unknown as readonly CronJob[]) {
      const { name, uid = "" } = cronJob.metadata;
      const own = jobs.get(uid) ?? [];
      runDue(world, cronJob, own);
      removeOld(world, cronJob, own);
      const next = nextRun(cronJob, clock.now());
      if (next === undefined || waiting.get(uid) === next) continue;
      waiting.set(uid, next);
      clock.at(next, `schedule of CronJob ${name}`, sync);
    }
  });
  world.onChange(({ kind, subresource }) => {
    // The end of a Job is in its status.
    if (kind === "Job" || (kind === "CronJob" && subresource !== "status")) sync();
  });
}

/** The latest hit that has not been run, no older than startingDeadlineSeconds; ms. */
function dueHit(cronJob: CronJob, now: number): number | undefined {
  const { metadata, spec, status } = cronJob;
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? "");
  const deadline = spec.startingDeadlineSeconds;
  let due: number | undefined;
  let hit = nextRun(cronJob, deadline === undefined ? since : Math.max(since, now - deadline * 1_000 - 1));
  while (hit !== undefined && hit <= now) {
    due = hit;
    hit = nextRun(cronJob, hit);
  }
  return due;
}

function runDue(world: LabWorld, cronJob: CronJob, jobs: readonly Job[]): void {
  const { metadata, spec } = cronJob;
  const due = spec.suspend === true ? undefined : dueHit(cronJob, world.clock.now());
  if (due === undefined) return;
  const running = jobs.filter((job) => endOf(job) === undefined);
  if (spec.concurrencyPolicy === "Forbid" && running.length > 0) return;
  if (spec.concurrencyPolicy === "Replace") for (const job of running) remove(world, job);
  const { name, namespace = "default", uid = "" } = metadata;
  const template = spec.jobTemplate;
  // The name as the real controller makes it: the minutes of the hit since the epoch.
  const jobName = `${name}-${Math.floor(due / 60_000)}`;
  const ownerReferences = [{ apiVersion: "batch/v1", kind: "CronJob", name, uid, controller: true, blockOwnerDeletion: true }];
  if (!world.store.get("Job", jobName, namespace)) {
    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { ...template.metadata, name: jobName, namespace, ownerReferences },
      spec: template.spec,
    };
    world.store.create(job as ApiObject, user(CONTROLLER));
  }
  setStatus(world, cronJob, { ...cronJob.status, lastScheduleTime: timestamp(due) });
}

function removeOld(world: LabWorld, { spec }: CronJob, jobs: readonly Job[]): void {
  const limits = [
    { type: "Complete", limit: spec.successfulJobsHistoryLimit ?? 3 },
    { type: "Failed", limit: spec.failedJobsHistoryLimit ?? 1 },
  ];
  for (const { type, limit } of limits) {
    const ended = jobs.filter((job) => endOf(job)?.type === type);
    const age = ({ metadata }: Job): number => Date.parse(metadata.creationTimestamp ?? "");
    const old = ended.sort((a, b) => age(b) - age(a)).slice(limit);
    for (const job of old) remove(world, job);
  }
}

function remove(world: LabWorld, { metadata: { name, namespace, uid } }: Job): void {
  world.store.delete("Job", name, { namespace, uid }, user(CONTROLLER));
}
