import { oncePer } from "../lib/once-per.ts";
import type { InstanceType } from "../model/instance-type.ts";
import { OS } from "../model/labels.ts";
import { parseResources } from "../model/quantity.ts";

/** What a burstable type charges for cpu. */
interface Burst {
  /** Milli-cpu that the price of the instance includes. */
  readonly baseline: number;
  /** USD per vCPU and hour above the baseline: surplus credits of the credit mode "unlimited". */
  readonly price: number;
}

/**
 * By size: the share of each vCPU that the instance's price includes, for T3, T3a and T4g, and for the sizes of T2 that
 * differ (AWS, Amazon EC2 User Guide, "Key concepts and definitions for burstable performance instances").
 */
const BASELINE: Readonly<Record<string, number>> = {
  nano: 0.05,
  micro: 0.1,
  small: 0.2,
  medium: 0.2,
  large: 0.3,
  xlarge: 0.4,
  "2xlarge": 0.4,
};
const T2_BASELINE: Readonly<Record<string, number>> = { ...BASELINE, xlarge: 0.225, "2xlarge": 0.16875 };

/** USD per vCPU and hour of surplus credits, the same in all regions (AWS, "Amazon EC2 On-Demand Pricing"). */
const SURPLUS_PRICE = 0.05;
const SURPLUS_PRICE_WINDOWS = 0.096;
const SURPLUS_PRICE_T4G = 0.04;

/** Families whose charges are known. */
const KNOWN = new Set(["t2", "t3", "t3a", "t4g"]);
/** Names of later families: t8i. T1 has no CPU credits. */
const LATER = /^t\d+[a-z]+$/;
const familyOf = (name: string): string => name.slice(0, name.indexOf("."));

/** Whether EC2 calls a type burstable, or its name does: catalogues of 0.1.0 and scenarios have no such fact. */
function isBurstable({ name, burstable }: Pick<InstanceType, "name" | "burstable">): boolean {
  // Asked for every type of the catalogue: the first letter spares most of them the rest.
  if (burstable === true || !name.startsWith("t")) return burstable === true;
  const family = familyOf(name);
  return KNOWN.has(family) || LATER.test(family);
}

/** The burstable families whose charges are not known: they count as T3. */
export function unknownBurstables(types: readonly Pick<InstanceType, "name" | "burstable">[]): readonly string[] {
  const families = types.filter(isBurstable).map(({ name }) => familyOf(name));
  return [...new Set(families)].filter((family) => !KNOWN.has(family)).sort();
}

/**
 * What a burstable type charges above its baseline; undefined for all other types. T2 instances start in the credit
 * mode "standard", where cpu above the baseline is withheld and not billed: the pods lose what T3 would charge. A type
 * of an unknown family counts as the T3 of its size, and as the largest T3 when it is larger.
 */
export function burstOf(type: InstanceType): Burst | undefined {
  return isBurstable(type) ? chargesOf(type) : undefined;
}

const chargesOf = oncePer((type: InstanceType): Burst | undefined => {
  const [family = "", size = ""] = type.name.split(".");
  const share = (family === "t2" ? T2_BASELINE : BASELINE)[size] ?? (KNOWN.has(family) ? undefined : BASELINE["2xlarge"]);
  if (share === undefined) return undefined;
  const isWindows = type.requirements.some(({ key, values }) => key === OS && values?.length === 1 && values[0] === "windows");
  return {
    baseline: share * (parseResources(type.capacity)["cpu"] ?? 0),
    price: isWindows ? SURPLUS_PRICE_WINDOWS : family === "t4g" ? SURPLUS_PRICE_T4G : SURPLUS_PRICE,
  };
});
