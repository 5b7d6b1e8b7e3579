// core/metrics: metrics as a scraper reads them. A snapshot, its EC2NodeClasses and what functions have counted come
// in; samples, sums and the text of the exposition go out. Tables, HTTP and CloudWatch must not be known here.

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

/** Milli-units as a gauge shows them: cores of cpu, whole units of all else. */
export function gaugeOf(resource: string, milli: number): number {
  return resource === "cpu" ? milli / 1_000 : Math.ceil(milli / 1_000);
}
