import type { LaunchTemplate } from "#core/model/fleet.ts";
import type { CatalogueType } from "#core/offerings/catalogue.ts";
import { type Bootstrap, type Image, imageOf } from "./user-data.ts";

const GIB = 2 ** 30;

/** The volume of each image that pods write to, and its size in GiB when no block device mapping sets another. */
const POD_VOLUMES: Readonly<Record<Image, { readonly deviceName: string; readonly sizeGib: number }>> = {
  linux: { deviceName: "/dev/xvda", sizeGib: 20 },
  bottlerocket: { deviceName: "/dev/xvdb", sizeGib: 20 },
  windows: { deviceName: "/dev/sda1", sizeGib: 50 },
};

/** What the manifest says of an image that the simulated account cannot know. */
export interface ImageFacts {
  /** The device that the EC2NodeClass calls its root volume. */
  readonly rootDevice?: string;
  /** The image is the user's own (amiFamily Custom), so its pods write to the last device that is mapped. */
  readonly isCustom?: boolean;
  /** The user data of a Custom image make the array of instanceStorePolicy RAID0 themselves. */
  readonly raid0?: boolean;
}

/** The disks of a machine, as its launch template gives them. */
export interface Disks extends ImageFacts {
  readonly mappings: LaunchTemplate["blockDeviceMappings"];
}

/**
 * Bytes of the disk that pods write to: the array of the local disks, else the volume of the image. It does not use the
 * arithmetic of the core, so that each can be checked against the other.
 */
export function podDiskBytes(type: CatalogueType, bootstrap: Bootstrap, userData: string, disks: Disks): number {
  const { mappings, rootDevice, isCustom = false, raid0 = false } = disks;
  // The sum of all local disks, in GB of 10^9 bytes.
  if ((bootstrap.localDisks === "raid0" || raid0) && type.storageGb !== undefined) return type.storageGb * 1e9;
  const volume = POD_VOLUMES[imageOf(userData)];
  const sizeOf = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : mappings.find(({ deviceName }) => deviceName === name)?.ebs.volumeSize;
  const mapped = sizeOf(rootDevice) ?? (isCustom ? mappings.at(-1)?.ebs.volumeSize : sizeOf(volume.deviceName));
  return (mapped ?? (isCustom ? POD_VOLUMES.linux : volume).sizeGib) * GIB;
}
