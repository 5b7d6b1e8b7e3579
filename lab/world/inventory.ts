import type {
  AmiSelectorTerm,
  CapacityReservationSelectorTerm,
  SecurityGroupSelectorTerm,
  SubnetSelectorTerm,
} from "#core/model/node-class.ts";
import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { CapacityReservation, CloudInventory, Image } from "#core/ports/cloud-inventory.ts";
import { toRecord } from "./machine-facts.ts";
import { hash } from "./random.ts";
import type { LabWorld } from "./world.ts";

export interface SimulatedSubnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  availableIps: number;
}

/** One private subnet in each zone. */
export const subnetsOf = (catalogue: Catalogue, addresses: number): readonly SimulatedSubnet[] =>
  catalogue.zones.map(({ name, zoneId }) => ({ id: `subnet-${hex(name, 17)}`, zone: name, zoneId, availableIps: addresses }));

const hex = (text: string, length: number): string =>
  Array.from({ length: Math.ceil(length / 8) }, (_, i) => hash(`${text}#${i}`).toString(16).padStart(8, "0"))
    .join("")
    .slice(0, length);

/**
 * The AWS account around the cluster. Manifests come from many accounts, so every tag, name or id that a selector asks
 * for exists here; only an empty selector finds nothing.
 */
export function simulatedInventory(
  world: LabWorld,
  market: () => Catalogue,
  subnets: readonly SimulatedSubnet[],
  reservations: (terms: readonly CapacityReservationSelectorTerm[]) => readonly CapacityReservation[],
): Omit<CloudInventory, "reservedInstances" | "onDemandInstances"> {
  const catalogue = market();
  const asked = (term: SubnetSelectorTerm & { readonly name?: string }): boolean =>
    Object.keys(term.tags ?? {}).length > 0 || !!term.id || !!term.name;
  const images = new Map<string, Image>();
  const profiles = new Map<string, string>();
  const image = (key: string, name: string, architecture: string, id = `ami-${hex(key, 17)}`): Image => {
    const found = images.get(id) ?? { id, name, architecture, creationDate: `${catalogue.asOf.slice(0, 10)}T00:00:00.000Z` };
    images.set(id, found);
    return found;
  };

  const imagesOf = (term: AmiSelectorTerm): readonly Image[] => {
    if (term.id) return [images.get(term.id) ?? image(term.id, `image-${term.id}`, "x86_64", term.id)];
    const key = JSON.stringify(term);
    const name = term.name?.replaceAll("*", "latest") ?? `image-${hex(key, 8)}`;
    const both = ["x86_64", "arm64"].map((arch) => image(`${key} ${arch}`, `${name}-${arch}`, arch));
    if (!term.name && Object.keys(term.tags ?? {}).length === 0 && !term.ssmParameter) return [];
    const wanted = ["x86_64", "arm64"].filter((arch) => term.name?.includes(arch));
    return wanted.length === 1 ? both.filter((i) => i.architecture === wanted[0]) : both;
  };

  return {
    async subnets(terms) {
      const ids = new Set(terms.flatMap((t) => t.id ?? []));
      const known = subnets.filter((s) => ids.has(s.id));
      const all = terms.some((t) => asked(t) && !subnets.some((s) => s.id === t.id));
      return (all ? subnets : known).map((s) => ({ ...s }));
    },
    async securityGroups(terms: readonly SecurityGroupSelectorTerm[]) {
      return terms.some(asked) ? [{ id: `sg-${hex(world.cluster, 17)}`, name: `eks-cluster-sg-${world.cluster}` }] : [];
    },
    capacityReservations: async (terms) => reservations(terms),
    async placementGroup({ id, name }) {
      return { id: id ?? `pg-${hex(name ?? "", 17)}`, strategy: "cluster", ...(name !== undefined && { name }) };
    },
    images: async (terms) => [...new Map(terms.flatMap(imagesOf).map((i) => [i.id, i])).values()],
    async parameter(name) {
      const shape = parameterShape(name);
      return shape && image(name, shape.name, shape.architecture).id;
    },
    async ensureInstanceProfile({ name, role }) {
      profiles.set(name, role);
      return name;
    },
    instanceTypes: async () => catalogue.types.map(toRecord),
    instanceTypeZones: async () => Object.fromEntries(catalogue.types.map((t) => [t.name, t.zones])),
    zones: async () => catalogue.zones,
    onDemandPrices: async () => catalogue.onDemand,
    spotPrices: async () => market().spot ?? {},
  };
}

/**
 * The image of a public SSM parameter; undefined when AWS has no parameter of that name (karpenter-provider-aws:
 * pkg/providers/amifamily/al2023.go, AL2023.resolvePath).
 */
function parameterShape(name: string): { readonly name: string; readonly architecture: string } | undefined {
  const al2023 =
    /^\/aws\/service\/eks\/optimized-ami\/([\d.]+)\/amazon-linux-2023\/(x86_64|arm64)\/(standard|neuron|nvidia)\/([^/]+)\/image_id$/.exec(
      name,
    );
  if (al2023) {
    const [, version, architecture = "x86_64", variant] = al2023;
    if (architecture === "arm64" && variant === "neuron") return undefined;
    return { name: `amazon-eks-node-al2023-${architecture}-${variant}-${version}-lab`, architecture };
  }
  const al2 = /^\/aws\/service\/eks\/optimized-ami\/([\d.]+)\/amazon-linux-2(-arm64|-gpu)?\/([^/]+)\/image_id$/.exec(name);
  if (al2) return { name: `amazon-eks${al2[2] ?? ""}-node-${al2[1]}-lab`, architecture: al2[2] === "-arm64" ? "arm64" : "x86_64" };
  const bottlerocket = /^\/aws\/service\/bottlerocket\/aws-k8s-([\d.]+)(-nvidia)?\/(x86_64|arm64)\/([^/]+)\/image_id$/.exec(name);
  if (bottlerocket) {
    const [, version, variant = "", architecture = "x86_64"] = bottlerocket;
    return { name: `bottlerocket-aws-k8s-${version}${variant}-${architecture}-v1.50.0`, architecture };
  }
  const windows = /^\/aws\/service\/ami-windows-latest\/(.+)\/image_id$/.exec(name);
  return windows?.[1] ? { name: windows[1], architecture: "x86_64" } : undefined;
}
