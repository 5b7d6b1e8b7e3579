import { LruMap } from "#core/lib/lru-map.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { applyOverlays, type Overlaid } from "#core/node-overlay/apply.ts";

/**
 * How many results a warm function remembers. They change with the unavailable offerings, of which there are a few sets
 * at a time. No benchmark has tuned it.
 */
const MAX_REMEMBERED_RESULTS = 4;

const known = new LruMap<string, Overlaid>(MAX_REMEMBERED_RESULTS);
const numbers = new WeakMap<readonly InstanceType[], number>();
let lists = 0;

/**
 * `applyOverlays`, remembered for as long as the NodeOverlays, the NodePools and the lists of instance types stay the
 * same, so that the same list objects are returned and callers can cache by their identity. Changes that do not matter
 * (a status, an annotation) leave the remembered result valid.
 */
export function overlaidTypes(
  overlays: readonly NodeOverlay[],
  nodePools: readonly NodePool[],
  instanceTypes: ReadonlyMap<string, readonly InstanceType[]>,
): Overlaid {
  const key = JSON.stringify([
    overlays.map(({ metadata, spec }) => [metadata.name, spec]),
    nodePools.map(({ metadata, spec }) => [metadata.name, spec.template.metadata?.labels]),
    [...instanceTypes].map(([pool, types]) => [pool, numberOf(types)]),
  ]);
  const result = known.get(key) ?? applyOverlays(overlays, nodePools, instanceTypes);
  known.set(key, result);
  return result;
}

/** A number per list object: an equal copy of a list has another number. */
function numberOf(types: readonly InstanceType[]): number {
  const number = numbers.get(types) ?? lists++;
  numbers.set(types, number);
  return number;
}
