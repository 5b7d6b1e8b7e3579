import type { Random } from "#lab/world/random.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { capacityBuffer, podTemplate } from "./buffers.ts";
import { namespace, priorityClass } from "./cluster.ts";
import type { Draw } from "./fields.ts";
import { nodeClaim, nodeClass, nodeOverlay, nodePool } from "./karpenter.ts";
import { node } from "./nodes.ts";
import { daemonSet, disruptionBudget, pod } from "./pods.ts";
import { shared } from "./share.ts";
import { csiNode, persistentVolume, storageClass, volumeClaim } from "./volumes.ts";

/** Kinds by how often they are drawn. */
const KINDS: readonly [readonly [number, Draw], ...(readonly [number, Draw])[]] = [
  [8, pod],
  [4, nodePool],
  [3, nodeClass],
  [3, nodeClaim],
  [4, node],
  [3, disruptionBudget],
  [2, persistentVolume],
  [2, volumeClaim],
  [2, storageClass],
  [1, priorityClass],
  [1, namespace],
  [2, daemonSet],
  [1, nodeOverlay],
  [1, podTemplate],
  [2, capacityBuffer],
  [1, csiNode],
];
const DRAWS = KINDS.flatMap(([weight, draw]) => Array<Draw>(weight).fill(draw)) as [Draw, ...Draw[]];

/** An object of the tenant, and when and how it comes and goes. */
export interface Hostile {
  readonly object: ApiObject;
  /** In which part of the hour it is placed, from 0. */
  readonly part: number;
  /** Whether its deletion is requested as soon as it is there: with a finalizer, it stays with a deletionTimestamp. */
  readonly isDeleted: boolean;
  /** When it goes: after one sweep of each function, when the next part begins, or never. */
  readonly life: "sweep" | "part" | "hour";
  /** Whether it may name an ordinary node or its machine. */
  readonly sharing: boolean;
}

/**
 * Most live for a short time, so that an hour holds many and no plan many at once: each pass reads all that stay, which
 * takes most of the time.
 */
const LIVES: readonly [Hostile["life"], ...Hostile["life"][]] = ["hour", "part", ...Array<Hostile["life"]>(16).fill("sweep")];

/** Keeps an object that is deleted. */
export const FINALIZER = "hostile.example/keep";

/** The i-th object of a seed. `sharing`: tenants and ordinary pods may share nodes. */
export function drawObject(random: Random, i: number, { part, sharing }: { readonly part: number; readonly sharing: boolean }): Hostile {
  const drawn = random.pick(DRAWS)(random, i);
  const { metadata, ...rest } = sharing ? shared(drawn, random) : drawn;
  const isKept = random.next() < 0.1;
  const object = { ...rest, metadata: { ...metadata, ...(isKept && { finalizers: [FINALIZER] }) } };
  return { object, part, isDeleted: isKept || random.next() < 0.02, life: random.pick(LIVES), sharing };
}
