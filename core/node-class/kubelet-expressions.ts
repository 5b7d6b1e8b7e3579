import { compileExpression } from "../cel/compile.ts";
import { CelError } from "../cel/tokens.ts";
import type { Type, Value } from "../cel/types.ts";
import { isJsonObject, mapAt } from "../lib/json.ts";
import type { KubeletConfiguration } from "../model/node-class.ts";
import { amountProblem, parseQuantity } from "../model/quantity.ts";

/** The maps whose values are quantities or expressions. */
export const RESERVED_FIELDS = ["kubeReserved", "systemReserved"] as const;

/**
 * What an expression in spec.kubelet may name, as EC2 states it for the instance type; `max_pods` is the limit that
 * follows from maxPods, else the default (karpenter-provider-aws: pkg/cel/environment.go, InstanceTypeVars).
 */
interface TypeVariables {
  readonly vcpus: number;
  readonly memory_mib: number;
  readonly default_enis: number;
  readonly ips_per_eni: number;
  readonly max_pods: number;
  readonly instance_type: string;
}

const VARIABLES: ReadonlyMap<string, Type> = new Map<string, Type>([
  ...["vcpus", "memory_mib", "default_enis", "ips_per_eni", "max_pods"].map((name) => [name, "int"] as const),
  ["instance_type", "string"],
]);

/** Whether a reservation is an expression: Kubernetes cannot read it as a quantity. */
export const isExpression = (reserved: string): boolean => amountProblem(() => parseQuantity(reserved)) !== undefined;

/** The expressions of some kubelet settings, by the path of their field. */
export function expressionsOf(kubelet: unknown): readonly (readonly [path: string, text: string])[] {
  if (!isJsonObject(kubelet)) return [];
  const { maxPods } = kubelet;
  const reserved = RESERVED_FIELDS.flatMap((field) =>
    Object.entries(mapAt(kubelet, [field])).flatMap(([resource, text]) =>
      typeof text === "string" && isExpression(text) ? [[`spec.kubelet.${field}[${resource}]`, text] as const] : [],
    ),
  );
  return typeof maxPods === "string" ? [["spec.kubelet.maxPods", maxPods], ...reserved] : reserved;
}

/** The value of an expression, a whole number of 64 bits. Throws CelError, or RangeError when it takes too long. */
export type Evaluate = (variables: CelVariables) => bigint;

/** Reads an expression and checks its types. Throws CelError. */
export function compileKubeletExpression(text: string): Evaluate {
  const { type, evaluate } = compileExpression(text, VARIABLES);
  if (type !== "int" && type !== "double") throw new CelError("it must give an int or a double");
  return (variables) => whole(evaluate(variables));
}

/** Variables as the expressions of one instance type read them. */
export type CelVariables = ReadonlyMap<string, Value>;

export const celVariables = (variables: TypeVariables): CelVariables =>
  new Map(
    Object.entries(variables).map(([name, value]: [string, number | string]) => [name, typeof value === "number" ? BigInt(value) : value]),
  );

/** Go cuts off what follows the point; on the machines that Karpenter runs on, a double of more bits becomes -2^63. */
function whole(value: Value): bigint {
  if (typeof value !== "number") return value as bigint;
  if (!Number.isFinite(value)) throw new CelError(`it gives ${value}`);
  const cut = BigInt(Math.trunc(value));
  return BigInt.asIntN(64, cut) === cut ? cut : -(2n ** 63n);
}

/** Why expressions cannot be read, one sentence for each. */
export function expressionProblems(kubelet: unknown): readonly string[] {
  return expressionsOf(kubelet).flatMap(([path, text]) => {
    try {
      compileKubeletExpression(text);
      return [];
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const what = path.endsWith("]") ? "neither a quantity nor an expression" : "not an expression";
      return [`${path}: ${JSON.stringify(text.slice(0, 60))} is ${what}: ${error.message}`];
    }
  });
}

const CPU_STEP = 10n;
const MEMORY_STEP = 16n;

/**
 * The quantity that the value of an expression means: milli-CPU rounded up to 10, MiB of memory rounded up to 16,
 * GiB of ephemeral storage, or a count
 * (karpenter-provider-aws: pkg/cel/environment.go, formatResourceResult).
 */
export function reservedQuantity(resource: string, value: bigint): string {
  switch (resource) {
    case "cpu":
      return `${roundedUp(value, CPU_STEP)}m`;
    case "memory":
      return `${roundedUp(value, MEMORY_STEP)}Mi`;
    case "ephemeral-storage":
      return `${value}Gi`;
    default:
      return String(value);
  }
}

/** A value near 2^63 stays as it is, because the next multiple has more bits. */
function roundedUp(value: bigint, step: bigint): bigint {
  const over = value % step;
  return over === 0n || value > 2n ** 63n - 1n - step ? value : value - over + step;
}

/** The settings without their expressions: what holds where these have no value. */
export function withoutExpressions(kubelet: KubeletConfiguration): KubeletConfiguration {
  const { maxPods, ...rest } = kubelet;
  const fixed = Object.fromEntries(
    RESERVED_FIELDS.flatMap((field) => {
      const entries = Object.entries(kubelet[field] ?? {}).filter(([, text]) => !isExpression(String(text)));
      return kubelet[field] === undefined ? [] : [[field, Object.fromEntries(entries)] as const];
    }),
  );
  return { ...rest, ...fixed, ...(typeof maxPods === "number" && { maxPods }) };
}
