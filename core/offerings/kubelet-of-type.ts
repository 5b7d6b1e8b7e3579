import { CelError } from "../cel/tokens.ts";
import { listed } from "../lib/listed.ts";
import type { EC2NodeClassSpec, KubeletConfiguration } from "../model/node-class.ts";
import { amiFamilyOf, FAMILIES } from "../node-class/family.ts";
import {
  type CelVariables,
  celVariables,
  compileKubeletExpression,
  type Evaluate,
  expressionsOf,
  RESERVED_FIELDS,
  reservedQuantity,
  withoutExpressions,
} from "../node-class/kubelet-expressions.ts";
import { podLimit } from "./capacity.ts";
import type { CatalogueType } from "./catalogue.ts";

const MAX_INT32 = 2n ** 31n - 1n;

/** The kubelet settings of one instance type: all values are numbers and quantities. */
export interface KubeletOfType {
  readonly kubelet?: KubeletConfiguration;
  /** Why no node of the type can be launched. */
  readonly problem?: string;
}

/**
 * The kubelet settings of each instance type. maxPods is evaluated first, with the default limit as `max_pods`; then
 * the reservations, with the limit that it gives
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, DefaultResolver.Resolve).
 */
export function kubeletOfTypes(spec: EC2NodeClassSpec, reservedEnis: number): (type: CatalogueType) => KubeletOfType {
  const { kubelet } = spec;
  const expressions = expressionsOf(kubelet);
  if (kubelet === undefined || expressions.length === 0) return () => ({ ...(kubelet && { kubelet }) });
  const fixed = withoutExpressions(kubelet);
  const evaluate = evaluator(new Map(expressions));
  return (type) => {
    try {
      return { kubelet: resolved(kubelet, fixed, (own) => variablesOf(type, { ...spec, kubelet: own }, reservedEnis), evaluate) };
    } catch (error) {
      if (error instanceof CelError || error instanceof RangeError) return { kubelet: fixed, problem: error.message };
      throw error;
    }
  };
}

/**
 * What an EC2NodeClass says of the types that its expressions have no value for: the first problem with its types, and
 * how many other types there are. Undefined when there is none.
 */
export function kubeletFailures(
  spec: EC2NodeClassSpec,
  types: readonly CatalogueType[],
  reservedEnis: number,
): KubeletFailures | undefined {
  if (expressionsOf(spec.kubelet).length === 0) return undefined;
  const of = kubeletOfTypes(spec, reservedEnis);
  const failed = types.flatMap(({ name }, i) => {
    const { problem } = of(types[i] as CatalogueType);
    return problem === undefined ? [] : [{ name, problem }];
  });
  if (failed.length === 0) return undefined;
  const byProblem = [...Map.groupBy(failed, ({ problem }) => problem)].map(
    ([problem, of]) =>
      `${problem}: ${listed(
        of.map(({ name }) => name),
        5,
      )}`,
  );
  const shown = byProblem.length > 3 ? [...byProblem.slice(0, 3), `${byProblem.length - 3} more problems`] : byProblem;
  return { all: failed.length === types.length, message: `no node is launched of types without a value: ${shown.join("; ")}` };
}

interface KubeletFailures {
  /** Whether no type is left. */
  readonly all: boolean;
  readonly message: string;
}

/** The value of the expression of a field, undefined when it has none. Throws CelError that says which one failed. */
type EvaluateField = (path: string, variables: () => CelVariables) => bigint | undefined;

function evaluator(expressions: ReadonlyMap<string, string>): EvaluateField {
  const compiled = new Map<string, Evaluate>();
  return (path, variables) => {
    const text = expressions.get(path);
    if (text === undefined) return undefined;
    const failure = (why: string): CelError => new CelError(`${path} (${text.slice(0, 60)}): ${why}`);
    let value: bigint;
    try {
      const run = compiled.get(text) ?? compileKubeletExpression(text);
      compiled.set(text, run);
      value = run(variables());
    } catch (error) {
      if (error instanceof CelError || error instanceof RangeError) throw failure(error.message);
      throw error;
    }
    if (value < 0n) throw failure("the value is negative");
    return value;
  };
}

function resolved(
  kubelet: KubeletConfiguration,
  fixed: KubeletConfiguration,
  variablesFor: (kubelet: KubeletConfiguration) => CelVariables,
  evaluate: EvaluateField,
): KubeletConfiguration {
  const made: { -readonly [Field in keyof KubeletConfiguration]: KubeletConfiguration[Field] } = { ...fixed };
  const maxPods = evaluate("spec.kubelet.maxPods", () => variablesFor(fixed));
  if (maxPods !== undefined && maxPods > MAX_INT32) {
    throw new CelError(`spec.kubelet.maxPods (${String(kubelet.maxPods).slice(0, 60)}): the value has more than 32 bits`);
  }
  if (maxPods !== undefined) made.maxPods = Number(maxPods);
  let variables: CelVariables | undefined;
  const present = (): CelVariables => {
    variables ??= variablesFor(made);
    return variables;
  };
  for (const field of RESERVED_FIELDS) {
    const reserved = kubelet[field];
    if (reserved === undefined) continue;
    const entries = Object.entries(reserved).map(([resource, amount]) => {
      const value = evaluate(`spec.kubelet.${field}[${resource}]`, present);
      return [resource, value === undefined ? amount : reservedQuantity(resource, value)] as const;
    });
    made[field] = Object.fromEntries(entries);
  }
  return made;
}

function variablesOf(type: CatalogueType, spec: EC2NodeClassSpec, reservedEnis: number): CelVariables {
  return celVariables({
    vcpus: type.cpu,
    memory_mib: type.memoryMib,
    default_enis: type.enis,
    ips_per_eni: type.ipv4PerEni,
    max_pods: podLimit(type, spec, FAMILIES[amiFamilyOf(spec)], reservedEnis),
    instance_type: type.name,
  });
}
