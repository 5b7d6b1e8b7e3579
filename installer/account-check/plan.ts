// What account-check would do and cost, before anything is asked of AWS.
// In: whether there is a subnet for machines. Out: the steps, the machines and the most that they cost.

import { MACHINE_STEPS } from "./machine-steps.ts";
import { STACK_STEPS } from "./stack-steps.ts";
import type { Machines, Step } from "./step.ts";

/** In the order in which they run. */
export const STEPS: readonly Step[] = [...STACK_STEPS, ...MACHINE_STEPS];

/** Removing all of it, and looking a minute for machines that EC2 lists late. */
const CLEANING_MINUTES = 5;
/** Lambda, SQS, DynamoDB and CloudFormation of one run, USD: some 200 requests and invocations. */
const REQUESTS_USD = 0.01;

interface CheckPlan {
  readonly steps: readonly Step[];
  /** Steps that launch machines, left out for want of a subnet. */
  readonly leftOut: readonly Step[];
  readonly machines: readonly Machines[];
  readonly minutes: number;
  /** The most that it costs, USD. */
  readonly dollars: number;
}

export function planOf(subnet: string | undefined): CheckPlan {
  const launches = ({ machines, needs }: Step): boolean => machines !== undefined || needs === "machine";
  const steps = STEPS.filter((step) => subnet !== undefined || !launches(step));
  const machines = steps.flatMap((step) => step.machines ?? []);
  const dollars = machines.reduce((sum, { count, minutes, pricePerHour }) => sum + (count * minutes * pricePerHour) / 60, REQUESTS_USD);
  return {
    ...{ steps, leftOut: STEPS.filter((step) => !steps.includes(step)), machines },
    minutes: steps.reduce((sum, step) => sum + step.minutes, CLEANING_MINUTES),
    dollars: Math.ceil(dollars * 100) / 100,
  };
}

/** The plan for a person, who then says yes or no. */
export function planLines({ steps, leftOut, machines, minutes, dollars }: CheckPlan, where: string): readonly string[] {
  return [
    `account-check in ${where}: at most ${minutes} minutes and $${dollars.toFixed(2)}`,
    ...machines.map(
      ({ type, count, minutes: each, pricePerHour }) =>
        `at most ${count} machines ${type} × ${each} min × $${pricePerHour} an hour = $${((count * each * pricePerHour) / 60).toFixed(4)}`,
    ),
    ...steps.flatMap(({ name, question, makes, calls }) => [
      `${name}: ${question}`,
      ...(makes.length > 0 ? [`  makes ${makes.join(", ")}`] : []),
      `  calls ${calls.join(", ")}`,
    ]),
    ...leftOut.map(({ name }) => `${name}: left out, because it launches a machine; give --subnet SUBNET-ID`),
    "All of it is removed at the end, and by: karpenter-serverless account-check --clean",
  ];
}
