// What-if answers "what would this change do to my nodes and my bill". In come a snapshot and a change of definitions;
// out come the bill and the course of disruption with and without the change. The cluster is only simulated: this room
// knows no clients and no clock, and every decision is made by the same core functions that the Lambda functions call.

import { NODE_POOL } from "../../model/labels.ts";
import type { EC2NodeClass } from "../../model/node-class.ts";
import type { Plan } from "../../model/plan.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podKey } from "../../pods/predicates.ts";
import { solve } from "../../scheduling/solve.ts";
import { type Bill, billOf } from "./bill.ts";
import { applyChange, type Change, type Changed, type DriftedNode } from "./change.ts";
import { type Course, type Progress, type RehearsalOptions, rehearse } from "./rehearse.ts";

/** The simulated end state of a cluster, and its bill. */
export interface WhatIfOutcome {
  readonly course: Course;
  readonly bill: Bill;
}

/** The same for the cluster with the change. */
export interface ChangedOutcome extends WhatIfOutcome {
  /** Nodes that drift because of the change. */
  readonly drifted: readonly DriftedNode[];
  /**
   * Pods on nodes that drift or whose NodePool is deleted: "namespace/name" to why the pod would not schedule
   * elsewhere.
   */
  readonly stranded: Plan["podErrors"];
}

/** What the CLI command what-if prints. */
export interface WhatIf {
  /** The bill of the cluster as it is now. */
  readonly today: Bill;
  readonly unchanged: WhatIfOutcome;
  /** Undefined when no change is given. */
  readonly changed?: ChangedOutcome;
}

/**
 * Simulates the cluster without and with the change, each until nothing is left to do. The two results are to be
 * compared with each other and not with today's bill, because consolidation may save money without the change too.
 *
 *     whatIf(snapshot, nodeClasses, { nodePools: [changed] }, { settings }).changed?.bill.pricePerHour;
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
  const { onProgress } = options;
  const ofChanged = { ...options, ...(onProgress && { onProgress: (progress: Progress) => onProgress({ ...progress, isChanged: true }) }) };
  return { today, unchanged, changed: { ...outcomeOf(changed.snapshot, ofChanged), drifted: changed.drifted, stranded } };
}

function outcomeOf(start: Snapshot, options: RehearsalOptions): WhatIfOutcome {
  const course = rehearse(start, options);
  return { course, bill: billOf(course.end) };
}

/** Schedules the pods of all nodes that the change removes, together; returns those that do not schedule. */
function strandedPods(
  { snapshot, drifted }: Changed,
  deletedPools: readonly string[],
  provision: (snapshot: Snapshot) => Plan,
): Plan["podErrors"] {
  const deleted = new Set(deletedPools);
  const ofDeleted = snapshot.nodeClaims.filter(({ metadata }) => deleted.has(metadata.labels?.[NODE_POOL] ?? ""));
  const removed = new Set([...drifted.map(({ nodeClaim }) => nodeClaim), ...ofDeleted.map(({ metadata }) => metadata.name)]);
  if (removed.size === 0) return {};
  const { podErrors } = provision({ ...snapshot, disrupting: new Set([...snapshot.disrupting, ...removed]) });
  const running = new Set(snapshot.pods.filter(({ spec }) => spec.nodeName).map(podKey));
  return Object.fromEntries(Object.entries(podErrors).filter(([pod]) => running.has(pod)));
}

/**
 * Nodes and USD per hour of the cluster when all nodes of its NodePools are planned again for the existing pods: a
 * bound for what disruption could reach.
 */
export function fromScratch(
  snapshot: Snapshot,
  provision: (snapshot: Snapshot) => Plan = solve,
): { readonly nodes: number; readonly pricePerHour: number } {
  const { newNodeClaims } = provision({ ...snapshot, disrupting: new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name)) });
  return { nodes: newNodeClaims.length, pricePerHour: newNodeClaims.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0) };
}
