import { NODE_POOL } from "../model/labels.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import type { Plan } from "../model/plan.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey } from "../pods/predicates.ts";
import { solve } from "../scheduling/solve.ts";
import { type Bill, billOf } from "./bill.ts";
import { applyChange, type Change, type Changed, type DriftedNode } from "./change.ts";
import { type Course, type RehearsalOptions, rehearse } from "./rehearse.ts";

/** What a cluster comes to when it is left to itself. */
export interface Outcome {
  readonly course: Course;
  readonly bill: Bill;
}

/** What a change does. */
export interface ChangedOutcome extends Outcome {
  /** Nodes that the change makes drift. */
  readonly drifted: readonly DriftedNode[];
  /** "namespace/name" to why the pod, which runs on a node that the change touches or deletes, would find no place elsewhere. */
  readonly stranded: Plan["podErrors"];
}

export interface WhatIf {
  readonly today: Bill;
  readonly unchanged: Outcome;
  /** Absent when nothing is changed. */
  readonly changed?: ChangedOutcome;
}

/**
 * Answers "what would this change do to my nodes and my bill": the cluster today, what it comes to as it is, and what it comes to with the change. The two are
 * compared with each other, since what is saved anyway is not the change's doing.
 */
export function whatIf(
  before: Snapshot,
  nodeClasses: readonly EC2NodeClass[],
  change: Change | undefined,
  options: RehearsalOptions,
): WhatIf {
  const unchanged = outcomeOf(before, options);
  const today = billOf(before);
  if (change === undefined) return { today, unchanged };
  const changed = applyChange(before, nodeClasses, change);
  const stranded = strandedPods(changed, change.deletedPools ?? [], options.provision ?? solve);
  return { today, unchanged, changed: { ...outcomeOf(changed.snapshot, options), drifted: changed.drifted, stranded } };
}

function outcomeOf(start: Snapshot, options: RehearsalOptions): Outcome {
  const course = rehearse(start, options);
  return { course, bill: billOf(course.end) };
}

/** Asks the scheduler where the pods of all nodes that must go would run, all at once. */
function strandedPods(
  { snapshot, drifted }: Changed,
  deletedPools: readonly string[],
  provision: (snapshot: Snapshot) => Plan,
): Plan["podErrors"] {
  const deleted = new Set(deletedPools);
  const ofDeleted = snapshot.nodeClaims.filter(({ metadata }) => deleted.has(metadata.labels?.[NODE_POOL] ?? ""));
  const going = new Set([...drifted.map(({ nodeClaim }) => nodeClaim), ...ofDeleted.map(({ metadata }) => metadata.name)]);
  if (going.size === 0) return {};
  const { podErrors } = provision({ ...snapshot, disrupting: new Set([...snapshot.disrupting, ...going]) });
  const running = new Set(snapshot.pods.filter(({ spec }) => spec.nodeName).map(podKey));
  return Object.fromEntries(Object.entries(podErrors).filter(([pod]) => running.has(pod)));
}

/** What the cluster would cost if all nodes of its pools were planned anew for the pods that there are: the least that rules of disruption could lead to. */
export function fromScratch(
  snapshot: Snapshot,
  provision: (snapshot: Snapshot) => Plan = solve,
): { readonly nodes: number; readonly pricePerHour: number } {
  const { newNodeClaims } = provision({ ...snapshot, disrupting: new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name)) });
  return { nodes: newNodeClaims.length, pricePerHour: newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0) };
}
