import type { Kind, Kinds } from "../../../core/ports/kubernetes.ts";
import { pruned } from "./prune.ts";
import { isAtLeast } from "./resource-version.ts";

/** What a watch says. A BOOKMARK has no object but its version: all changes up to it have been said. */
export interface WatchEvent<K extends Kind> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: Kinds[K];
}

/** The objects of one list, as of a resource version. */
export interface KindCache<K extends Kind> {
  /** All changes up to this one are in. */
  readonly version: string;
  readonly size: number;
  /** A list of its own, which later changes leave alone; the objects are shared and must not be changed. */
  items(): readonly Kinds[K][];
  /** Brings it forward. Says false of an event that is no newer than what is known: it changes nothing. */
  apply(event: WatchEvent<K>): boolean;
}

/** Remembers the items of a list that was read at `version`. Objects that a watch brings are pruned as those of a list are. */
export function kindCache<K extends Kind>(kind: K, listed: readonly Kinds[K][], version: string): KindCache<K> {
  const objects = new Map(listed.map((object) => [keyOf(object), object]));
  let known = version;
  return {
    get version() {
      return known;
    },
    get size() {
      return objects.size;
    },
    items: () => [...objects.values()],
    apply({ type, object }) {
      const { resourceVersion } = object.metadata;
      // Said twice, after a watch was opened anew.
      if (resourceVersion === undefined || isAtLeast(known, resourceVersion)) return false;
      if (type === "DELETED") objects.delete(keyOf(object));
      else if (type !== "BOOKMARK") objects.set(keyOf(object), pruned(kind, object));
      known = resourceVersion;
      return true;
    },
  };
}

const keyOf = ({ metadata }: Kinds[Kind]): string => `${metadata.namespace ?? ""}/${metadata.name}`;
