import type { CapacityBuffer } from "../model/capacity-buffer.ts";
import type { Pod } from "../model/pod.ts";
import { type Referents, type Resolution, resolve } from "./resolve.ts";
import { virtualPods } from "./virtual-pods.ts";

/** A buffer with the pods that room is kept for; none when it cannot be resolved. */
export interface Headroom {
  readonly buffer: CapacityBuffer;
  readonly resolution: Resolution;
  readonly pods: readonly Pod[];
}

/** What buffers ask for, by namespace and name. One that is being deleted asks for nothing any more. */
export function headroomOf(buffers: readonly CapacityBuffer[], referents: Referents): readonly Headroom[] {
  const keyOf = ({ metadata }: CapacityBuffer): string => `${metadata.namespace ?? "default"}/${metadata.name}`;
  return buffers
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((buffer) => {
      const resolution = resolve(buffer, referents);
      return { buffer, resolution, pods: resolution.ready ? virtualPods(buffer, resolution.template, resolution.replicas) : [] };
    });
}
