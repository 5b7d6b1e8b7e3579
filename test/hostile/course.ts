import { parseDuration } from "#core/lib/duration.ts";
import { NODE_POOL } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { createLab, type Lab } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { alive, MINUTE, OPTIONS, pass, podsOf } from "../support/lab-story.ts";
import type { Hostile } from "./draw/draw.ts";
import { ORDINARY } from "./draw/share.ts";
import { place, remove } from "./place.ts";

/** What ordinary pods got in an hour, and what was thrown. */
export interface Course {
  /**
   * For each phase, in its order of size: how long each new pod waited until it ran, ms; infinite when it never ran.
   */
  readonly waits: readonly (readonly number[])[];
  /** At the end of each phase: how many pods ran, on which machines. */
  readonly places: readonly string[];
  /** Machines of the ordinary NodePool that have ended. */
  readonly ended: number;
  /** NodeClaims of the ordinary NodePool that another than consolidation has ended, and the reason. */
  readonly lost: readonly string[];
  /** NodeClaims that were ended as empty while a pod of an ordinary workload had been running on their node. */
  readonly emptied: readonly string[];
  /** The most NodeClaims that were planned for one pod. */
  readonly plansPerPod: number;
  /** What a function threw, or an actor of the lab. */
  readonly thrown: readonly string[];
}

/**
 * Replicas of the ordinary Deployment, and how long each phase lasts: growth, growth on nodes that are there,
 * shrinking.
 */
const PHASES = [
  { replicas: 5, ms: 15 * MINUTE },
  { replicas: 9, ms: 15 * MINUTE },
  { replicas: 2, ms: 30 * MINUTE },
] as const;

function ordinary(): readonly ApiObject[] {
  const inflate = deployment(0, { cpu: "1" });
  const { template, ...spec } = inflate.spec as { readonly template: { readonly spec: object } };
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  // Without limits, which tenants that share the NodePool would use up lawfully.
  const { template: claim, limits: _, ...rest } = pool.spec as { readonly template: object; readonly limits: object };
  return [
    NODE_CLASS,
    { ...pool, spec: { ...rest, template: { metadata: { labels: ORDINARY }, ...claim } } },
    { ...inflate, spec: { ...spec, template: { ...template, spec: { ...template.spec, nodeSelector: ORDINARY } } } },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "inflate", namespace: "default" },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: "inflate" } } },
    },
  ];
}

/** After this time each function has swept. */
const SWEPT_MS = 65_000;
/** The parts of the hour: at the beginning of each, hostile objects come and those of the part before go. */
export const PARTS = 12;
const PART_MS = PHASES.reduce((sum, { ms }) => sum + ms, 0) / PARTS;

/** Plays an hour with the ordinary objects, beside others that come and go. */
export async function courseOf(seed: number, others: readonly Hostile[] = []): Promise<Course> {
  const seen = recorder((node) => runsOrdinary(lab, node));
  const lab: Lab = createLab({ ...OPTIONS, seed, settings: { nodeOverlay: true, capacityBuffer: true }, hooks: { before: seen.before } });
  const { world } = lab;
  const thrown: string[] = [];
  const born = new Map<string, { readonly phase: number; readonly at: number; wait: number; until?: number }>();
  let phase = 0;
  world.onChange(({ kind, object, type }) => {
    if (kind !== "Pod" || object.metadata.namespace !== "default") return;
    const uid = object.metadata.uid ?? "";
    const pod = born.get(uid) ?? { phase, at: world.clock.now(), wait: Number.POSITIVE_INFINITY };
    born.set(uid, pod);
    if (type === "DELETED") pod.until = world.clock.now();
    const { phase: state } = (object.status ?? {}) as { readonly phase?: string };
    if (state === "Running") pod.wait = Math.min(pod.wait, world.clock.now() - pod.at);
  });
  const places: string[] = [];
  try {
    const leave = (part: number, life: Hostile["life"]): void => {
      for (const one of others) if (one.part === part && one.life === life) remove(lab, one.object);
    };
    const enter = (part: number): void => {
      leave(part - 1, "part");
      for (const one of others) if (one.part === part) place(lab, one);
    };
    enter(0);
    for (const object of ordinary()) world.apply(object);
    await pass(lab, SWEPT_MS);
    let part = 0;
    for (const { replicas, ms } of PHASES) {
      phase = places.length;
      for (let left = ms; left > 0; left -= PART_MS) {
        if (part > 0) enter(part);
        if (left === ms) world.scale("Deployment", "default", "inflate", replicas);
        await pass(lab, SWEPT_MS);
        leave(part, "sweep");
        await pass(lab, PART_MS - SWEPT_MS);
        part++;
      }
      const running = podsOf(lab).filter(({ metadata, status }) => metadata.namespace === "default" && status?.phase === "Running");
      const machines = alive(lab)
        .filter(isOrdinary)
        .map(({ instance }) => instance.instanceType);
      places.push(`${running.length} pods on ${machines.sort().join(", ")}`);
    }
  } catch (error) {
    thrown.push(`the lab: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  thrown.push(
    ...lab.log
      .filter(({ level, message }) => level === "error" && FAILURE.test(message))
      .map(({ message, fields }) => `${message} ${failureText(fields)}`),
  );
  const ended = lab.cloud.machines().filter((machine) => isOrdinary(machine) && machine.endedAt !== undefined).length;
  const end = world.clock.now();
  lab.close();
  const waits = PHASES.map((_, i) =>
    [...born.values()]
      .filter((pod) => pod.phase === i && (pod.wait < Number.POSITIVE_INFINITY || (pod.until ?? end) - pod.at > SHORT_LIFE_MS))
      .map(({ wait }) => wait)
      .sort((a, b) => a - b),
  );
  return { waits, places, ended, lost: seen.lost(), emptied: seen.emptied, plansPerPod: seen.plansPerPod(), thrown };
}

/** A pod that has run for so long was seen by any decision about its node, ms. */
const SEEN_MS = MINUTE;

function runsOrdinary({ world }: Lab, node: string): boolean {
  const { store, clock } = world;
  return (store.list("Pod") as unknown as readonly Pod[]).some(
    ({ metadata, spec, status }) =>
      metadata.namespace === "default" &&
      spec.nodeName === node &&
      metadata.deletionTimestamp === undefined &&
      clock.now() - Date.parse(status?.startTime ?? "") > SEEN_MS,
  );
}

/** What the records of intent say: why NodeClaims ended, and for which pods they were made. */
function recorder(runsPods: (node: string) => boolean) {
  const ends = new Map<string, string>();
  const emptied: string[] = [];
  const plans = new Map<string, Set<string>>();
  return {
    before({ port, method, args }: PortCall): undefined {
      if (port !== "store") return;
      if (method === "update") {
        const { name, nodePool, nodeName, terminating } = args[0] as NodeClaimRecord;
        if (nodePool !== "default" || terminating === undefined) return;
        if (!ends.has(name) && terminating.reason === "empty" && runsPods(nodeName ?? "")) emptied.push(name);
        ends.set(name, terminating.reason);
      }
      if (method !== "writeIntents") return;
      for (const { name, podUids, manifest } of args[1] as readonly NodeClaimRecord[])
        for (const uid of isShortLived(manifest) ? [] : podUids) plans.set(uid, (plans.get(uid) ?? new Set()).add(name));
    },
    emptied,
    lost: (): readonly string[] =>
      [...ends].filter(([, reason]) => !CONSOLIDATION.has(reason)).map(([name, reason]) => `${name}: ${reason}`),
    plansPerPod: (): number => Math.max(0, ...[...plans.values()].map(({ size }) => size)),
  };
}

/** Whether the owner of the NodePool asks for nodes that expire within a part, and so for new ones again and again. */
const isShortLived = ({ spec: { expireAfter = "720h" } }: NodeClaim): boolean =>
  (parseDuration(expireAfter) ?? Number.POSITIVE_INFINITY) < PART_MS;

/** Reasons of records that consolidation ends. */
const CONSOLIDATION = new Set(["underutilized", "empty"]);

/** Log lines of what a function threw: adapters/lambda/batch.ts and functions/shared/cluster-entry.ts write them. */
export const FAILURE = /^(handling a message failed|dropping a message|(the|a) scheduled pass failed)/;

/** What such a line says was thrown. */
export function failureText(fields: unknown): string {
  const { error } = (fields ?? {}) as { readonly error?: unknown };
  return error instanceof Error ? (error.stack ?? error.message).split("\n").slice(0, 4).join(" ") : JSON.stringify(fields);
}

/** A pod that ends sooner without having run has waited for nothing yet: another pod took its place. */
const SHORT_LIFE_MS = 2 * MINUTE;

const isOrdinary = ({ instance }: { readonly instance: { readonly tags: Readonly<Record<string, string>> } }): boolean =>
  instance.tags[NODE_POOL] === "default";
