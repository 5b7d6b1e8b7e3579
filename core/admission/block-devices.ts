import type { AmiFamily, BlockDevice, BlockDeviceMapping } from "../model/node-class.ts";
import { FAMILIES } from "../node-class/family.ts";
import { type AdmissionVerdict, together } from "./verdict.ts";

/** The volume types that take iops or throughput; EC2 refuses the field for any other type. */
const CHOOSES: Readonly<Record<"iops" | "throughput", readonly string[]>> = { iops: ["gp3", "io1", "io2"], throughput: ["gp3"] };
const NEEDS_IOPS = ["io1", "io2"];

/**
 * Problems: block devices that EC2 would refuse at each launch. Warnings: block devices that leave pods on a disk of
 * the image's size.
 */
export function reviewBlockDevices(mappings: readonly BlockDeviceMapping[] | undefined, family: AmiFamily): AdmissionVerdict {
  if (mappings === undefined || mappings.length === 0) return { problems: [], warnings: [] };
  const names = mappings.flatMap(({ deviceName }) => (deviceName ? [deviceName] : []));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  const problems = twice === undefined ? [] : [`spec.blockDeviceMappings: ${twice} is mapped twice; leave one of them out`];
  const { podDevice } = FAMILIES[family];
  const isPodDeviceMapped = podDevice === undefined || names.includes(podDevice) || mappings.some(({ rootVolume }) => rootVolume);
  const warnings = isPodDeviceMapped
    ? []
    : [`spec.blockDeviceMappings: pods of ${family} use ${podDevice}, which is not mapped and keeps the size that the image gives it`];
  return together({ problems, warnings }, ...mappings.map(reviewMapping));
}

function reviewMapping({ deviceName, ebs }: BlockDeviceMapping, index: number): AdmissionVerdict {
  const where = `spec.blockDeviceMappings[${index}]`;
  const unnamed = deviceName ? [] : [`${where}: deviceName is missing; EC2 takes no mapping without, so name one such as /dev/xvda`];
  return { problems: [...unnamed, ...(ebs === undefined ? [] : volumeProblems(ebs, `${where}.ebs`))], warnings: [] };
}

function volumeProblems(ebs: BlockDevice, where: string): readonly string[] {
  // Without a volume type, the image or the account decides it.
  const { volumeType } = ebs;
  if (volumeType === undefined) return [];
  const misplaced = (["iops", "throughput"] as const).filter((field) => ebs[field] !== undefined && !CHOOSES[field].includes(volumeType));
  return [
    ...misplaced.map((field) => `${where}.${field}: EC2 does not take it for a volume of type ${volumeType}; leave it out, or use gp3`),
    ...(NEEDS_IOPS.includes(volumeType) && ebs.iops === undefined ? [`${where}.iops: a volume of type ${volumeType} requires it`] : []),
  ];
}
