import { generations } from "#core/passes/definitions.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/** Longer lists are remembered by the informer, which proves them for each decision. */
const MAX_OBJECTS = 500;

/** PodDisruptionBudgets say which pods of a leaving node are planned for now, so they are not among them. */
const KINDS = ["NodePool", "EC2NodeClass", "DaemonSet"] as const satisfies readonly Kind[];
type Definition = (typeof KINDS)[number];

/** The lists that may be remembered: of each kind, those of our own objects and those of every owner. */
const LISTS = KINDS.flatMap((kind) => ([false, true] as const).map((everyOwner) => ({ kind, everyOwner, key: keyOf(kind, everyOwner) })));

function keyOf(kind: Definition, everyOwner: boolean): string {
  return `${kind}/${everyOwner}`;
}

/**
 * The port with lists of definitions that this process may have read a moment ago. Several decisions a minute follow
 * each other while pods and nodes come and go, and definitions seldom change. A decision that a changed
 * definition has caused, or that cannot be undone, reads them again; a plan that buys asks whether they have changed
 * (`haveDefinitionsChanged`).
 * @param maxAgeMs how old they may be; at 0 they are read again
 */
export function withRecentDefinitions<K extends Pick<Kubernetes, "list">>(
  { kubernetes, memory, now }: Pick<ClusterDeps, "memory" | "now"> & { readonly kubernetes: K },
  maxAgeMs: number,
): K {
  const list: Kubernetes["list"] = async (kind, options = {}) => {
    if (!isDefinition(kind) || options.fieldSelector !== undefined || options.labelSelector !== undefined)
      return kubernetes.list(kind, options);
    const key = keyOf(kind, options.everyOwner === true);
    const at = now();
    const last = memory.recall("definitions", at, { key, maxAgeMs });
    if (last !== undefined) return last.items as readonly Kinds[typeof kind][];
    const items = await kubernetes.list(kind, options);
    if (items.length <= MAX_OBJECTS) memory.keep("definitions", { at, items: items as readonly Kinds[Definition][] }, at, key);
    else memory.forget("definitions", key);
    return items;
  };
  return { ...kubernetes, list };
}

const isDefinition = (kind: Kind): kind is Definition => (KINDS as readonly Kind[]).includes(kind);

/**
 * Whether a definition that was read before `since`, ms since the epoch, is another now: has come, gone, got another
 * spec, or is being deleted. Reads each list that was read earlier once more.
 */
export async function haveDefinitionsChanged(
  { kubernetes, memory, now }: Pick<ClusterDeps, "memory" | "now"> & { readonly kubernetes: Pick<Kubernetes, "list"> },
  since: number,
): Promise<boolean> {
  const at = now();
  const known = LISTS.map((list) => ({ ...list, last: memory.recall("definitions", at, list) }));
  const changed = await Promise.all(
    known.map(async ({ kind, everyOwner, key, last }) => {
      if (last === undefined || last.at >= since) return false;
      const items = await kubernetes.list(kind, everyOwner ? { everyOwner } : {});
      memory.keep("definitions", { at, items }, at, key);
      return generations(items) !== generations(last.items);
    }),
  );
  return changed.includes(true);
}
