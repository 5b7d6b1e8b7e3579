import type { Node } from "./parse.ts";
import { CelError } from "./tokens.ts";
import { type Compiled, type Env, type Scope, type Type, typeName, unified, type Value } from "./types.ts";

type Compile = (node: Node, scope: Scope) => Compiled;
type Call = Extract<Node, { kind: "call" }>;

const COMPREHENSIONS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter"]);

export function isMacro({ name, target, args }: Call): boolean {
  if (target === undefined) return name === "has" && args.length === 1;
  return COMPREHENSIONS.has(name) && (args.length === 2 || (name === "map" && args.length === 3));
}

/** `compile` compiles the parts of the macro. */
export function compileMacro(node: Call, scope: Scope, compile: Compile): Compiled {
  return node.target === undefined ? has(node, scope, compile) : comprehension(node, node.target, scope, compile);
}

function has({ args: [arg] }: Call, scope: Scope, compile: Compile): Compiled {
  if (arg?.kind !== "select") throw new CelError("has() takes a field of a map, as in has(map.field)");
  // The selection checks the types.
  compile(arg, scope);
  const { run } = compile(arg.operand, scope);
  const { field } = arg;
  return { type: "bool", run: (env) => (run(env) as ReadonlyMap<Value, Value>).has(field) };
}

function comprehension({ name, args }: Call, target: Node, scope: Scope, compile: Compile): Compiled {
  const [variable, ...rest] = args;
  if (variable?.kind !== "ident") throw new CelError(`${name}() takes the name of a variable first`);
  const range = compile(target, scope);
  const item = itemType(range.type, name);
  const inner: Scope = new Map([...scope, [variable.name, item]]);
  const [first, second] = rest.map((arg) => compile(arg, inner)) as [Compiled, Compiled | undefined];
  if ((name !== "map" || second !== undefined) && unified(first.type, "bool") === undefined) {
    throw new CelError(`${name}() takes a condition, not ${typeName(first.type)}`);
  }
  const each = (env: Env): readonly ItemEnv[] => {
    const items = itemsOf(range.run(env));
    env.steps.left -= items.length;
    if (env.steps.left < 0) throw new RangeError("it takes too many steps");
    return items.map((value) => withItem(env, variable.name, value));
  };
  return comprehended(name, { item, first, second, each });
}

interface Parts {
  readonly item: Type;
  readonly first: Compiled;
  readonly second: Compiled | undefined;
  /** An environment for each item. */
  readonly each: (env: Env) => readonly ItemEnv[];
}

function comprehended(name: string, { item, first, second, each }: Parts): Compiled {
  const holds = (env: Env): boolean => first.run(env) === true;
  switch (name) {
    case "all":
    case "exists":
      return { type: "bool", run: (env) => decided(stepwise(each(env), first), name === "exists") };
    case "filter":
      return {
        type: { list: item },
        run: (env) =>
          each(env)
            .filter(holds)
            .map((own) => own[ITEM]),
      };
    case "map":
      return second === undefined
        ? { type: { list: first.type }, run: (env) => each(env).map((own) => first.run(own)) }
        : {
            type: { list: second.type },
            run: (env) =>
              each(env)
                .filter(holds)
                .map((own) => second.run(own)),
          };
    default:
      return { type: "bool", run: (env) => each(env).filter(holds).length === 1 };
  }
}

/** Whether any of some conditions is `decides`; the first error, when none is. */
export function decided(conditions: Iterable<() => Value>, decides: boolean): boolean {
  let error: CelError | undefined;
  for (const condition of conditions) {
    try {
      if (condition() === decides) return decides;
    } catch (thrown) {
      if (!(thrown instanceof CelError)) throw thrown;
      error ??= thrown;
    }
  }
  if (error) throw error;
  return !decides;
}

function* stepwise(envs: readonly Env[], condition: Compiled): Iterable<() => Value> {
  for (const env of envs) yield () => condition.run(env);
}

const ITEM = Symbol("item");
interface ItemEnv extends Env {
  readonly [ITEM]: Value;
}

const withItem = ({ values, steps }: Env, name: string, value: Value): ItemEnv => ({
  values: new Map([...values, [name, value]]),
  steps,
  [ITEM]: value,
});

function itemType(type: Type, name: string): Type {
  if (typeof type === "string") throw new CelError(`${name}() takes a list or a map, not ${typeName(type)}`);
  return "list" in type ? type.list : type.map[0];
}

const itemsOf = (value: Value): readonly Value[] => (value instanceof Map ? [...value.keys()] : (value as readonly Value[]));
