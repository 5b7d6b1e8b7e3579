import { nextHit, parseCron } from "../lib/cron.ts";
import type { Budget } from "../model/node-pool.ts";
import { durationProblems } from "./durations.ts";
import { together, type Verdict } from "./verdict.ts";

/** A day that never comes is none from any moment on. */
const ANY_TIME = 0;

/**
 * Schedules that the schema's pattern cannot tell from cron expressions. Unrefused, such a budget would let no node go at all, and say so only in
 * the log (nodepool.md §4).
 */
export function reviewBudgets(budgets: readonly Budget[] = []): Verdict {
  return together(...budgets.map((budget, i) => reviewBudget(budget, `spec.disruption.budgets[${i}]`)));
}

function reviewBudget({ schedule, duration }: Budget, where: string): Verdict {
  const problems = durationProblems({ [`${where}.duration`]: duration });
  if (schedule === undefined) return { problems, warnings: [] };
  const cron = parseCron(schedule);
  if (cron === undefined) {
    const said = `${where}.schedule: "${schedule}" is no cron expression; write minute, hour, day of month, month and weekday (UTC), or @daily and the like`;
    return { problems: [...problems, said], warnings: [] };
  }
  const warnings = nextHit(cron, ANY_TIME) === undefined ? [`${where}.schedule: "${schedule}" names a day that never comes`] : [];
  return { problems, warnings };
}
