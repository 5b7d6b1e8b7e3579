import { LruMap } from "../../core/lib/lru-map.ts";
import type { InstanceType } from "../../core/model/instance-type.ts";
import type { NodeOverlay } from "../../core/model/node-overlay.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import { applyOverlays, type Overlaid } from "../../core/node-overlay/apply.ts";

/** Results that a warm function remembers: they come and go with marks of unavailable offerings, of which there are a few at a time. */
const MAX_REMEMBERED_RESULTS = 4;

const known = new LruMap<string, Overlaid>(MAX_REMEMBERED_RESULTS);
const numbers = new WeakMap<readonly InstanceType[], number>();
let lists = 0;

/**
 * `applyOverlays`, worked out once for as long as overlays, pools and lists of types stay the same, so that the same lists are given out each time and what
 * is derived from them can be kept too. Changes of objects that do not matter (a status, an annotation) do not count.
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

/** The same list has the same number; another list, though it looks alike, has another. */
function numberOf(types: readonly InstanceType[]): number {
  const number = numbers.get(types) ?? lists++;
  numbers.set(types, number);
  return number;
}
