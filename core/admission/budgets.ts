import { nextHit, parseCron } from "../lib/cron.ts";
import type { Budget } from "../model/node-pool.ts";
import { durationProblems } from "./durations.ts";
import { type AdmissionVerdict, together } from "./verdict.ts";

/** A day that never occurs does not occur after any moment. */
const ANY_TIME = 0;

/**
 * Problems of schedules that match the schema's pattern and are not cron expressions. Without this check, such a budget
 * would allow no disruption at all, and only the log would say so.
 */
export function reviewBudgets(budgets: readonly Budget[] = []): AdmissionVerdict {
  return together(...budgets.map((budget, i) => reviewBudget(budget, `spec.disruption.budgets[${i}]`)));
}

function reviewBudget({ schedule, duration }: Budget, where: string): AdmissionVerdict {
  const problems = durationProblems({ [`${where}.duration`]: duration });
  if (schedule === undefined) return { problems, warnings: [] };
  const cron = parseCron(schedule);
  if (cron === undefined) {
    const problem = `${where}.schedule: "${schedule}" is no cron expression; write minute, hour, day of month, month and weekday (UTC), or @daily and the like`;
    return { problems: [...problems, problem], warnings: [] };
  }
  const warnings = nextHit(cron, ANY_TIME) === undefined ? [`${where}.schedule: "${schedule}" names a day that never occurs`] : [];
  return { problems, warnings };
}
