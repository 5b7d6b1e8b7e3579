import { oncePer } from "../lib/once-per.ts";
import { ownValue } from "../lib/own-value.ts";
import type { InstanceType } from "../model/instance-type.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import type { KubeletConfiguration } from "../model/node-class.ts";
import { parseQuantity, parseResources, type Resources, subtractResources } from "../model/quantity.ts";
import type { Family } from "../node-class/family.ts";
import { eniLimitedPods } from "./capacity.ts";
import type { CatalogueType } from "./catalogue.ts";

/**
 * Share of each band of milli-CPU that is reserved for system daemons
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, kubeReservedResources).
 */
const CPU_BANDS = [
  { upTo: 1000, share: 0.06 },
  { upTo: 2000, share: 0.01 },
  { upTo: 4000, share: 0.005 },
  { upTo: Number.POSITIVE_INFINITY, share: 0.0025 },
] as const;

/** Reserved milli-CPU; each band is rounded down to a whole number. */
function reservedMilliCpu(cpu: number): number {
  const milli = cpu * 1000;
  let reserved = 0;
  let from = 0;
  for (const { upTo, share } of CPU_BANDS) {
    if (milli <= from) break;
    reserved += Math.floor((Math.min(milli, upTo) - from) * share);
    from = upTo;
  }
  return reserved;
}

/**
 * The overhead: what is subtracted from a node's capacity before pods get any. `memoryMib` and `storage` are the
 * computed capacity.
 */
export function overheadOf(
  type: CatalogueType,
  kubelet: KubeletConfiguration | undefined,
  family: Family,
  calculated: { readonly memoryMib: number; readonly storage: string; readonly pods: number },
): InstanceType["overhead"] {
  const pods = family.eniLimitedMemoryOverhead ? eniLimitedPods(type, 0) : calculated.pods;
  const memory = `${11 * pods + 255}Mi`;
  const storageBytes = parseQuantity(calculated.storage) / 1000;
  return {
    kubeReserved: { cpu: `${reservedMilliCpu(type.cpu)}m`, memory, "ephemeral-storage": "1Gi", ...kubelet?.kubeReserved },
    systemReserved: kubelet?.systemReserved ?? {},
    evictionThreshold: {
      memory: threshold(kubelet?.evictionHard?.["memory.available"], calculated.memoryMib * 1024 * 1024) ?? "100Mi",
      "ephemeral-storage":
        threshold(kubelet?.evictionHard?.["nodefs.available"], storageBytes) ?? String(Math.ceil((storageBytes / 100) * 10)),
    },
  };
}

/**
 * The threshold of an eviction signal as a quantity; "100%" disables it
 * (karpenter-provider-aws: pkg/providers/instancetype/types.go, computeEvictionSignal).
 */
function threshold(signal: string | undefined, capacityBytes: number): string | undefined {
  if (!signal?.endsWith("%")) return signal;
  const percent = Number.parseFloat(signal);
  return percent === 100 ? "0" : String(Math.ceil((capacityBytes / 100) * percent));
}

/**
 * Capacity less all overhead, in milli-units; negative when more is reserved than the node has. Huge pages are
 * subtracted from the memory that they pin.
 */
export const allocatableOf = oncePer((type: Pick<InstanceType, "capacity" | "overhead">): Resources => {
  const capacity = parseResources(type.capacity);
  let left: Resources = capacity;
  const { kubeReserved, systemReserved, evictionThreshold } = type.overhead;
  for (const taken of [kubeReserved, systemReserved, evictionThreshold] satisfies readonly (ResourceList | undefined)[]) {
    left = subtractResources(left, parseResources(taken));
  }
  const allocatable: Record<string, number> = {};
  for (const name in capacity) allocatable[name] = ownValue(left, name) ?? 0;
  for (const name in capacity) {
    if (name.startsWith("hugepages-")) allocatable["memory"] = Math.max(0, (allocatable["memory"] ?? 0) - (capacity[name] ?? 0));
  }
  return allocatable;
});
