import type { CapacityBuffer, PodTemplateObject } from "#core/model/capacity-buffer.ts";
import type { Node } from "#core/model/node.ts";
import type { Lab } from "#lab/host.ts";
import { cpuOf, is, isActive, isDisrupted, vcpus } from "./facts.ts";
import type { Sight } from "./invariant.ts";

/** vCPUs of one virtual pod; the buffers of the simulation name a PodTemplate and a number of replicas. */
const sizeOf = ({ spec }: CapacityBuffer, templates: readonly PodTemplateObject[]): number =>
  cpuOf(templates.find(({ metadata }) => metadata.name === spec.podTemplateRef?.name)?.template.spec?.containers);

/** vCPUs that all CapacityBuffers ask for. */
export function reservedRoom({ world }: Lab): number {
  const buffers = world.store.list("CapacityBuffer") as unknown as readonly CapacityBuffer[];
  const templates = world.store.list("PodTemplate") as unknown as readonly PodTemplateObject[];
  return buffers.reduce((sum, buffer) => sum + (buffer.spec.replicas ?? 0) * sizeOf(buffer, templates), 0);
}

/** Sentences about CapacityBuffers whose virtual pods do not all fit beside the pods of nodes that take new ones. */
export function roomlessBuffers({ buffers, podTemplates, nodes, pods }: Sight): readonly string[] {
  const free = nodes.filter(takesPods).map((node) => {
    const own = pods.filter((pod) => pod.spec.nodeName === node.metadata.name && isActive(pod));
    return vcpus(node.status?.allocatable?.["cpu"]) - own.reduce((sum, { spec }) => sum + cpuOf(spec.containers), 0);
  });
  return buffers.flatMap((buffer) => {
    const size = sizeOf(buffer, podTemplates);
    const replicas = buffer.spec.replicas ?? 0;
    for (let placed = 0; placed < replicas; placed++) {
      const at = free.findIndex((cpu) => cpu >= size - 1e-9);
      if (at < 0) return [`buffer ${buffer.metadata.name} has room for ${placed} of ${replicas} pods`];
      free[at] = (free[at] ?? 0) - size;
    }
    return [];
  });
}

const takesPods = (node: Node): boolean =>
  is(node, "Ready") && !isDisrupted(node) && node.spec.unschedulable !== true && node.metadata.deletionTimestamp === undefined;
