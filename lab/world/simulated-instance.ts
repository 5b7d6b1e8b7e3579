import type { Instance } from "#core/model/instance.ts";
import type { CatalogueType } from "#core/offerings/catalogue.ts";
import type { Disks } from "./disks.ts";

/** An EC2 instance with what only the simulated cloud knows of it. */
export interface SimulatedInstance {
  readonly instance: Instance;
  readonly userData: string;
  readonly type: CatalogueType;
  readonly disks: Disks;
  /** USD per hour, now: the price of a spot instance follows its market. */
  readonly price: number;
  /** What it has cost (USD) up to the last change of its price, and when that was (ms since the epoch). */
  readonly paid?: { readonly usd: number; readonly until: number };
  readonly nodeName: string;
  /** IPv4. */
  readonly address: string;
  /** Since when it costs nothing, ms since the epoch; absent while it runs. */
  readonly endedAt?: number;
}
