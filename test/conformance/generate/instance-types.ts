import type { InstanceType, Offering } from "#core/model/instance-type.ts";
import type { Random } from "./random.ts";

export const ZONES: readonly string[] = ["us-west-2a", "us-west-2b", "us-west-2c"];

interface Family {
  readonly name: string;
  readonly arch: "amd64" | "arm64";
  readonly memoryGiPerCpu: number;
  /** USD per hour, on demand. */
  readonly pricePerCpu: number;
  /** Name of its GPUs: one on each machine, and one for each 12 CPUs on larger machines. */
  readonly gpu?: string;
}

const FAMILIES: readonly Family[] = [
  { name: "c5", arch: "amd64", memoryGiPerCpu: 2, pricePerCpu: 0.0425 },
  { name: "c6i", arch: "amd64", memoryGiPerCpu: 2, pricePerCpu: 0.0425 },
  { name: "c6g", arch: "arm64", memoryGiPerCpu: 2, pricePerCpu: 0.034 },
  { name: "c7a", arch: "amd64", memoryGiPerCpu: 2, pricePerCpu: 0.0513 },
  { name: "m5", arch: "amd64", memoryGiPerCpu: 4, pricePerCpu: 0.048 },
  { name: "m5a", arch: "amd64", memoryGiPerCpu: 4, pricePerCpu: 0.043 },
  { name: "m6g", arch: "arm64", memoryGiPerCpu: 4, pricePerCpu: 0.0385 },
  { name: "r5", arch: "amd64", memoryGiPerCpu: 8, pricePerCpu: 0.063 },
  { name: "r6i", arch: "amd64", memoryGiPerCpu: 8, pricePerCpu: 0.063 },
  { name: "r7g", arch: "arm64", memoryGiPerCpu: 8, pricePerCpu: 0.0536 },
  { name: "t3", arch: "amd64", memoryGiPerCpu: 4, pricePerCpu: 0.0416 },
  { name: "g4dn", arch: "amd64", memoryGiPerCpu: 4, pricePerCpu: 0.1315, gpu: "t4" },
  { name: "p3", arch: "amd64", memoryGiPerCpu: 7.625, pricePerCpu: 0.3825, gpu: "v100" },
];
const SIZES: readonly (readonly [size: string, cpus: number, pods: number])[] = [
  ["large", 2, 29],
  ["xlarge", 4, 58],
  ["2xlarge", 8, 58],
  ["4xlarge", 16, 234],
  ["8xlarge", 32, 234],
  ["12xlarge", 48, 234],
  ["16xlarge", 64, 737],
  ["24xlarge", 96, 737],
];

/** `count` types in the shape of AWS's, with similar prices; some zones and capacity types of each are unavailable. */
export function instanceTypes(random: Random, count: number, reservations: number): InstanceType[] {
  const all = FAMILIES.flatMap((family) => SIZES.map((size) => ({ family, size })));
  const chosen = random.some(all, count, count);
  const reserved = new Set(random.some(chosen, reservations, reservations));
  return chosen.map((one, i) => instanceType(random, one.family, one.size, reserved.has(one) ? `cr-${i}` : undefined));
}

function instanceType(random: Random, family: Family, [size, cpus, pods]: (typeof SIZES)[number], reservation?: string): InstanceType {
  const name = `${family.name}.${size}`;
  const memoryMi = Math.round(cpus * family.memoryGiPerCpu * 1024);
  const gpus = family.gpu === undefined ? 0 : Math.max(1, Math.floor(cpus / 12));
  const offered = offerings(random, cpus * family.pricePerCpu, reservation);
  const has = (key: string, ...values: string[]) =>
    values.length > 0 ? { key, operator: "In" as const, values } : { key, operator: "DoesNotExist" as const };
  return {
    name,
    requirements: [
      has("node.kubernetes.io/instance-type", name),
      has("kubernetes.io/arch", family.arch),
      has("kubernetes.io/os", "linux"),
      has("topology.kubernetes.io/region", "us-west-2"),
      has("topology.kubernetes.io/zone", ...new Set(offered.map(({ zone }) => zone))),
      has("karpenter.sh/capacity-type", ...new Set(offered.map(({ capacityType }) => capacityType))),
      has("karpenter.k8s.aws/instance-family", family.name),
      has("karpenter.k8s.aws/instance-category", family.name.slice(0, 1)),
      has("karpenter.k8s.aws/instance-generation", family.name.replace(/\D/g, "")),
      has("karpenter.k8s.aws/instance-size", size),
      has("karpenter.k8s.aws/instance-cpu", String(cpus)),
      has("karpenter.k8s.aws/instance-memory", String(memoryMi)),
      has("karpenter.k8s.aws/capacity-reservation-id", ...(reservation === undefined ? [] : [reservation])),
      has("karpenter.k8s.aws/instance-gpu-name", ...(family.gpu === undefined ? [] : [family.gpu])),
      has("karpenter.k8s.aws/instance-gpu-manufacturer", ...(family.gpu === undefined ? [] : ["nvidia"])),
      has("karpenter.k8s.aws/instance-gpu-count", ...(gpus === 0 ? [] : [String(gpus)])),
    ],
    capacity: {
      cpu: String(cpus),
      memory: `${Math.floor(memoryMi * 0.925)}Mi`,
      pods: String(pods),
      "ephemeral-storage": "20Gi",
      ...(gpus === 0 ? {} : { "nvidia.com/gpu": String(gpus) }),
    },
    overhead: {
      kubeReserved: { cpu: `${60 + Math.round(cpus * 2.5)}m`, memory: `${255 + 11 * pods}Mi`, "ephemeral-storage": "1Gi" },
      evictionThreshold: { memory: "100Mi", "ephemeral-storage": "2Gi" },
    },
    offerings: offered,
  };
}

function offerings(random: Random, price: number, reservation?: string): Offering[] {
  const round = (usd: number): number => Math.round(usd * 10_000) / 10_000;
  const zones = random.chance(0.9) ? ZONES : random.some(ZONES);
  const bought = zones.flatMap((zone): Offering[] => [
    { zone, capacityType: "on-demand", price: round(price), available: random.chance(0.97) },
    { zone, capacityType: "spot", price: round((price * random.int(25, 50)) / 100), available: random.chance(0.9) },
  ]);
  if (reservation === undefined) return bought;
  const left = random.int(0, 4);
  return [
    ...bought,
    {
      zone: random.pick(zones),
      capacityType: "reserved",
      price: price / 1e7,
      available: left > 0,
      reservationId: reservation,
      ...(left > 0 ? { reservationCapacity: left } : {}),
    },
  ];
}
