import type { BlockDevice, EC2NodeClassSpec } from "../model/node-class.ts";
import { HOURS_A_MONTH } from "../model/prices.ts";
import { parseQuantity } from "../model/quantity.ts";
import type { Family } from "../node-class/family.ts";

/** USD a month for one unit of each part of a volume. */
interface VolumePrices {
  readonly gib: number;
  readonly iops?: number;
  /** IOPS that the size includes. */
  readonly freeIops?: number;
  /** For one MiB/s. */
  readonly throughput?: number;
  /** MiB/s that the size includes. */
  readonly freeThroughput?: number;
}

/**
 * List prices of us-east-1 (AWS, "Amazon EBS pricing"); other regions differ by up to a half, at 20 GiB a tenth of a
 * cent an hour. io2 above 32,000 IOPS, which no root volume needs, costs less than stated here.
 */
const VOLUME_PRICES: Readonly<Record<string, VolumePrices>> = {
  gp3: { gib: 0.08, iops: 0.005, freeIops: 3000, throughput: 0.04, freeThroughput: 125 },
  gp2: { gib: 0.1 },
  io1: { gib: 0.125, iops: 0.065 },
  io2: { gib: 0.125, iops: 0.065 },
  st1: { gib: 0.045 },
  sc1: { gib: 0.015 },
  standard: { gib: 0.05 },
};
const GIB = 2 ** 30;
/** GiB of a volume whose size only its image knows: that of the images of Amazon Linux. */
const DEFAULT_GIB = 20;

/** USD per hour of the volumes that each node of a NodeClass gets: its own block devices, else those of the family. */
export function volumePrice({ blockDeviceMappings }: Pick<EC2NodeClassSpec, "blockDeviceMappings">, { defaultDevices }: Family): number {
  const own = (blockDeviceMappings ?? []).flatMap(({ ebs }) => ebs ?? []);
  const devices = own.length > 0 ? own : defaultDevices.flatMap(({ ebs }) => ebs ?? []);
  return (devices.length > 0 ? devices : [{}]).reduce((sum, device) => sum + monthly(device), 0) / HOURS_A_MONTH;
}

function monthly({ volumeType = "gp3", volumeSize, iops = 0, throughput = 0 }: BlockDevice): number {
  const prices = VOLUME_PRICES[volumeType] ?? { gib: 0.08 };
  const gib = volumeSize === undefined ? DEFAULT_GIB : parseQuantity(volumeSize) / 1000 / GIB;
  const paidIops = Math.max(0, iops - (prices.freeIops ?? 0));
  const paidThroughput = Math.max(0, throughput - (prices.freeThroughput ?? 0));
  return prices.gib * gib + (prices.iops ?? 0) * paidIops + (prices.throughput ?? 0) * paidThroughput;
}
