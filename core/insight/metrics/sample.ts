// core/metrics: metrics as a scraper reads them. A snapshot, its EC2NodeClasses and what functions have counted come
// in; samples, sums and the text of the exposition go out. Tables, HTTP and CloudWatch must not be known here.

import { PRICE_PER_HOUR } from "../../model/labels.ts";
import type { ScrapedName } from "./registry.ts";

/** One value of a gauge; a label with an empty value counts as absent, as in Prometheus. */
export interface Sample {
  readonly name: ScrapedName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A resource's name as Karpenter writes it in a label: "ephemeral-storage" is "ephemeral_storage"
 * (karpenter: pkg/controllers/metrics/node/controller.go, resourceNameToString).
 */
export function resourceLabel(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Milli-units as a gauge shows them: cores of cpu, dollars of a price, whole units of all else. */
export function gaugeOf(resource: string, milli: number): number {
  return resource === "cpu" || resource === PRICE_PER_HOUR ? milli / 1_000 : Math.ceil(milli / 1_000);
}
