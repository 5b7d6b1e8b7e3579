import { FUNCTIONS, type Overload } from "./functions.ts";
import { compileMacro, decided, isMacro } from "./macros.ts";
import { type Node, parse } from "./parse.ts";
import { CelError } from "./tokens.ts";
import { type Compiled, equal, type Scope, type Type, typeName, unified, type Value } from "./types.ts";

/** The longest expression that is read, characters. */
const MAX_EXPRESSION = 4096;
/** Items that the macros of one evaluation may look at. */
const MAX_STEPS = 10_000;

/** An expression with its type. Throws CelError when it cannot be read, or its types do not fit. */
export function compileExpression(
  text: string,
  variables: Scope,
): { readonly type: Type; evaluate(values: ReadonlyMap<string, Value>): Value } {
  if (text.length > MAX_EXPRESSION) throw new CelError(`it has ${text.length} characters; at most ${MAX_EXPRESSION} are read`);
  const { type, run } = compile(parse(text), variables);
  return { type, evaluate: (values) => run({ values, steps: { left: MAX_STEPS } }) };
}

function compile(node: Node, scope: Scope): Compiled {
  switch (node.kind) {
    case "literal":
      return { type: node.type, run: () => node.value };
    case "ident": {
      const { name } = node;
      const type = scope.get(name);
      if (type === undefined) throw new CelError(`there is no variable ${name}; there are ${[...scope.keys()].join(", ")}`);
      return { type, run: ({ values }) => values.get(name) as Value };
    }
    case "select":
      return select(node, scope);
    case "list": {
      const items = node.items.map((item) => compile(item, scope));
      return { type: { list: common(items, "a list") }, run: (env) => items.map(({ run }) => run(env)) };
    }
    case "map": {
      const keys = node.entries.map(([key]) => compile(key, scope));
      const held = node.entries.map(([, value]) => compile(value, scope));
      const type: Type = { map: [common(keys, "the keys of a map"), common(held, "the values of a map")] };
      return { type, run: (env) => new Map(keys.map(({ run }, i) => [run(env), (held[i] as Compiled).run(env)])) };
    }
    case "call":
      return isMacro(node) ? compileMacro(node, scope, compile) : call(node, scope);
  }
}

function common(items: readonly Compiled[], where: string): Type {
  return items.reduce<Type>((type, item) => {
    const both = unified(type, item.type);
    if (both === undefined) throw new CelError(`${where} has items of one type, not ${typeName(type)} and ${typeName(item.type)}`);
    return both;
  }, "any");
}

function select({ operand, field }: Extract<Node, { kind: "select" }>, scope: Scope): Compiled {
  const { type, run } = compile(operand, scope);
  if (typeof type === "string" || !("map" in type)) throw new CelError(`${typeName(type)} has no field ${field}`);
  return { type: type.map[1], run: (env) => at(run(env) as ReadonlyMap<Value, Value>, field) };
}

function at(map: ReadonlyMap<Value, Value>, key: Value): Value {
  const value = map.get(key);
  if (value === undefined) throw new CelError(`the map has no key ${String(key)}`);
  return value;
}

function call({ name, target, args }: Extract<Node, { kind: "call" }>, scope: Scope): Compiled {
  const given = (target === undefined ? args : [target, ...args]).map((arg) => compile(arg, scope));
  const special = target === undefined ? specialCall(name, given) : undefined;
  if (special !== undefined) return special;
  const key = target === undefined ? name : `.${name}`;
  const overloads: readonly Overload[] = Object.hasOwn(FUNCTIONS, key) ? (FUNCTIONS[key] ?? []) : [];
  const fitting = overloads.find(
    ({ args: types }) => types.length === given.length && given.every((arg, i) => takes(types[i] as Type, arg.type)),
  );
  const types = given.map(({ type }) => typeName(type));
  if (fitting === undefined) {
    throw new CelError(overloads.length === 0 ? `there is no function ${name}` : `${shownCall(name)} does not take (${types.join(", ")})`);
  }
  const run = fitting.run as (...values: Value[]) => Value;
  const [first, second] = given as [Compiled, Compiled | undefined];
  return {
    type: typeof fitting.result !== "string" ? common(given, "a sum of lists") : fitting.result,
    run: second === undefined ? (env) => run(first.run(env)) : (env) => run(first.run(env), second.run(env)),
  };
}

const takes = (wanted: Type, given: Type): boolean => {
  const both = unified(wanted, given);
  return both !== undefined && (typeof wanted !== "string" || wanted !== "any");
};

const shownCall = (name: string): string => (/^_.+_$|_$/.test(name) ? name.replaceAll("_", "") : `${name}()`);

/** Operators whose operands may have any type, and those that do not look at all of them. */
function specialCall(name: string, given: readonly Compiled[]): Compiled | undefined {
  const [a, b, c] = given as [Compiled, Compiled, Compiled];
  switch (name) {
    case "_&&_":
    case "_||_":
      return logical(name, a, b);
    case "_?_:_": {
      expectBool(a, "?");
      const type = common([b, c], "a choice");
      return { type, run: (env) => (a.run(env) === true ? b.run(env) : c.run(env)) };
    }
    case "_==_":
    case "_!=_": {
      common([a, b], `a comparison by ${name.replaceAll("_", "")}`);
      const isEqual = name === "_==_";
      return { type: "bool", run: (env) => equal(a.run(env), b.run(env)) === isEqual };
    }
    case "_in_":
      return membership(a, b);
    case "_[_]":
      return indexed(a, b);
    default:
      return undefined;
  }
}

function expectBool({ type }: Compiled, sign: string): void {
  if (unified(type, "bool") === undefined) throw new CelError(`${sign} takes bool, not ${typeName(type)}`);
}

/** The order does not matter: an error counts only where the other side does not decide. */
function logical(name: string, a: Compiled, b: Compiled): Compiled {
  const sign = name.replaceAll("_", "");
  expectBool(a, sign);
  expectBool(b, sign);
  const decides = name === "_||_";
  return { type: "bool", run: (env) => decided([() => a.run(env), () => b.run(env)], decides) };
}

function membership(item: Compiled, container: Compiled): Compiled {
  const { type } = container;
  const held = typeof type === "string" ? undefined : "list" in type ? type.list : type.map[0];
  if (held === undefined || unified(held, item.type) === undefined) {
    throw new CelError(`in does not take (${typeName(item.type)}, ${typeName(type)})`);
  }
  return {
    type: "bool",
    run: (env) => {
      const wanted = item.run(env);
      const values = container.run(env) as readonly Value[] | ReadonlyMap<Value, Value>;
      return values instanceof Map ? values.has(wanted) : (values as readonly Value[]).some((value) => equal(value, wanted));
    },
  };
}

function indexed(container: Compiled, index: Compiled): Compiled {
  const { type } = container;
  const map = typeof type !== "string" && "map" in type ? type.map : undefined;
  const list = typeof type !== "string" && "list" in type ? type.list : undefined;
  if (unified(map?.[0] ?? (list && "int") ?? "null", index.type) === undefined || (map ?? list) === undefined) {
    throw new CelError(`${typeName(type)} has no index of type ${typeName(index.type)}`);
  }
  if (map !== undefined) return { type: map[1], run: (env) => at(container.run(env) as ReadonlyMap<Value, Value>, index.run(env)) };
  return {
    type: list ?? "any",
    run: (env) => {
      const values = container.run(env) as readonly Value[];
      const place = Number(index.run(env));
      if (place < 0 || place >= values.length) throw new CelError(`the list has no item ${place}`);
      return values[place] as Value;
    },
  };
}
