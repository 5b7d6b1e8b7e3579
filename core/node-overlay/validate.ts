import type { NodeOverlay } from "../model/node-overlay.ts";
import { parseQuantity } from "../model/quantity.ts";
import { isQualifiedName, requirementProblem } from "../requirements/validation.ts";
import { PRICE, PRICE_ADJUSTMENT } from "./price.ts";

/** The resources that every instance type has of its own; no overlay may set them. */
const OWN_RESOURCES = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

/**
 * All problems of one overlay by itself, one sentence each. The CRD rejects most of them, but an object may be older
 * than the CRD or come from a scenario.
 */
export function nodeOverlayProblems({ spec }: Pick<NodeOverlay, "spec">): readonly string[] {
  // No other rule can be read without them.
  if (!Array.isArray(spec?.requirements)) return ["spec.requirements is no list; write the requirements that instance types must meet"];
  return [...requirementProblems(spec), ...priceProblems(spec), ...capacityProblems(spec), ...weightProblems(spec)];
}

function requirementProblems({ requirements }: NodeOverlay["spec"]): readonly string[] {
  const where = "spec.requirements:";
  return requirements.flatMap(({ key, operator, values = [] }) => {
    const problems: string[] = [];
    const problem = requirementProblem({ key, operator, values });
    if (problem !== undefined) problems.push(`${where} ${problem}`);
    if (operator === "NotIn" && values.length === 0)
      problems.push(`${where} key ${key} with operator NotIn must list at least one value; to require the label alone, use Exists`);
    return problems;
  });
}

function priceProblems({ price, priceAdjustment }: NodeOverlay["spec"]): readonly string[] {
  const problems: string[] = [];
  if (price !== undefined && priceAdjustment !== undefined)
    problems.push("spec.price and spec.priceAdjustment exclude each other; leave one of them out");
  if (price !== undefined && !PRICE.test(price)) problems.push(`spec.price "${price}" is not a price; write USD per hour, such as "0.12"`);
  if (priceAdjustment !== undefined && !PRICE_ADJUSTMENT.test(priceAdjustment)) {
    problems.push(
      `spec.priceAdjustment "${priceAdjustment}" is not an adjustment; write a signed amount or percentage, such as "-0.5" or "+10%", at least "-100%"`,
    );
  }
  return problems;
}

function capacityProblems({ capacity = {} }: NodeOverlay["spec"]): readonly string[] {
  return Object.entries(capacity).flatMap(([name, quantity]) => {
    if (OWN_RESOURCES.has(name)) return [`spec.capacity: ${name} is what the instance type says; only extended resources can be added`];
    if (!isQualifiedName(name)) return [`spec.capacity: "${name}" is not a resource's name; write one such as example.com/device`];
    return isAmount(quantity) ? [] : [`spec.capacity: ${name} has "${quantity}"; write an amount of 0 or more, such as "4"`];
  });
}

function isAmount(quantity: string | number): boolean {
  try {
    return parseQuantity(quantity) >= 0;
  } catch {
    return false;
  }
}

function weightProblems({ weight }: NodeOverlay["spec"]): readonly string[] {
  if (weight === undefined || (Number.isInteger(weight) && weight >= 1 && weight <= 10_000)) return [];
  return [`spec.weight ${weight} is not a weight; write a whole number from 1 to 10000, or leave it out`];
}
