import { isManagedClaim, isManagedPool, isOthersNode } from "#core/model/managed.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import { ConflictError, RefusedError } from "#core/ports/errors.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";

declare const border: unique symbol;

/**
 * The port Kubernetes as all functions have it: NodeClaims and NodePools that another controller serves do not exist
 * there, and nothing of another controller can be written. Only `managedObjects` makes one.
 */
export interface ManagedKubernetes extends Kubernetes {
  readonly [border]: true;
}

/** Whether an object belongs to a controller of another NodeClass. Kinds of which each object has no class do not. */
function isOthers(kind: Kind, object: Kinds[Kind]): boolean {
  if (kind === "NodeClaim") return !isManagedClaim(object as NodeClaim);
  if (kind === "NodePool") return !isManagedPool(object as NodePool);
  return kind === "Node" && isOthersNode(object);
}

/** Whether another controller's objects of a kind are hidden. Its nodes are not, because pods have room there. */
const isHidden = (kind: Kind): boolean => kind === "NodeClaim" || kind === "NodePool";

/**
 * The border between what is served here and what another controller serves, such as EKS Auto Mode or a Karpenter with
 * another NodeClass. Reading hides their NodeClaims and NodePools, so that no decision is about one. A write to such an
 * object, or to a node that they launched, throws: it is a mistake in this product, and must not reach them. A
 * NodeClaim whose name another controller has taken is refused like one that breaks its schema, so that its pods are
 * planned again under another name.
 */
export function managedObjects(kubernetes: Kubernetes): ManagedKubernetes {
  const refuse = (kind: Kind, object: Kinds[Kind]): void => {
    if (isOthers(kind, object)) throw new Error(`${kind} ${object.metadata.name} belongs to another controller and must not be written`);
  };
  const managed: Kubernetes = {
    ...kubernetes,
    async get(kind, name, namespace) {
      const found = await kubernetes.get(kind, name, namespace);
      return found !== undefined && isHidden(kind) && isOthers(kind, found) ? undefined : found;
    },
    async list(kind, { everyOwner = false, ...selectors } = {}) {
      const items = await kubernetes.list(kind, selectors);
      if (everyOwner || !isHidden(kind) || !items.some((item) => isOthers(kind, item))) return items;
      return items.filter((item) => !isOthers(kind, item));
    },
    async create(kind, object) {
      refuse(kind, object);
      try {
        return await kubernetes.create(kind, object);
      } catch (error) {
        if (!(error instanceof ConflictError) || !isHidden(kind)) throw error;
        const { name } = object.metadata;
        const present = await kubernetes.get(kind, name);
        if (present === undefined || !isOthers(kind, present)) throw error;
        throw new RefusedError(`another controller has a ${kind} of the name ${name}`, { cause: error });
      }
    },
    async update(kind, object) {
      refuse(kind, object);
      return kubernetes.update(kind, object);
    },
    async updateStatus(kind, object) {
      refuse(kind, object);
      return kubernetes.updateStatus(kind, object);
    },
    async delete(kind, name, { known, ...options } = {}) {
      const uid = known?.metadata.uid ?? options.uid;
      if (isHidden(kind) || kind === "Node") {
        // With the UID as a precondition, what was read is what is deleted.
        const present = known?.metadata.uid === undefined ? await kubernetes.get(kind, name) : known;
        if (present === undefined) return false;
        refuse(kind, present);
      }
      return kubernetes.delete(kind, name, { ...options, ...(uid !== undefined && { uid }) });
    },
  };
  return managed as ManagedKubernetes;
}
