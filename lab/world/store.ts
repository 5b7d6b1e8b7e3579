import { ownValue } from "#core/lib/own-value.ts";
import { ConflictError, NotFoundError, RefusedError } from "#core/ports/errors.ts";
import { type ApiObject, frozen, isNamespaced, KINDS, nameOf, same, thawed, timestamp } from "#manifests/api-object.ts";
import { withDefaults } from "#manifests/defaults.ts";
import { admitted } from "./admission.ts";
import { generatedName, graceMs, immutable, podGrace } from "./metadata.ts";
import type { Random } from "./random.ts";

type Verb = "create" | "update" | "delete";

/** A change of an object, reported after it was stored. `user` made the request, as an audit record would show. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly kind: string;
  readonly object: ApiObject;
  readonly old?: ApiObject;
  readonly verb: Verb;
  readonly subresource?: "status" | "binding" | "eviction" | undefined;
  readonly user: string;
}

/** Who writes, and through which subresource. */
interface Writer {
  readonly user: string;
  readonly subresource?: Change["subresource"];
}

interface DeleteOptions {
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/**
 * The storage of the API server with its rules: uid, resourceVersion, generation, finalizers, graceful deletion, status
 * as a subresource. Every object that it returns is frozen. Listeners run within the write and must not write
 * themselves.
 */
export interface ObjectStore {
  get(kind: string, name: string, namespace?: string): ApiObject | undefined;
  list(kind: string): readonly ApiObject[];
  kinds(): readonly string[];
  byUid(uid: string): ApiObject | undefined;
  create(object: ApiObject, writer: Writer): ApiObject;
  /**
   * Replaces an object: with the subresource "status" its status alone, else all but its status. Throws ConflictError
   * when it was changed since it was read, NotFoundError, RefusedError.
   */
  update(object: ApiObject, writer: Writer): ApiObject;
  /**
   * Reads, changes and writes in one step, so that an actor of the world has no conflicts. Undefined when the object
   * does not exist. `change` may change the object in place; through the subresource "status", its status alone.
   */
  patch(
    kind: string,
    name: string,
    namespace: string | undefined,
    writer: Writer,
    change: (o: MutableObject) => MutableObject | undefined,
  ): ApiObject | undefined;
  /** Requests deletion. False when the object does not exist. */
  delete(kind: string, name: string, options: DeleteOptions, writer: Writer): boolean;
  onChange(listener: (change: Change) => void): () => void;
}

/** An object that an actor changes; it may set any field. */
// biome-ignore lint/suspicious/noExplicitAny: actors rewrite plain JSON of many kinds
export type MutableObject = any;

class Store implements ObjectStore {
  readonly #clock: { now(): number; touch(): void };
  readonly #random: Random;
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #uids = new Map<string, ApiObject>();
  readonly #listeners = new Set<(change: Change) => void>();
  #version = 0;

  constructor(clock: { now(): number; touch(): void }, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  get(kind: string, name: string, namespace?: string): ApiObject | undefined {
    return this.#objects.get(kind)?.get(key(kind, name, namespace));
  }

  // Handed on without its store.
  readonly list = (kind: string): readonly ApiObject[] => [...(this.#objects.get(kind)?.values() ?? [])];

  kinds(): readonly string[] {
    return [...this.#objects.keys()];
  }

  byUid(uid: string): ApiObject | undefined {
    return this.#uids.get(uid);
  }

  create(given: ApiObject, writer: Writer): ApiObject {
    const { kind } = given;
    if (kind === undefined) throw new RefusedError("an object without a kind cannot be created; give it a kind");
    const info = ownValue(KINDS, kind);
    const namespace = isNamespaced({ kind, namespace: given.metadata.namespace }) ? (given.metadata.namespace ?? "default") : undefined;
    const isTaken = (name: string): boolean => this.#bucket(kind).has(key(kind, name, namespace));
    const name = given.metadata.name || generatedName(given.metadata, this.#random, isTaken);
    if (isTaken(name)) throw new ConflictError(`${kind} "${name}" already exists`);
    const { namespace: _, resourceVersion: __, deletionTimestamp: ___, ...meta } = given.metadata;
    const { status, ...rest } = given;
    const object: ApiObject = withDefaults(
      {
        ...admitted({ ...rest, metadata: meta }, kind, namespace, this.list),
        ...(info?.status !== true && status !== undefined && { status }),
        apiVersion: given.apiVersion ?? info?.apiVersion ?? "v1",
        kind,
        metadata: {
          ...meta,
          name,
          ...(namespace !== undefined && { namespace }),
          uid: this.#random.uuid(),
          creationTimestamp: timestamp(this.#clock.now()),
          generation: 1,
        },
      },
      { priorityClass: (wanted) => this.get("PriorityClass", wanted) },
    );
    const stored = this.#put(object);
    this.#publish({ type: "ADDED", kind, object: stored, verb: "create", ...writer });
    return stored;
  }

  update(given: ApiObject, writer: Writer): ApiObject {
    const found = this.#current(given);
    if (writer.subresource === "status") return this.#replace(found, { ...found, status: given.status }, writer);
    const { status: _, ...rest } = given;
    return this.#write(found, { ...rest, ...(found.status !== undefined && { status: found.status }) }, writer);
  }

  patch(
    kind: string,
    name: string,
    namespace: string | undefined,
    writer: Writer,
    change: (o: MutableObject) => MutableObject | undefined,
  ): ApiObject | undefined {
    const found = this.get(kind, name, namespace);
    if (!found) return undefined;
    if (writer.subresource === "status") {
      // Whatever else the actor changes would not be stored.
      const changed = change({ ...found, status: thawed(found.status) });
      return changed === undefined ? found : this.#replace(found, { ...found, status: changed.status }, writer);
    }
    const changed = change(thawed(found));
    return changed === undefined ? found : this.#write(found, changed, writer);
  }

  delete(kind: string, name: string, { namespace, uid, gracePeriodSeconds }: DeleteOptions, writer: Writer): boolean {
    const found = this.get(kind, name, namespace);
    if (!found || (uid !== undefined && uid !== found.metadata.uid)) return false;
    const { finalizers = [], deletionTimestamp } = found.metadata;
    const grace = kind === "Pod" ? podGrace(found, gracePeriodSeconds) : 0;
    if (grace === 0 && finalizers.length === 0) {
      this.#drop(found, writer, "delete");
      return true;
    }
    if (deletionTimestamp !== undefined && (kind !== "Pod" || grace >= (found.metadata.deletionGracePeriodSeconds ?? 0))) return true;
    const next: ApiObject = {
      ...found,
      metadata: {
        ...found.metadata,
        generation: (found.metadata.generation ?? 0) + 1,
        deletionTimestamp: timestamp(this.#clock.now() + graceMs(grace)),
        ...(kind === "Pod" && { deletionGracePeriodSeconds: grace }),
      },
    };
    const stored = this.#put(next);
    this.#publish({ type: "MODIFIED", kind, object: stored, old: found, verb: "delete", ...writer });
    return true;
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #bucket(kind: string): Map<string, ApiObject> {
    const found = this.#objects.get(kind) ?? new Map<string, ApiObject>();
    this.#objects.set(kind, found);
    return found;
  }

  #publish(change: Change): void {
    this.#clock.touch();
    for (const listener of this.#listeners) listener(change);
  }

  #put(object: ApiObject): ApiObject {
    const stored = frozen({ ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } });
    this.#bucket(stored.kind ?? "").set(keyOf(stored), stored);
    this.#uids.set(stored.metadata.uid ?? "", stored);
    return stored;
  }

  #drop(object: ApiObject, writer: Writer, verb: Verb): void {
    this.#bucket(object.kind ?? "").delete(keyOf(object));
    this.#uids.delete(object.metadata.uid ?? "");
    this.#version++;
    this.#publish({ type: "DELETED", kind: object.kind ?? "", object, verb, ...writer });
  }

  #current(object: ApiObject): ApiObject {
    const found = this.#bucket(object.kind ?? "").get(keyOf(object));
    if (!found) throw new NotFoundError(`${object.kind} "${nameOf(object)}" not found`);
    const { uid, resourceVersion } = object.metadata;
    if (uid !== undefined && uid !== found.metadata.uid)
      throw new ConflictError(`${object.kind} "${nameOf(object)}" is another one by now`);
    if (resourceVersion !== undefined && resourceVersion !== found.metadata.resourceVersion) {
      throw new ConflictError(`${object.kind} "${nameOf(object)}" has been changed since it was read; read it again`);
    }
    return found;
  }

  /** Stores the result of an update. An object that is being deleted is removed with its last finalizer. */
  #replace(found: ApiObject, next: ApiObject, writer: Writer): ApiObject {
    const ofNoVersion = (object: ApiObject): ApiObject => ({ ...object, metadata: { ...object.metadata, resourceVersion: "" } });
    if (same(ofNoVersion(next), ofNoVersion(found))) return found;
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = next.metadata;
    if (deletionTimestamp !== undefined && finalizers.length === 0 && (found.kind !== "Pod" || deletionGracePeriodSeconds === 0)) {
      const gone = frozen(next);
      this.#drop(gone, writer, "update");
      return gone;
    }
    const stored = this.#put(next);
    this.#publish({ type: "MODIFIED", kind: stored.kind ?? "", object: stored, old: found, verb: "update", ...writer });
    return stored;
  }

  #write(found: ApiObject, given: ApiObject, writer: Writer): ApiObject {
    const bare = { apiVersion: found.apiVersion, kind: found.kind, metadata: 0, status: 0 };
    const next = withDefaults({ ...given, ...kindOf(found) }, { priorityClass: () => undefined });
    const changed = !same({ ...found, ...bare }, { ...next, ...bare });
    if (changed && found.kind === "NodeClaim") {
      throw new RefusedError(`NodeClaim "${found.metadata.name}" is invalid: spec is immutable; delete the claim instead`);
    }
    return this.#replace(found, { ...next, metadata: { ...next.metadata, ...immutable(found, changed) } }, writer);
  }
}

/** An empty store. `random` draws uids and names. */
export const objectStore = (clock: { now(): number; touch(): void }, random: Random): ObjectStore => new Store(clock, random);

const key = (kind: string, name: string, namespace: string | undefined): string =>
  isNamespaced({ kind, namespace }) ? `${namespace ?? "default"}/${name}` : name;
const keyOf = (object: ApiObject): string => key(object.kind ?? "", object.metadata.name, object.metadata.namespace);

function kindOf(found: ApiObject): Pick<ApiObject, "apiVersion" | "kind"> {
  return { ...(found.apiVersion !== undefined && { apiVersion: found.apiVersion }), ...(found.kind !== undefined && { kind: found.kind }) };
}
