import type { Trace } from "#core/insight/observed/trace.ts";
import type { Settings } from "#functions/shared/cluster-deps.ts";
import { createLab, type Lab } from "#lab/host.ts";
import { recordLab } from "#lab/replay/replay.ts";
import { DEFAULT_POOL } from "#lab/stories.ts";
import { RUN_SECONDS } from "#lab/world/actors/kubelet.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { loadManifests } from "#manifests/read.ts";

const START = Date.parse("2026-11-23T08:00:00Z");
const MINUTE_MS = 60_000;

export interface Course {
  readonly minutes: number;
  readonly objects: readonly ApiObject[];
  /** What users do, at a minute. */
  readonly acts: readonly (readonly [minute: number, act: (lab: Lab) => void])[];
}

/** Plays a course in a lab as the cluster that is observed. It has come to rest when the trace begins. */
export async function observedLab(
  { minutes, objects, acts }: Course,
  {
    seed = 7,
    everyMs = 15_000,
    settings = {},
  }: { readonly seed?: number; readonly everyMs?: number; readonly settings?: Partial<Settings> } = {},
): Promise<{ readonly trace: Trace; readonly lab: Lab }> {
  const lab = createLab({ seed, start: START, region: "us-west-2", world: "aws", ec2: {}, sources: ["notify"], settings });
  const { clock } = lab.world;
  for (const { object } of loadManifests([DEFAULT_POOL], { CLUSTER_NAME: lab.world.cluster })) lab.world.apply(object);
  for (const object of objects) lab.world.apply(object);
  const from = START + 30 * MINUTE_MS;
  for (const [minute, act] of acts) clock.at(from + minute * MINUTE_MS, "a user", () => act(lab));
  const entries = await recordLab(lab, { from, to: from + minutes * MINUTE_MS, everyMs });
  const header = { trace: 1, cluster: "prod", region: "us-west-2", everyMs, autoscaler: "Karpenter", unread: [] } as const;
  return { trace: { header, entries }, lab };
}

const containers = (cpu: string, memory: string) => [{ name: "main", resources: { requests: { cpu, memory } } }];

export function deployment(name: string, replicas: number, cpu: string, memory: string): ApiObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: containers(cpu, memory) } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "shop" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

export function job(name: string, pods: number, seconds: number, cpu: string): ApiObject {
  const metadata = { annotations: { [RUN_SECONDS]: String(seconds) } };
  const template = { metadata, spec: { containers: containers(cpu, "512Mi") } };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "batch" },
    spec: { completions: pods, parallelism: pods, template },
  };
}
