import type { Kind, Kinds } from "#core/ports/kubernetes.ts";
import { type Keep, pruned } from "./prune.ts";
import { isAtLeast } from "./resource-version.ts";

/** An event of a watch. The object of a BOOKMARK has only a version: all changes up to it have been sent. */
export interface WatchEvent<K extends Kind> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: Kinds[K];
}

/** Which object of a kind. */
interface Identity {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The objects of one list at a resource version. */
export interface KindCache<K extends Kind> {
  /** The resource version up to which all changes are included. */
  readonly version: string;
  readonly size: number;
  /** The object of that name, if the list has it. */
  get(identity: Identity): Kinds[K] | undefined;
  /** A new array, which later changes do not touch; the objects are shared and must not be changed. */
  items(): readonly Kinds[K][];
  /** Applies an event. Returns false for an event that is no newer than the cache, which changes nothing. */
  apply(event: WatchEvent<K>): boolean;
}

/** A cache of a list that was read at `version`. Of watch events it keeps what lists keep. */
export function kindCache<K extends Kind>(kind: K, listed: readonly Kinds[K][], version: string, keep: Keep = pruned): KindCache<K> {
  const objects = new Map(listed.map((object) => [keyOf(object.metadata), object]));
  let known = version;
  return {
    get version() {
      return known;
    },
    get size() {
      return objects.size;
    },
    get: (identity) => objects.get(keyOf(identity)),
    items: () => [...objects.values()],
    apply({ type, object }) {
      const { resourceVersion } = object.metadata;
      // Sent again after the watch was opened again.
      if (resourceVersion === undefined || isAtLeast(known, resourceVersion)) return false;
      if (type === "DELETED") objects.delete(keyOf(object.metadata));
      else if (type !== "BOOKMARK") objects.set(keyOf(object.metadata), keep(kind, object));
      known = resourceVersion;
      return true;
    },
  };
}

const keyOf = ({ name, namespace = "" }: Identity): string => `${namespace}/${name}`;
