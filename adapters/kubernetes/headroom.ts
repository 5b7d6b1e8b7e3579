import { type Headroom, headroomOf } from "#core/capacity-buffers/headroom.ts";
import { isScalable, type Referents } from "#core/capacity-buffers/resolve.ts";
import type { CapacityBuffer } from "#core/model/capacity-buffer.ts";
import type { Kinds, Kubernetes } from "#core/ports/kubernetes.ts";

type Reader = Pick<Kubernetes, "get" | "list">;

/**
 * The cluster's CapacityBuffers with the pods that they reserve room for. Only the workloads that they refer to are
 * read, because there are few CapacityBuffers and many workloads.
 */
export async function readHeadroom(kubernetes: Reader): Promise<readonly Headroom[]> {
  const buffers = await kubernetes.list("CapacityBuffer");
  return headroomOf(buffers, await readReferents(buffers, kubernetes));
}

async function readReferents(buffers: readonly CapacityBuffer[], kubernetes: Reader): Promise<Referents> {
  const scalables = (kind: "Deployment" | "StatefulSet" | "ReplicaSet") =>
    readNamed(kind, buffers, ({ scalableRef: ref }) => (ref && isScalable(ref) && ref.kind === kind ? ref.name : undefined), kubernetes);
  const [podTemplates, deployments, statefulSets, replicaSets] = await Promise.all([
    readNamed("PodTemplate", buffers, ({ podTemplateRef }) => podTemplateRef?.name, kubernetes),
    scalables("Deployment"),
    scalables("StatefulSet"),
    scalables("ReplicaSet"),
  ]);
  return { podTemplates, deployments, statefulSets, replicaSets };
}

/** The objects of one kind that CapacityBuffers name, each read once. */
async function readNamed<K extends "PodTemplate" | "Deployment" | "StatefulSet" | "ReplicaSet">(
  kind: K,
  buffers: readonly CapacityBuffer[],
  nameIn: (spec: CapacityBuffer["spec"]) => string | undefined,
  kubernetes: Reader,
): Promise<readonly Kinds[K][]> {
  const wanted = new Map<string, readonly [name: string, namespace: string]>();
  for (const { metadata, spec } of buffers) {
    const { namespace = "default" } = metadata;
    const name = nameIn(spec);
    if (name !== undefined) wanted.set(`${namespace}/${name}`, [name, namespace]);
  }
  const found = await Promise.all([...wanted.values()].map(([name, namespace]) => kubernetes.get(kind, name, namespace)));
  return found.filter((object) => object !== undefined);
}
