import {
  ARCH,
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  OS,
  REGION,
  WINDOWS_BUILD,
  ZONE,
  ZONE_ID,
} from "../model/labels.ts";
import type { ResolvedReservation } from "../model/node-class.ts";
import type { NodeSelectorRequirementWithMinValues } from "../model/node-pool.ts";
import type { Family } from "../node-class/family.ts";
import type { CatalogueType } from "./catalogue.ts";

const CATEGORY_AND_GENERATION = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\./;

/** Zones in which a type can be started for a NodeClass: by name, with their ids. */
export type UsableZones = readonly { readonly name: string; readonly zoneId: string }[];

/**
 * Labels that a node of this type may have, as 33 requirements sorted by key. A fact that EC2 does not state is DoesNotExist
 * (instance-types.md §7).
 */
export function typeRequirements(
  type: CatalogueType,
  region: string,
  family: Family,
  zones: UsableZones,
  reservations: readonly ResolvedReservation[] = [],
): readonly NodeSelectorRequirementWithMinValues[] {
  const aws = awsLabels(type);
  const os = family.os === "windows" ? (type.arch === "amd64" ? "windows" : undefined) : "linux";
  const requirements: NodeSelectorRequirementWithMinValues[] = [
    many(
      CAPACITY_RESERVATION_ID,
      reservations.map(({ id }) => id),
    ),
    many(
      CAPACITY_RESERVATION_INTERRUPTIBLE,
      reservations.map(({ interruptible }) => String(interruptible)),
    ),
    many(
      CAPACITY_RESERVATION_TYPE,
      reservations.map(({ reservationType }) => reservationType),
    ),
    ...AWS_KEYS.map((key) => one(key, aws[key])),
    { key: "karpenter.k8s.aws/instance-tenancy", operator: "In", values: ["dedicated", "default"] },
    many(CAPACITY_TYPE, reservations.length > 0 ? [...type.capacityTypes, "reserved"] : type.capacityTypes),
    one(ARCH, type.arch),
    one(OS, os),
    one(INSTANCE_TYPE, type.name),
    one(WINDOWS_BUILD, family.windowsBuild),
    many(
      ZONE_ID,
      zones
        .map(({ zoneId }) => zoneId)
        .filter((id) => id !== "")
        .sort(),
    ),
    one(REGION, region),
    many(
      ZONE,
      zones.map(({ name }) => name),
    ),
  ];
  return requirements;
}

function one(key: string, value: string | undefined): NodeSelectorRequirementWithMinValues {
  return value === undefined ? { key, operator: "DoesNotExist", values: [] } : { key, operator: "In", values: [value] };
}

function many(key: string, values: readonly string[]): NodeSelectorRequirementWithMinValues {
  return values.length === 0 ? { key, operator: "DoesNotExist", values } : { key, operator: "In", values: [...new Set(values)] };
}

const AWS_KEYS = [
  "instance-accelerator-count",
  "instance-accelerator-manufacturer",
  "instance-accelerator-name",
  "instance-capability-flex",
  "instance-category",
  "instance-cpu",
  "instance-cpu-manufacturer",
  "instance-cpu-sustained-clock-speed-mhz",
  "instance-ebs-bandwidth",
  "instance-encryption-in-transit-supported",
  "instance-family",
  "instance-generation",
  "instance-gpu-count",
  "instance-gpu-manufacturer",
  "instance-gpu-memory",
  "instance-gpu-name",
  "instance-hypervisor",
  "instance-local-nvme",
  "instance-memory",
  "instance-network-bandwidth",
  "instance-size",
].map((name) => `karpenter.k8s.aws/${name}`);

function awsLabels(type: CatalogueType): Readonly<Record<string, string | undefined>> {
  const [, category, generation] = CATEGORY_AND_GENERATION.exec(type.name) ?? [];
  const parts = type.name.split(".");
  const [family, size] = parts.length === 2 ? parts : [];
  const gpu = type.gpus?.length === 1 ? type.gpus[0] : undefined;
  const neuron = type.neuron?.length === 1 ? type.neuron[0] : undefined;
  const inference = type.neuron === undefined && type.inference?.length === 1 ? type.inference[0] : undefined;
  const accelerator = neuron ? { ...neuron, manufacturer: "aws" } : inference;
  const label = (name: string): string => `karpenter.k8s.aws/instance-${name}`;
  return {
    [label("accelerator-count")]: text(accelerator?.count),
    [label("accelerator-manufacturer")]: accelerator?.manufacturer,
    [label("accelerator-name")]: accelerator?.name,
    [label("capability-flex")]: String(family?.includes("-flex") ?? false),
    [label("category")]: category,
    [label("cpu")]: String(type.cpu),
    [label("cpu-manufacturer")]: type.cpuManufacturer,
    [label("cpu-sustained-clock-speed-mhz")]: String(type.clockMhz),
    [label("ebs-bandwidth")]: text(type.ebsMbps),
    [label("encryption-in-transit-supported")]: String(type.encryptionInTransit),
    [label("family")]: family,
    [label("generation")]: generation,
    [label("gpu-count")]: text(gpu?.count),
    [label("gpu-manufacturer")]: gpu?.manufacturer.toLowerCase().replaceAll(" ", "-"),
    [label("gpu-memory")]: text(gpu?.memoryMib),
    [label("gpu-name")]: gpu?.name,
    // Bare metal has none: an empty value, not an absent label (instance-types.md §7).
    [label("hypervisor")]: type.hypervisor ?? "",
    [label("local-nvme")]: type.nvme ? text(type.storageGb) : undefined,
    [label("memory")]: String(type.memoryMib),
    [label("network-bandwidth")]: text(type.networkMbps),
    [label("size")]: size,
  };
}

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
