import type { EC2NodeClass, NetworkInterface } from "../model/node-class.ts";
import { amiFamilyOf } from "../node-class/family.ts";
import type { CatalogueType } from "./catalogue.ts";

/**
 * Whether a NodeClass can launch a type; if not, none of the type's offerings is available
 * (karpenter-provider-aws: pkg/providers/instancetype/compatibility/compatibility.go, IsCompatibleWithNodeClass).
 */
export function suits(type: CatalogueType, { spec, status }: Pick<EC2NodeClass, "spec" | "status">): boolean {
  // No Amazon Linux 2023 image boots on the first Graviton generation.
  if (type.name.startsWith("a1.") && amiFamilyOf(spec) === "AL2023") return false;
  if (spec.networkInterfaces !== undefined && !haveRoom(type, spec.networkInterfaces, spec.ipPrefixCount ?? 0)) return false;
  if (spec.cpuOptions?.nestedVirtualization === "enabled" && !type.nestedVirtualization) return false;
  if (spec.enclaveOptions?.enabled && !type.enclaves) return false;
  if (spec.connectionTracking !== undefined && type.hypervisor !== "nitro") return false;
  return !(status?.placementGroup?.strategy === "cluster" && type.withoutClusterPlacement);
}

function haveRoom(type: CatalogueType, interfaces: readonly NetworkInterface[], prefixes: number): boolean {
  if (interfaces.length === 0) return true;
  const cards = type.networkCards ?? [type.enis];
  const placed = interfaces.every(({ networkCardIndex, deviceIndex }) => deviceIndex < (cards[networkCardIndex] ?? 0));
  // A prefix takes the place of one address; the interface's own address takes one too.
  const addressed = prefixes === 0 || prefixes + 1 <= type.ipv4PerEni;
  return placed && addressed && !type.withoutEna && efaOnly(interfaces).length <= (type.efa ?? 0);
}

/** The interfaces that carry no IP traffic. */
export function efaOnly(interfaces: readonly NetworkInterface[] = []): readonly NetworkInterface[] {
  return interfaces.filter(({ interfaceType }) => interfaceType === "efa-only");
}
