import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "#core/lib/json.ts";
import { nearest } from "#core/lib/nearest.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { PodDisruptionBudget } from "#core/model/workloads.ts";
import { listed } from "#core/scheduling/reasons/words.ts";
import { InputError } from "#terminal/input-error.ts";

/** The definitions of a cluster while the parts of a change request are applied to them, one after another. */
export interface ChangeDraft {
  readonly pools: Map<string, NodePool>;
  readonly classes: Map<string, EC2NodeClass>;
  readonly overlays: Map<string, NodeOverlay>;
  readonly budgets: Map<string, PodDisruptionBudget>;
  readonly deleted: string[];
  readonly texts: string[];
  readonly warnings: string[];
}

/**
 * Puts an object in the place of the one of that name, and records the difference. An object with the same spec changes
 * nothing.
 */
export function put<T extends { readonly metadata: { readonly name: string }; readonly spec: unknown }>(
  objects: Map<string, T>,
  object: T,
  kind: string,
  { texts }: ChangeDraft,
): void {
  const { name } = object.metadata;
  const old = objects.get(name);
  if (old !== undefined && isDeepStrictEqual(plain(old.spec), plain(object.spec))) return;
  objects.set(name, object);
  texts.push(old === undefined ? `${kind} ${name} is new` : `${kind} ${name}: ${differences(old.spec, object.spec)}`);
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The first few fields that differ: "spec.disruption.consolidateAfter 30s (was 0s), …". */
function differences(old: unknown, given: unknown): string {
  const found: string[] = [];
  const compare = (a: unknown, b: unknown, path: string): void => {
    if (isDeepStrictEqual(a, b)) return;
    if (isJsonObject(a) && isJsonObject(b))
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) compare(ownValue(a, key), ownValue(b, key), `${path}.${key}`);
    else found.push(`${path} ${shown(b)} (was ${shown(a)})`);
  };
  compare(plain(old), plain(given), "spec");
  return listed(found, 4);
}

function shown(value: unknown): string {
  if (value === undefined) return "not set";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The NodePool of that name. Throws InputError that suggests the nearest name. */
export function poolNamed(name: string, { pools }: ChangeDraft): NodePool {
  const pool = pools.get(name);
  if (pool === undefined) throw unknown("NodePool", name, pools.keys());
  return pool;
}

/** The error for a name that does not exist: it suggests the nearest name, or lists the first ten. */
export function unknown(what: string, name: string, names: Iterable<string>): InputError {
  const all = [...names].sort();
  const near = nearest(name, all);
  if (near !== undefined) return new InputError(`there is no ${what} ${name}; did you mean ${near}?`);
  return new InputError(`there is no ${what} ${name}; there is ${all.length === 0 ? "none at all" : listed(all, 10)}`);
}
