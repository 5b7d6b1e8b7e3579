import { namespace, priorityClass } from "./cluster.ts";
import type { Draw } from "./fields.ts";
import { nodeClaim, nodeClass, nodeOverlay, nodePool } from "./karpenter.ts";
import { node } from "./nodes.ts";
import { daemonSet, disruptionBudget, pod } from "./pods.ts";
import { persistentVolume, storageClass, volumeClaim } from "./volumes.ts";

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
];
const DRAWS = KINDS.flatMap(([weight, draw]) => Array<Draw>(weight).fill(draw)) as [Draw, ...Draw[]];

/** The i-th object of a seed. */
export const drawObject: Draw = (random, i) => random.pick(DRAWS)(random, i);
