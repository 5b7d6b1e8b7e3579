import { ownerOfGroup } from "#core/node-pool/foreign-class.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { isNamespaced } from "#manifests/api-object.ts";
import type { Manifest } from "#manifests/read.ts";
import { eksDaemons } from "./eks-daemons.ts";
import type { RefusedPods } from "./refused-pods.ts";
import type { LabWorld } from "./world/world.ts";

interface ApplyOptions {
  /** Leaves out the DaemonSets that EKS runs on each node. */
  readonly withoutEksDaemons?: boolean | undefined;
  /** Adds to the story what was done. */
  readonly say: (what: string, who?: string) => void;
}

/** Applies the manifests to a new cluster of EKS. Returns the pods among them that the API server refused. */
export function applyManifests(
  world: LabWorld,
  manifests: readonly Manifest[],
  { withoutEksDaemons = false, say }: ApplyOptions,
): readonly RefusedPods[] {
  const daemons = withoutEksDaemons ? [] : eksDaemons(manifests);
  for (const { object } of daemons) world.apply(object);
  if (daemons.length > 0) say(`each node runs DaemonSets of EKS: ${daemons.map(({ object }) => object.metadata.name).join(", ")}`, "EKS");
  return manifests.flatMap(({ object }) => {
    const { kind = "", metadata } = object;
    const refusal = applied(world, object);
    const namespace =
      isNamespaced({ kind, namespace: metadata.namespace }) && metadata.namespace !== undefined ? ` -n ${metadata.namespace}` : "";
    say(`kubectl apply${namespace}: ${kind}/${metadata.name}${refusal === undefined ? noPart(object) : ` (refused: ${refusal})`}`);
    return refusal === undefined ? [] : { kind, namespace: metadata.namespace ?? "default", name: metadata.name, message: refusal };
  });
}

/** Applies an object. Returns why the API server refuses it. */
function applied(world: LabWorld, object: Manifest["object"]): string | undefined {
  try {
    world.apply(object);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

/** Kinds that the actors of the lab or the functions read. The lab stores other kinds unchanged. */
const PLAYED = new Set([
  ...["Namespace", "PriorityClass", "StorageClass", "EC2NodeClass", "NodePool", "NodeClaim", "Node", "PersistentVolume", "CSINode"],
  ...["NodeOverlay", "CapacityBuffer", "PodTemplate"],
  ...["PersistentVolumeClaim", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob"],
  "PodDisruptionBudget",
]);

function noPart({ apiVersion = "", kind = "" }: Manifest["object"]): string {
  if (PLAYED.has(kind)) return "";
  const owner = ownerOfGroup(apiVersion.split("/")[0] ?? "");
  return owner === undefined ? " (has no part in the lab)" : ` (belongs to ${owner}, and has no part in the lab)`;
}
