import { oncePer } from "../lib/once-per.ts";
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
import type { NodeSelectorRequirementWithMinValues as Requirement } from "../model/node-pool.ts";
import type { Family } from "../node-class/family.ts";
import type { CatalogueType, GpuFacts } from "./catalogue.ts";

/** The zones in which a NodeClass can launch a type: names and ids. */
type UsableZones = readonly { readonly name: string; readonly zoneId: string }[];

/** Requirements by key and then by joined values. Entries never change. */
const known = new Map<string, Map<string, Requirement>>();

/**
 * The labels that a node of this type may have, as 33 requirements sorted by key. A fact that EC2 does not state is
 * DoesNotExist (karpenter-provider-aws: pkg/providers/instancetype/types.go, computeRequirements). Equal requirements
 * of different types are one object: a region has 44,000 requirements, of which 4,000 differ.
 */
export function typeRequirements(
  type: CatalogueType,
  region: string,
  family: Family,
  zones: UsableZones,
  reservations: readonly ResolvedReservation[] = [],
): readonly Requirement[] {
  const os = family.os === "windows" ? (type.arch === "amd64" ? "windows" : undefined) : "linux";
  const { zoneId, zone } = zoneRequirements(zones);
  const requirements = reservationRequirements(reservations);
  const facts = factsOf(type);
  // A cold start makes 28,000 of these before the code is compiled: a plain loop, and each key's map at hand.
  for (const label of LABELS) requirements.push(shared(label.known, label.key, label.of(facts)));
  requirements.push(
    TENANCY,
    among(CAPACITY_TYPE, reservations.length > 0 ? [...type.capacityTypes, "reserved"] : type.capacityTypes),
    one(ARCH, type.arch),
    one(OS, os),
    one(INSTANCE_TYPE, type.name),
    one(WINDOWS_BUILD, family.windowsBuild),
    zoneId,
    one(REGION, region),
    zone,
  );
  return requirements;
}

/** The requirements of some zones, made once for each list. */
const zoneRequirements = oncePer((zones: UsableZones) => {
  const zoneIds = zones.map(({ zoneId }) => zoneId).filter((id) => id !== "");
  const names = zones.map(({ name }) => name);
  return { zoneId: among(ZONE_ID, zoneIds.sort()), zone: among(ZONE, names) };
});

const TENANCY = among("karpenter.k8s.aws/instance-tenancy", ["dedicated", "default"]);
const UNRESERVED = [CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE].map((key) => among(key, []));

function reservationRequirements(reservations: readonly ResolvedReservation[]): Requirement[] {
  if (reservations.length === 0) return [...UNRESERVED];
  const differing = (values: readonly string[]): readonly string[] => [...new Set(values)];
  return [
    among(CAPACITY_RESERVATION_ID, differing(reservations.map(({ id }) => id))),
    among(CAPACITY_RESERVATION_INTERRUPTIBLE, differing(reservations.map(({ interruptible }) => String(interruptible)))),
    among(CAPACITY_RESERVATION_TYPE, differing(reservations.map(({ reservationType }) => reservationType))),
  ];
}

function one(key: string, value: string | undefined): Requirement {
  return shared(sharedOf(key), key, value);
}

/** The requirement of one value, or that the label is absent; `ofKey` holds those of the key. */
function shared(ofKey: Map<string, Requirement>, key: string, value: string | undefined): Requirement {
  if (value === undefined) return among(key, []);
  const found = ofKey.get(value);
  if (found !== undefined) return found;
  const made: Requirement = { key, operator: "In", values: [value] };
  ofKey.set(value, made);
  return made;
}

/** The values must be distinct. */
function among(key: string, values: readonly string[]): Requirement {
  const ofKey = sharedOf(key);
  // No value contains a comma; a single value is shared with `one`.
  const text = values.length === 0 ? "," : values.join();
  const found = ofKey.get(text);
  if (found !== undefined) return found;
  const made: Requirement = { key, operator: values.length === 0 ? "DoesNotExist" : "In", values };
  ofKey.set(text, made);
  return made;
}

function sharedOf(key: string): Map<string, Requirement> {
  const ofKey = known.get(key) ?? new Map<string, Requirement>();
  if (ofKey.size === 0) known.set(key, ofKey);
  return ofKey;
}

const CATEGORY_AND_GENERATION = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\./;

interface Facts {
  readonly type: CatalogueType;
  readonly category: string | undefined;
  readonly generation: string | undefined;
  readonly family: string | undefined;
  readonly size: string | undefined;
  /** The GPU model of the type; undefined when it has several, because a label holds one. */
  readonly gpu: GpuFacts | undefined;
  readonly accelerator: { readonly name: string; readonly manufacturer: string; readonly count: number } | undefined;
}

function factsOf(type: CatalogueType): Facts {
  const [, category, generation] = CATEGORY_AND_GENERATION.exec(type.name) ?? [];
  const parts = type.name.split(".");
  const [family, size] = parts.length === 2 ? parts : [];
  const gpu = type.gpus?.length === 1 ? type.gpus[0] : undefined;
  const neuron = type.neuron?.length === 1 ? type.neuron[0] : undefined;
  const inference = type.neuron === undefined && type.inference?.length === 1 ? type.inference[0] : undefined;
  const accelerator = neuron ? { ...neuron, manufacturer: "aws" } : inference;
  return { type, category, generation, family, size, gpu, accelerator };
}

/** The value of each label karpenter.k8s.aws/instance-… for a type, sorted by key. */
const LABELS = Object.entries({
  "accelerator-count": ({ accelerator }) => text(accelerator?.count),
  "accelerator-manufacturer": ({ accelerator }) => accelerator?.manufacturer,
  "accelerator-name": ({ accelerator }) => accelerator?.name,
  "capability-flex": ({ family }) => String(family?.includes("-flex") ?? false),
  category: ({ category }) => category,
  cpu: ({ type }) => String(type.cpu),
  "cpu-manufacturer": ({ type }) => type.cpuManufacturer,
  "cpu-sustained-clock-speed-mhz": ({ type }) => String(type.clockMhz),
  "ebs-bandwidth": ({ type }) => text(type.ebsMbps),
  "encryption-in-transit-supported": ({ type }) => String(type.encryptionInTransit),
  family: ({ family }) => family,
  generation: ({ generation }) => generation,
  "gpu-count": ({ gpu }) => text(gpu?.count),
  "gpu-manufacturer": ({ gpu }) => gpu?.manufacturer.toLowerCase().replaceAll(" ", "-"),
  "gpu-memory": ({ gpu }) => text(gpu?.memoryMib),
  "gpu-name": ({ gpu }) => gpu?.name,
  // Bare metal has no hypervisor: the label is empty, not absent, as in Karpenter.
  hypervisor: ({ type }) => type.hypervisor ?? "",
  "local-nvme": ({ type }) => (type.nvme ? text(type.storageGb) : undefined),
  memory: ({ type }) => String(type.memoryMib),
  "network-bandwidth": ({ type }) => text(type.networkMbps),
  size: ({ size }) => size,
} satisfies Readonly<Record<string, (facts: Facts) => string | undefined>>).map(([name, of]) => {
  const key = `karpenter.k8s.aws/instance-${name}`;
  return { key, of, known: sharedOf(key) };
});

function text(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
