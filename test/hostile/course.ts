import { NODE_POOL } from "../../core/model/labels.ts";
import type { ApiObject } from "../../functions/adapters/manifests/api-object.ts";
import { createLab, type Lab } from "../../lab/host.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { alive, MINUTE, OPTIONS, pass, podsOf } from "../support/lab-story.ts";

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

const ORDINARY = { team: "ordinary" };

function ordinary(): readonly ApiObject[] {
  const inflate = deployment(0, { cpu: "1" });
  const { template, ...spec } = inflate.spec as { readonly template: { readonly spec: object } };
  const pool = nodePool([ON_DEMAND, FAMILIES]);
  const { template: claim, ...rest } = pool.spec as { readonly template: object };
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

/** Plays an hour with the ordinary objects, beside others that are applied first. */
export async function courseOf(seed: number, others: readonly ApiObject[] = []): Promise<Course> {
  const lab = createLab({ ...OPTIONS, seed, settings: { nodeOverlay: true } });
  const { world } = lab;
  const thrown: string[] = [];
  const born = new Map<string, { readonly phase: number; readonly at: number; wait: number }>();
  let phase = 0;
  world.onChange(({ kind, object, type }) => {
    if (kind !== "Pod" || object.metadata.namespace !== "default" || type === "DELETED") return;
    const uid = object.metadata.uid ?? "";
    const pod = born.get(uid) ?? { phase, at: world.clock.now(), wait: Number.POSITIVE_INFINITY };
    born.set(uid, pod);
    const { phase: state } = (object.status ?? {}) as { readonly phase?: string };
    if (state === "Running") pod.wait = Math.min(pod.wait, world.clock.now() - pod.at);
  });
  const places: string[] = [];
  try {
    for (const object of others) place(lab, object);
    for (const object of ordinary()) world.apply(object);
    await pass(lab, 65_000);
    for (const { replicas, ms } of PHASES) {
      phase = places.length;
      world.scale("Deployment", "default", "inflate", replicas);
      await pass(lab, ms);
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
      .map(({ message, fields }) => `${message} ${describe(fields)}`),
  );
  const ended = lab.cloud.machines().filter((machine) => isOrdinary(machine) && machine.endedAt !== undefined).length;
  lab.close();
  const waits = PHASES.map((_, i) =>
    [...born.values()]
      .filter((pod) => pod.phase === i)
      .map(({ wait }) => wait)
      .sort((a, b) => a - b),
  );
  return { waits, places, ended, thrown };
}

/** Log lines of what a function threw: functions/adapters/batch.ts and functions/shared/cluster-entry.ts write them. */
const FAILURE = /^(handling a message failed|dropping a message|the scheduled pass failed)/;

function describe(fields: unknown): string {
  const { error } = (fields ?? {}) as { readonly error?: unknown };
  return error instanceof Error ? (error.stack ?? error.message).split("\n").slice(0, 4).join(" ") : JSON.stringify(fields);
}

const isOrdinary = ({ instance }: { readonly instance: { readonly tags: Readonly<Record<string, string>> } }): boolean =>
  instance.tags[NODE_POOL] === "default";

/** Applies an object as its owner, and its status as the controller that lies. */
function place(lab: Lab, object: ApiObject): void {
  lab.world.apply(object);
  const { kind = "", metadata, status } = object;
  if (status === undefined) return;
  lab.world.store.patch(kind, metadata.name, metadata.namespace, { user: "system:node:liar", subresource: "status" }, (found) => ({
    ...found,
    status,
  }));
}
