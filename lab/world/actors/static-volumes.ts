import type { LabelSelector } from "#core/model/kubernetes.ts";
import type { Node } from "#core/model/node.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "#core/model/workloads.ts";
import { matchesSelector } from "#manifests/selectors.ts";
import { toNumber } from "../quantity.ts";
import type { LabWorld } from "../world.ts";
import { meetsTerm } from "./placement.ts";

/** A PersistentVolume with the fields by which a claim finds it. */
interface Volume extends PersistentVolume {
  readonly spec: PersistentVolume["spec"] & {
    readonly storageClassName?: string;
    readonly capacity?: { readonly storage?: string };
    readonly accessModes?: readonly string[];
    readonly volumeMode?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
  };
}

interface Claim extends PersistentVolumeClaim {
  readonly spec: PersistentVolumeClaim["spec"] & {
    readonly resources?: { readonly requests?: { readonly storage?: string } };
    readonly selector?: LabelSelector;
    readonly volumeMode?: string;
  };
}

/**
 * The volume that exists already and that the claim gets, on a node if one is given: the smallest that is large
 * enough, or the one that names the claim
 * (kubernetes: staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume).
 */
export function freeVolume(
  world: LabWorld,
  { metadata, spec }: Claim,
  storageClassName: string,
  node: Node | undefined,
  isTaken: (name: string) => boolean,
): Volume | undefined {
  const size = (volume: Volume): number => toNumber(volume.spec.capacity?.storage) ?? 0;
  const isOwn = ({ spec: { claimRef } }: Volume): boolean => claimRef?.name === metadata.name && claimRef.namespace === metadata.namespace;
  const wanted = toNumber(spec.resources?.requests?.storage) ?? 0;
  const fits = (volume: Volume): boolean => {
    const { claimRef, nodeAffinity, accessModes = [], volumeMode = "Filesystem" } = volume.spec;
    const terms = nodeAffinity?.required?.nodeSelectorTerms;
    return (
      (claimRef === undefined || (isOwn(volume) && (claimRef.uid === undefined || claimRef.uid === metadata.uid))) &&
      (!spec.volumeName || spec.volumeName === volume.metadata.name) &&
      !isTaken(volume.metadata.name) &&
      (volume.spec.storageClassName ?? "") === storageClassName &&
      volumeMode === (spec.volumeMode ?? "Filesystem") &&
      (spec.accessModes ?? []).every((mode) => accessModes.includes(mode)) &&
      size(volume) >= wanted &&
      (spec.selector === undefined || matchesSelector(spec.selector, volume.metadata.labels)) &&
      (node === undefined || terms === undefined || terms.some((term) => meetsTerm(term, node)))
    );
  };
  const found = (world.store.list("PersistentVolume") as unknown as readonly Volume[]).filter(fits);
  return found.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || size(a) - size(b))[0];
}

/** Makes the volume refer to its claim. */
export function reserveVolume(world: LabWorld, volume: PersistentVolume, { metadata }: PersistentVolumeClaim, user: string): void {
  const { namespace, name, uid } = metadata;
  world.store.patch("PersistentVolume", volume.metadata.name, undefined, { user }, (o) => {
    o.spec = { ...o.spec, claimRef: { kind: "PersistentVolumeClaim", namespace, name, uid } };
    o.status = { ...o.status, phase: "Bound" };
    return o;
  });
}
