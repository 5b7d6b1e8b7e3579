import type { Lab } from "#lab/host.ts";
import type { MutableObject } from "#lab/world/store.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { FINALIZER, type Hostile } from "./draw/draw.ts";
import { OWN_UID, TENANT_NAMESPACE, VICTIM_ID, VICTIM_NODE } from "./draw/fields.ts";
import { ORDINARY } from "./draw/share.ts";

/** How hostile objects come and go in the lab. */

/** Applies an object as its owner, its status as a controller that lies, and requests its deletion. */
export function place(lab: Lab, { object, isDeleted, sharing }: Hostile): void {
  const { world } = lab;
  const { kind = "", status, ...own } = sharing ? atVictim(lab, object) : object;
  // The API server creates no second object of a name; many fields of what exists could not be changed either.
  if (world.store.get(kind, own.metadata.name, own.metadata.namespace) !== undefined) return;
  const made = world.apply({ ...own, kind });
  const { name, namespace } = made.metadata;
  const patch = (change: (found: MutableObject) => MutableObject, subresource?: "status"): void => {
    world.store.patch(kind, name, namespace, { user: LIAR, ...(subresource && { subresource }) }, change);
  };
  if (made.metadata.ownerReferences?.some(({ uid }) => uid === OWN_UID))
    patch((found) => replaced(found, [[OWN_UID, made.metadata.uid ?? ""]]));
  if (status !== undefined) patch((found) => ({ ...found, status }), "status");
  if (isDeleted) world.delete(kind, name, namespace);
}

const LIAR = "system:node:liar";

/** Ends an object: nothing keeps it any more, and its owner deletes it. */
export function remove({ world }: Lab, { kind = "", metadata: { name, namespace = TENANT_NAMESPACE } }: ApiObject): void {
  const found = world.store.get(kind, name, namespace);
  if (found === undefined) return;
  if (found.metadata.deletionTimestamp === undefined) world.delete(kind, name, namespace);
  const left = world.store.get(kind, name, namespace);
  const { finalizers = [] } = left?.metadata ?? {};
  if (left === undefined || !finalizers.includes(FINALIZER)) return;
  world.store.update(
    { ...left, metadata: { ...left.metadata, finalizers: finalizers.filter((one) => one !== FINALIZER) } },
    { user: LIAR },
  );
}

/** The object with the names of one of the ordinary nodes, while there is one. */
function atVictim({ world }: Lab, object: ApiObject): ApiObject {
  const text = JSON.stringify(object);
  if (!text.includes(VICTIM_NODE) && !text.includes(VICTIM_ID)) return object;
  const nodes = world.store
    .list("Node")
    .filter(({ metadata }) => metadata.labels?.["team"] === ORDINARY.team && isRegistered(metadata.labels));
  const victim = nodes[text.length % Math.max(1, nodes.length)];
  if (victim === undefined) return object;
  const { providerID = VICTIM_ID } = victim.spec as { readonly providerID?: string };
  return replaced(object, [
    [VICTIM_NODE, victim.metadata.name],
    [VICTIM_ID, providerID],
  ]);
}

const isRegistered = (labels: Readonly<Record<string, string>>): boolean => labels["karpenter.sh/registered"] === "true";

function replaced<T>(object: T, texts: readonly (readonly [from: string, to: string])[]): T {
  return JSON.parse(texts.reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(object))) as T;
}
