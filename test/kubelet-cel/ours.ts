import { CelError } from "#core/cel/tokens.ts";
import { celVariables, compileKubeletExpression, isExpression, reservedQuantity } from "#core/node-class/kubelet-expressions.ts";
import type { Result, TypeRow } from "./karpenter.ts";

/** What this project makes of an expression, in the form of Karpenter's answer. */
export function ourAnswer(
  expression: string,
  types: readonly TypeRow[],
): { readonly refused?: string; readonly results?: readonly Result[] } {
  try {
    const evaluate = compileKubeletExpression(expression);
    return { results: types.map((row) => resultOf(expression, evaluate, row)) };
  } catch (error) {
    if (error instanceof CelError) return { refused: error.message };
    throw error;
  }
}

function resultOf(text: string, evaluate: ReturnType<typeof compileKubeletExpression>, row: TypeRow): Result {
  const [instance_type, vcpus, memory_mib, default_enis, ips_per_eni, max_pods] = row;
  try {
    const value = evaluate(celVariables({ vcpus, memory_mib, default_enis, ips_per_eni, max_pods, instance_type }));
    const quantity = (resource: string): string => (!isExpression(text) ? text : value < 0n ? "" : reservedQuantity(resource, value));
    return [String(value), quantity("cpu"), quantity("memory"), quantity("ephemeral-storage")];
  } catch (error) {
    if (error instanceof CelError || error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Whether two answers have the same effect: errors count alike, whatever their texts. */
export function agree(theirs: { readonly refused?: string; readonly results?: readonly Result[] }, own: typeof theirs): boolean {
  if (theirs.results === undefined || own.results === undefined) return theirs.results === own.results;
  const [a, b] = [theirs.results, own.results];
  return a.length === b.length && a.every((result, i) => sameResult(result, b[i] as Result));
}

const sameResult = (a: Result, b: Result): boolean =>
  typeof a === "string" || typeof b === "string" ? typeof a === typeof b : a.every((text, i) => text === b[i]);
