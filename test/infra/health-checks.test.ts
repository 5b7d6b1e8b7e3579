import { readFileSync } from "node:fs";
import { evaluate } from "@marcbachmann/cel-js";
import { lauxlib, lua, lualib, to_luastring } from "fengari";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Condition } from "#core/model/kubernetes.ts";

/** The health checks of docs/recipes.md, as Argo CD (Lua) and Flux (CEL) run them. */
const read = (name: string): unknown => parse(readFileSync(`docs/examples/health-checks/${name}.yaml`, "utf8"), { merge: true });

const argo = (read("argo-cd") as { readonly data: Readonly<Record<string, string>> }).data;
const flux = (
  read("flux") as {
    readonly spec: { readonly healthCheckExprs: readonly Record<"kind" | "failed" | "inProgress" | "current", string>[] };
  }
).spec.healthCheckExprs;

interface Checked {
  readonly metadata: { readonly generation: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** What a script of Argo CD says of an object, which it has as the variable `obj`. */
function healthByLua(script: string, object: Checked): { readonly status: string; readonly message: string } {
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const code = `local obj = ${luaOf(object)}\nlocal function health()\n${script}\nend\nlocal hs = health()\nreturn hs.status, hs.message`;
  const failed = lauxlib.luaL_dostring(state, to_luastring(code));
  if (failed) throw new Error(lua.lua_tojsstring(state, -1));
  return { status: lua.lua_tojsstring(state, -2), message: lua.lua_tojsstring(state, -1) };
}

/** A value as a literal of Lua; a field that JSON lacks is nil. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(luaOf).join(", ")} }`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `[${JSON.stringify(key)}] = ${luaOf(item)}`)
    .join(", ")} }`;
}

/** What Flux makes of an object: the first expression that holds, in its order. */
function healthByCel({ failed, inProgress, current }: (typeof flux)[number], object: Checked): string {
  // Flux gives integers, and this library reads numbers of JSON as doubles.
  const whole = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, item) => (typeof item === "number" ? BigInt(item) : item));
  const holds = (expression: string): boolean => evaluate(expression, whole(object) as Record<string, unknown>) === true;
  return holds(inProgress) ? "Progressing" : holds(failed) ? "Degraded" : holds(current) ? "Healthy" : "Progressing";
}

const condition = (type: string, status: Condition["status"], observedGeneration = 2, message = ""): Condition => ({
  ...{ type, status, reason: type, message, observedGeneration },
});
const of = (...conditions: readonly Condition[]): Checked => ({ metadata: { generation: 2 }, status: { conditions } });
const DRIFT = "3 of 10 NodeClaims have drifted: AMIDrift 3";

describe.for([
  {
    name: "that is Ready and followed by all NodeClaims",
    object: of(condition("Drifted", "False"), condition("Ready", "True")),
    want: "Healthy",
  },
  {
    name: "that is being rolled out",
    object: of(condition("Drifted", "True", 2, DRIFT), condition("Ready", "True")),
    want: "Progressing",
    message: DRIFT,
  },
  {
    name: "that is not Ready",
    object: of(condition("Drifted", "False"), condition("Ready", "False", 2, "NodeClassReady=False")),
    want: "Degraded",
    message: "NodeClassReady=False",
  },
  {
    name: "whose status is older than its change",
    object: of(condition("Drifted", "False", 1), condition("Ready", "True", 1)),
    want: "Progressing",
  },
  {
    name: "whose drift is older than its change",
    object: of(condition("Drifted", "False", 1), condition("Ready", "True")),
    want: "Progressing",
  },
  { name: "whose readiness is not known", object: of(condition("Drifted", "False"), condition("Ready", "Unknown")), want: "Progressing" },
  { name: "of Karpenter, which has no condition Drifted", object: of(condition("Ready", "True")), want: "Progressing" },
])("an object $name", ({ object, want, message }) => {
  it.for(["karpenter.sh_NodePool", "karpenter.k8s.aws_EC2NodeClass"])("is told so by Argo CD's script of %s", (kind) => {
    const health = healthByLua(argo[`resource.customizations.health.${kind}`] ?? "", object);
    expect(health.status).toBe(want);
    if (message !== undefined) expect(health.message).toBe(message);
  });

  it.for(flux)("is told so by Flux's expressions of $kind", (check) => {
    expect(healthByCel(check, object)).toBe(want);
  });
});

it("an object without a status is waited for by Argo CD", () => {
  for (const script of Object.values(argo)) expect(healthByLua(script, { metadata: { generation: 1 } }).status).toBe("Progressing");
});

it("docs/recipes.md includes both", () => {
  const page = readFileSync("docs/recipes.md", "utf8");
  for (const name of ["argo-cd", "flux"]) expect(page).toContain(`\n<<< ./examples/health-checks/${name}.yaml\n`);
});
