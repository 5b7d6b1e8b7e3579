import { gunzipSync, gzipSync } from "node:zlib";
import type { Catalogue } from "#core/offerings/catalogue.ts";

/**
 * Name of the document that holds a region's catalogue. Accounts have documents of their own, because each has its own
 * zones and offerings.
 */
export function documentName(region: string, account?: string): string {
  return account === undefined ? `catalogue/${region}` : `catalogue/${region}/${account}`;
}

/** The catalogue, compressed: 0.5 MB of JSON become 60 KB. */
export function packCatalogue(catalogue: Catalogue): Uint8Array {
  return gzipSync(JSON.stringify(catalogue));
}

/** Throws when the bytes are not from `packCatalogue`. */
export function unpackCatalogue(bytes: Uint8Array): Catalogue {
  return JSON.parse(gunzipSync(bytes).toString("utf8")) as Catalogue;
}
