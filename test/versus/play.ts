import { copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apply, PATIENTLY } from "../e2e/arrange.ts";
import { documentedBucket } from "../e2e/fake-aws/faults.ts";
import { list } from "../e2e/observe.ts";
import { type Stage, startStage } from "../e2e/stage.ts";
import { removeDir } from "../e2e/support/child.ts";
import type { Autoscaler } from "./autoscaler.ts";
import type { Act, Course, Step } from "./courses/course.ts";
import { type AutoscalerName, figuresOf, type PlayedAct, type Run, requestTallies } from "./figures.ts";
import { startKarpenter } from "./karpenter/start.ts";
import { observed } from "./observe.ts";
import { startProduct } from "./product.ts";
import { BOOT_MS, PENDING_MS, READY_AFTER } from "./timing.ts";

// Plays a course with one autoscaler in a cluster of its own.

const LOOK_MS = 500;
/** How long an act may last over its time while pods wait. */
const LATE_MS = 90_000;
/** How long a still act goes on after its last pod runs: a machine that was launched in vain shows by then. */
const STILL_MS = 8_000;
/** From Ready NodePools to the first act: what the autoscaler does because of its start is over. */
const WARM_UP_MS = 5_000;

const START = { karpenter: startKarpenter, product: startProduct } as const;

export async function playCourse(course: Course, name: AutoscalerName, run: number, logDir: string): Promise<Run> {
  const dataDir = mkdtempSync(join(tmpdir(), `versus-${course.name}-${name}-`));
  let autoscaler: Autoscaler | undefined;
  const problems = new Set<string>();
  const stage = await startStage({
    dataDir,
    bootMs: BOOT_MS,
    readyAfter: READY_AFTER,
    clusterArgs: ["--audit-policy", join(import.meta.dirname, "audit-policy.yaml")],
    aws: {
      bootDelayMs: PENDING_MS,
      terminateDelayMs: 1_000,
      ...(course.limitsRequests && { ec2Bucket: documentedBucket }),
      onEvent: async (event) => {
        await autoscaler?.notify(event).catch((error: unknown) => problems.add(`an event of EC2 was lost: ${String(error)}`));
      },
    },
  });
  try {
    autoscaler = await START[name](stage);
    await apply(stage, ...course.setting);
    await stage.cluster.kubectl("wait", "--for=condition=Ready", "nodepool", "--all", PATIENTLY);
    await sleep(WARM_UP_MS);
    const before = await autoscaler.usage();
    const acts: PlayedAct[] = [];
    const placements: string[] = [];
    for (const act of course.acts) {
      const played = await playAct(stage, act);
      acts.push(played);
      // Nothing is compared by it, and a machine that is too busy to tell has played the act all the same.
      const placed = await placement(stage).catch((error: unknown) => `  the API server did not tell: ${String(error)}`);
      placements.push(`${act.name}:\n${placed}`);
      if (played.runningAt === undefined) problems.add(`pods wait at the end of ${act.name}`);
    }
    const load = loadavg()[0] ?? Number.NaN;
    const after = await autoscaler.usage();
    const seen = observed(stage, autoscaler);
    for (const [id, why] of stage.bootFailures) problems.add(`${id} did not boot: ${why}`);
    for (const error of stage.fake.state.hookErrors) problems.add(String(error));
    for (const trouble of autoscaler.troubles()) problems.add(trouble);
    keep(logDir, [...(await autoscaler.logs()), stage.cluster.auditLog], {
      "placement.txt": placements.join("\n"),
      "calls.json": JSON.stringify(stage.fake.state.calls, undefined, 1),
    });
    return {
      ...{ course: course.name, autoscaler: name, run },
      acts: acts.map((act) => figuresOf(act, seen)),
      usage: {
        cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        peakMb: after.peakMb,
        ...(after.invocations !== undefined && { invocations: after.invocations - (before.invocations ?? 0) }),
        ...(after.gbSeconds !== undefined && { gbSeconds: after.gbSeconds - (before.gbSeconds ?? 0) }),
      },
      ...requestTallies(acts, seen),
      problems: [...problems],
      load,
    };
  } catch (error) {
    keep(logDir, [...((await autoscaler?.logs().catch(() => [])) ?? []), stage.cluster.auditLog], {});
    throw error;
  } finally {
    await Promise.allSettled([autoscaler?.stop()]);
    await stage.stop();
    removeDir(dataDir);
  }
}

async function playAct(stage: Stage, { name, steps, seconds, still = false }: Act): Promise<PlayedAct> {
  const from = Date.now();
  const plannedEnd = from + seconds * 1_000;
  const watch = watchPods(stage);
  for (const step of steps) {
    await sleep(Math.max(0, from + step.at * 1_000 - Date.now()));
    await take(stage, step);
  }
  watch.begin();
  const isOver = (now: number): boolean => {
    const runningAt = watch.runningAt();
    if (runningAt === undefined) return now >= plannedEnd + LATE_MS;
    return now >= plannedEnd || (still && now >= runningAt + STILL_MS && !isBooting(stage));
  };
  while (!isOver(Date.now())) await sleep(LOOK_MS);
  await watch.stop();
  const to = Date.now();
  const runningAt = watch.runningAt();
  return {
    ...{ name, from, to, paidUntil: Math.max(plannedEnd, to) },
    ...(runningAt !== undefined && { runningAt }),
    waitedPodSeconds: watch.waitedPodSeconds(),
    atRest: liveMachines(stage).map(({ id }) => id),
  };
}

const liveMachines = ({ fake }: Stage) =>
  [...fake.state.instances.values()].filter(({ state }) => state === "pending" || state === "running");

const isBooting = (stage: Stage): boolean => liveMachines(stage).some(({ launchTime }) => Date.now() < launchTime + PENDING_MS + BOOT_MS);

async function take(stage: Stage, { apply: objects = [], interrupt = 0 }: Step): Promise<void> {
  if (objects.length > 0) await apply(stage, { apiVersion: "v1", kind: "List", items: objects });
  if (interrupt === 0) return;
  const counts = await podsByNode(stage);
  const spot = liveMachines(stage).filter(({ capacityType }) => capacityType === "spot");
  const podsOn = ({ privateDnsName }: (typeof spot)[number]): number => counts.get(privateDnsName) ?? 0;
  // Of equally full machines those of the first zones, so that both autoscalers lose the same ones.
  const fullest = spot.toSorted((a, b) => podsOn(b) - podsOn(a) || (a.zone < b.zone ? -1 : 1));
  for (const { id } of fullest.slice(0, interrupt)) stage.fake.interrupt(id);
}

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

/** How many pods of a Deployment are not as its newest specification wants them: missing, extra, old or not ready. */
function openPods({ metadata, spec, status = {} }: Deployment): number {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  if (observedGeneration < metadata.generation) return Math.max(1, Math.abs(spec.replicas - replicas));
  return Math.max(spec.replicas - Math.min(updatedReplicas, availableReplicas), replicas - spec.replicas, 0);
}

const missingPods = ({ spec, status = {} }: Deployment): number => Math.max(0, spec.replicas - (status.availableReplicas ?? 0));

/** Looks at the Deployments until it is stopped. All pods run when none is open, and only after `begin`. */
function watchPods({ cluster }: Stage) {
  let runningAt: number | undefined;
  let waitedMs = 0;
  let begun = false;
  let watching = true;
  const looking = (async () => {
    for (let last = Date.now(); watching; await sleep(LOOK_MS)) {
      const asked = Date.now();
      // A look that fails because the API server is busy says nothing; the next one counts for its time too.
      const found = await cluster
        .get<{ items: readonly Deployment[] }>("/apis/apps/v1/namespaces/default/deployments")
        .catch(() => undefined);
      if (found === undefined) continue;
      const count = (of: (deployment: Deployment) => number): number => found.items.reduce((sum, deployment) => sum + of(deployment), 0);
      waitedMs += count(missingPods) * (asked - last);
      last = asked;
      if (!begun || count(openPods) > 0) runningAt = undefined;
      else runningAt ??= asked;
    }
  })();
  return {
    begin() {
      begun = true;
    },
    runningAt: () => runningAt,
    waitedPodSeconds: () => waitedMs / 1_000,
    async stop() {
      watching = false;
      await looking;
    },
  };
}

async function podsByNode({ cluster }: Stage): Promise<ReadonlyMap<string, number>> {
  const { items } = await cluster.get<{ items: readonly { spec: { nodeName?: string } }[] }>("/api/v1/namespaces/default/pods");
  return new Map([...Map.groupBy(items, ({ spec }) => spec.nodeName ?? "-")].map(([node, { length }]) => [node, length]));
}

/** Which machine has how many pods, for a closer look afterwards. */
async function placement(stage: Stage): Promise<string> {
  const counts = await podsByNode(stage);
  const machines = await list(stage, "nodeclaims");
  return machines
    .map(({ metadata: { name, labels = {} }, status }) => {
      const pods = counts.get(status?.nodeName ?? "") ?? 0;
      return `  ${name} ${labels["node.kubernetes.io/instance-type"]} ${labels["topology.kubernetes.io/zone"]}: ${pods} pods`;
    })
    .sort()
    .join("\n");
}

function keep(dir: string, files: readonly string[], texts: Readonly<Record<string, string>>): void {
  mkdirSync(dir, { recursive: true });
  for (const file of files) if (existsSync(file)) copyFileSync(file, join(dir, basename(file)));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(dir, name), `${text}\n`);
}
