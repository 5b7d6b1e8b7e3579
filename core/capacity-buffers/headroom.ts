// core/capacity-buffers: CapacityBuffers: the virtual pods that they reserve room for, and their status.
// CapacityBuffers and the objects that they reference come in; virtual pods and statuses go out. How pods are planned
// must not be known here.

import type { CapacityBuffer } from "../model/capacity-buffer.ts";
import type { Pod } from "../model/pod.ts";
import { sharesOf } from "./replicas.ts";
import { type Referents, type Resolution, resolve } from "./resolve.ts";
import { virtualPods } from "./virtual-pods.ts";

/** A CapacityBuffer with the virtual pods that room is reserved for; no pods when the buffer cannot be resolved. */
export interface Headroom {
  readonly buffer: CapacityBuffer;
  readonly resolution: Resolution;
  readonly pods: readonly Pod[];
}

/**
 * The virtual pods of all buffers, ordered by namespace and name. A buffer that is being deleted has none. Where
 * buffers ask for more pods than plans are made for, each gets its share.
 */
export function headroomOf(buffers: readonly CapacityBuffer[], referents: Referents): readonly Headroom[] {
  const keyOf = ({ metadata }: CapacityBuffer): string => `${metadata.namespace ?? "default"}/${metadata.name}`;
  const resolved = buffers
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((buffer) => ({ buffer, resolution: resolve(buffer, referents) }));
  const shares = sharesOf(resolved.map(({ resolution }) => (resolution.ready ? resolution.wanted : 0)));
  return resolved.map(({ buffer, resolution }, i) => {
    if (!resolution.ready) return { buffer, resolution, pods: [] };
    const replicas = shares[i] ?? 0;
    return { buffer, resolution: { ...resolution, replicas }, pods: virtualPods(buffer, resolution.template, replicas) };
  });
}
