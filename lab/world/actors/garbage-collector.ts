import type { ApiObject } from "#manifests/api-object.ts";
import type { LabWorld } from "../world.ts";

const USER = { user: "system:serviceaccount:kube-system:generic-garbage-collector" };
const DELAY_MS = 200;

/**
 * Background deletion: an object whose owners are all gone is deleted too, also when it was created after its owner was
 * deleted.
 */
export function startGarbageCollector(world: LabWorld): void {
  const { store, clock } = world;
  const check = (object: ApiObject): void => {
    const now = store.byUid(object.metadata.uid ?? "");
    const owners = now?.metadata.ownerReferences ?? [];
    if (!now || owners.length === 0 || owners.some((o) => store.byUid(o.uid))) return;
    store.delete(now.kind ?? "", now.metadata.name, { namespace: now.metadata.namespace, uid: now.metadata.uid }, USER);
  };
  world.onChange(({ type, object }) => {
    if (type === "DELETED") {
      clock.after(DELAY_MS, `garbage collector ${object.metadata.name}`, () => {
        for (const kind of store.kinds()) {
          for (const candidate of store.list(kind)) {
            if (candidate.metadata.ownerReferences?.some((o) => o.uid === object.metadata.uid)) check(candidate);
          }
        }
      });
    } else if (type === "ADDED" && object.metadata.ownerReferences?.some((o) => !store.byUid(o.uid))) {
      clock.after(DELAY_MS, `garbage collector ${object.metadata.name}`, () => check(object));
    }
  });
}
