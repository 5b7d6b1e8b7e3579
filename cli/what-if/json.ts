import type { WhatIfOutcome } from "#core/insight/what-if/what-if.ts";
import { rfc3339 } from "#core/model/conditions.ts";
import type { Report } from "./report.ts";

/** The complete answer as JSON: prices in USD per hour, times in seconds from the time of the snapshot. */
export function reportJson({ source, now, texts, warnings, answer, fromScratch }: Report): string {
  const { today, unchanged, changed } = answer;
  const json = {
    source,
    now: rfc3339(now),
    change: texts,
    warnings,
    today,
    leftAlone: outcomeJson(unchanged, now),
    ...(changed && { changed: { ...outcomeJson(changed, now), drifted: changed.drifted, stranded: changed.stranded } }),
    ...(fromScratch && { fromScratch }),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

function outcomeJson({ course, bill }: WhatIfOutcome, now: number): Record<string, unknown> {
  const seconds = (ms: number): number => (ms - now) / 1_000;
  return {
    bill,
    outcome: course.outcome,
    settledAfter: seconds(course.settledAt),
    podsMoved: course.podsMoved,
    steps: course.steps.map((step) => {
      if (step.kind === "purchase") return { at: seconds(step.at), kind: step.kind, nodeClaims: step.claims, pods: step.pods };
      const { method, reason, decision, candidates, replacements, savingsPerHour } = step.command;
      const bought = replacements.map(({ nodePool, instanceTypes, pricePerHour, pods }) => ({
        nodePool,
        instanceTypes,
        pricePerHour,
        pods,
      }));
      return { at: seconds(step.at), kind: step.kind, method, reason, decision, candidates, replacements: bought, savings: savingsPerHour };
    }),
    stays: course.last.blocked.map(({ node, nodeClaim, message }) => ({ node, nodeClaim, reason: message })),
    stuck: course.stuck,
    podErrors: course.podErrors,
  };
}
