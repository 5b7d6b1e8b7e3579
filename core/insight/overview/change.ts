import { nodePrice } from "../../disruption/prices/price.ts";
import { CAPACITY_TYPE, INSTANCE_TYPE } from "../../model/labels.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { type NodeView, nodeViews } from "../../scheduling/problem/node-view.ts";
import type { Bill } from "../what-if/bill.ts";
import type { Course } from "../what-if/rehearse.ts";
import type { WhatIf } from "../what-if/what-if.ts";
import { commandSentence } from "./commands.ts";
import { stepText } from "./steps.ts";
import type { BillLine, ChangeOverview, NodeChange } from "./types.ts";

/** What a what-if asked and found. */
interface AnsweredWhatIf {
  readonly texts: readonly string[];
  readonly warnings: readonly string[];
  readonly answer: WhatIf;
}

/** A what-if for people: the bills side by side, each node's fate, the steps. `before` is the cluster as it is. */
export function changeOverview({ texts, warnings, answer }: AnsweredWhatIf, before: Snapshot): ChangeOverview {
  const { today, unchanged, changed } = answer;
  const { course } = changed ?? unchanged;
  const bills: readonly (readonly [string, Bill])[] = [
    ["today", today],
    [changed ? "left alone" : "then", unchanged.bill],
    ...(changed ? [["changed", changed.bill] as const] : []),
  ];
  const left = { ...course.podErrors, ...changed?.stranded };
  return {
    ...{ change: texts, warnings },
    bills: bills.map(([title, { nodes, pricePerHour }]) => ({ title, nodes, perHour: pricePerHour })),
    lines: billLines(bills.map(([, bill]) => bill)),
    nodes: nodeChanges(before, course),
    steps: course.steps.map((step) => ({ at: step.at, text: stepText(step) })),
    outcome: course.outcome,
    ...{ settledAt: course.settledAt, podsMoved: course.podsMoved },
    left: Object.entries(left).map(([pod, text]) => ({ pod, text })),
  };
}

/** The rows of several bills, with 0 where a bill has no such node. */
function billLines(bills: readonly Bill[]): readonly BillLine[] {
  const keyOf = ({ nodePool, instanceType, capacityType }: Bill["rows"][number]): string =>
    [nodePool, instanceType, capacityType].join(" ");
  const byKey = bills.map(({ rows }) => new Map(rows.map((row) => [keyOf(row), row])));
  const all = new Map(bills.flatMap(({ rows }) => rows.map((row) => [keyOf(row), row] as const)));
  return [...all]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { nodePool, instanceType, capacityType }]) => ({
      ...{ nodePool, instanceType, capacityType },
      nodes: byKey.map((rows) => rows.get(key)?.nodes ?? 0),
      perHour: byKey.map((rows) => rows.get(key)?.pricePerHour ?? 0),
    }));
}

/** What becomes of each node of ours from the start to the end of a course; nodes that go come first. */
function nodeChanges(before: Snapshot, { steps, end, last }: Course): readonly NodeChange[] {
  const claimOf = ({ claim, name }: NodeView): string => claim?.metadata.name ?? name;
  const at = new Map<string, { readonly at: number; readonly text: string }>();
  for (const step of steps) {
    if (step.kind !== "disruption") continue;
    const text = commandSentence(step.command);
    for (const { nodeClaim } of step.command.candidates) at.set(nodeClaim, { at: step.at, text });
  }
  const blocked = new Map(last.blocked.map(({ nodeClaim, message }) => [nodeClaim, message]));
  const views = (snapshot: Snapshot) => nodeViews(snapshot).filter(({ nodePool }) => nodePool !== undefined);
  const atEnd = new Set(views(end).map(claimOf));
  const atStart = new Set(views(before).map(claimOf));
  const described = ({ name, nodePool = "", labels }: NodeView, snapshot: Snapshot) => ({
    ...{ node: name, nodePool },
    instanceType: labels[INSTANCE_TYPE] ?? "",
    capacityType: labels[CAPACITY_TYPE] ?? "",
    pricePerHour: nodePrice(labels, snapshot.instanceTypes.get(nodePool) ?? []),
  });
  const changes = [
    ...views(before).map((view): NodeChange => {
      const [known, removal] = [described(view, before), at.get(claimOf(view))];
      if (!atEnd.has(claimOf(view)))
        return {
          ...known,
          change: "goes",
          ...(removal && { at: removal.at }),
          text: removal?.text ?? "its NodePool is deleted, or it was being removed",
        };
      return { ...known, change: "stays", text: blocked.get(claimOf(view)) ?? "" };
    }),
    ...views(end)
      .filter((view) => !atStart.has(claimOf(view)))
      .map((view): NodeChange => ({ ...described(view, end), change: "new", text: blocked.get(claimOf(view)) ?? "" })),
  ];
  const order = { goes: 0, new: 1, stays: 2 };
  return changes.sort((a, b) => order[a.change] - order[b.change] || (a.node < b.node ? -1 : 1));
}
