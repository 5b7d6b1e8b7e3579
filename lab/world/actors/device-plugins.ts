import { ownValue } from "#core/lib/own-value.ts";
import { conditionOf } from "#core/model/conditions.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import { labelsCompatible, requirementsFrom } from "#core/requirements/requirements.ts";
import type { MutableObject } from "../store.ts";
import type { LabWorld } from "../world.ts";
import { isReady, nodesOf } from "./actor.ts";

/**
 * Reports the extended resources of NodeOverlays on nodes whose labels meet their requirements. A NodeOverlay announces
 * resources that a DaemonSet will report, and manifests do not show which DaemonSet does. Resources of an overlay that
 * is refused are never reported; resources that a node reports already are left alone.
 */
export function startDevicePlugins(world: LabWorld): void {
  const { clock, store } = world;
  const random = world.random.fork("device plugins");

  const report = (name: string): void => {
    const node = store.get("Node", name) as Node | undefined;
    const missing = node && isReady(node) ? unreported(node, store.list("NodeOverlay") as unknown as readonly NodeOverlay[]) : {};
    if (Object.keys(missing).length === 0) return;
    store.patch("Node", name, undefined, { user: `system:node:${name}`, subresource: "status" }, (o: MutableObject) => {
      for (const list of ["capacity", "allocatable"]) o.status[list] = { ...o.status[list], ...missing };
      return o;
    });
  };

  world.onChange(({ kind, type, object }) => {
    if (type === "DELETED" || (kind !== "Node" && kind !== "NodeOverlay")) return;
    if (store.list("NodeOverlay").length === 0) return;
    const names = kind === "Node" ? [object.metadata.name] : nodesOf(world).map(({ metadata }) => metadata.name);
    for (const name of names) clock.after(random.between(1_000, 3_000), `device plugins ${name}`, () => report(name));
  });
}

function unreported(node: Node, overlays: readonly NodeOverlay[]): Record<string, string | number> {
  const missing: Record<string, string | number> = {};
  for (const { spec, status } of overlays) {
    if (conditionOf(status?.conditions, "Ready")?.status !== "True") continue;
    if (!labelsCompatible(node.metadata.labels ?? {}, requirementsFrom(spec.requirements))) continue;
    for (const [resource, quantity] of Object.entries(spec.capacity ?? {})) {
      if (ownValue(node.status?.capacity, resource) === undefined) missing[resource] = quantity;
    }
  }
  return missing;
}
