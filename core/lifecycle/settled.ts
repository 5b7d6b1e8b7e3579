import { isTrue } from "../model/conditions.ts";
import { instanceIdOf } from "../model/instance.ts";
import { type Inventory, isAlive } from "./garbage-collection.ts";

/**
 * Whether nothing of a cluster is on its way: each record is that of an initialized NodeClaim with its node, which is
 * Ready, and its instance, and there is nothing else. Only then does no time run out for any of them but the `dueAt` of
 * a record.
 */
export function isSettled({ records, unreadable, claims, nodes, instances }: Inventory): boolean {
  const alive = new Set(instances.filter(isAlive).map(({ id }) => id));
  const ready = new Set(nodes.filter(isSteady).map(({ spec }) => instanceIdOf(spec.providerID)));
  const claimsByName = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  const isAtRest = ({ name, instance, initializedAt, terminating }: Inventory["records"][number]): boolean => {
    const claim = claimsByName.get(name);
    return (
      instance !== undefined &&
      initializedAt !== undefined &&
      terminating === undefined &&
      alive.has(instance.id) &&
      ready.has(instance.id) &&
      claim !== undefined &&
      claim.metadata.deletionTimestamp === undefined
    );
  };
  const counts = new Set([records.length, claims.length, nodes.length, instances.length]);
  return (unreadable?.size ?? 0) === 0 && counts.size === 1 && records.every(isAtRest);
}

/** Ready, not being deleted, and without any other condition that says that something is wrong. */
function isSteady({ metadata, status }: Inventory["nodes"][number]): boolean {
  const isGood = ({ type, status: state }: { readonly type: string; readonly status: string }): boolean =>
    state === (type.endsWith("Ready") ? "True" : "False");
  return metadata.deletionTimestamp === undefined && isTrue(status?.conditions, "Ready") && (status?.conditions ?? []).every(isGood);
}
