import { xorshift32 } from "#core/lib/pseudo-random.ts";

type Kind = "int" | "double" | "bool" | "string" | "uint";

const VARIABLES = ["vcpus", "memory_mib", "default_enis", "ips_per_eni", "max_pods"];

/** Expressions of mostly fitting types, the same for a seed in every run. */
export function drawnExpressions(count: number, seed: number): readonly string[] {
  const next = xorshift32(seed);
  const below = (n: number): number => next() % n;
  const one = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const binary = (kind: Kind, depth: number, operators: readonly string[]): string => {
    const text = `${draw(kind, depth)} ${one(operators)} ${draw(kind, depth)}`;
    return below(2) === 0 ? `(${text})` : text;
  };
  const leaf: Readonly<Record<Kind, () => string>> = {
    int: () => (below(3) === 0 ? String(one([0, 1, 2, 3, 10, 16, 110, 1024, -1])) : one(VARIABLES)),
    uint: () => `${below(20)}u`,
    double: () => one(["0.5", "1.5", "0.0", "100.0", "1e3", "-2.25"]),
    bool: () => one(["true", "false"]),
    string: () => one(["instance_type", '"m5.large"', '"m"', '""']),
  };
  const inner: Readonly<Record<Kind, readonly ((depth: number) => string)[]>> = {
    int: [
      (depth) => binary("int", depth, ["+", "-", "*", "/", "%"]),
      (depth) => `${one(["min", "max"])}(${draw("int", depth)}, ${draw("int", depth)})`,
      (depth) => `(${draw("bool", depth)} ? ${draw("int", depth)} : ${draw("int", depth)})`,
      (depth) => `int(${draw(one<Kind>(["double", "int", "uint"]), depth)})`,
      (depth) => `size(${draw("string", depth)})`,
      (depth) => `-${draw("int", depth)}`,
      (depth) => `[${draw("int", depth)}, ${draw("int", depth)}][${below(3)}]`,
    ],
    uint: [(depth) => binary("uint", depth, ["+", "-", "*", "/", "%"]), (depth) => `uint(${draw("int", depth)})`],
    double: [
      (depth) => binary("double", depth, ["+", "-", "*", "/"]),
      (depth) => `double(${draw("int", depth)})`,
      (depth) => `${one(["min", "max"])}(${draw("int", depth)}, ${draw("double", depth)})`,
    ],
    bool: [
      (depth) => binary(one<Kind>(["int", "double", "string", "uint"]), depth, ["<", "<=", ">", ">=", "==", "!="]),
      (depth) => binary("bool", depth, ["&&", "||", "==", "!="]),
      (depth) => `!${draw("bool", depth)}`,
      (depth) => `${draw("string", depth)}.${one(["startsWith", "endsWith", "contains"])}(${draw("string", depth)})`,
      (depth) => `[${draw("int", depth)}, ${draw("int", depth)}].${one(["exists", "all", "exists_one"])}(x, x > ${draw("int", depth)})`,
      (depth) => `${draw("int", depth)} in [${draw("int", depth)}, ${draw("int", depth)}]`,
    ],
    string: [(depth) => binary("string", depth, ["+"]), (depth) => `string(${draw(one<Kind>(["int", "double", "bool"]), depth)})`],
  };
  function draw(kind: Kind, depth: number): string {
    // One in thirty has another type: the checker must find it.
    const wanted = below(30) === 0 ? one<Kind>(["int", "double", "bool", "string", "uint"]) : kind;
    return depth === 0 || below(6) === 0 ? leaf[wanted]() : one(inner[wanted])(depth - 1);
  }
  return Array.from({ length: count }, () => draw(below(4) === 0 ? "double" : "int", 1 + below(4)));
}
