import type { Catalogue } from "#core/offerings/catalogue.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { readDocument } from "../store/read-document.ts";
import { BUNDLED_REGIONS, bundledCatalogue } from "./bundled.ts";
import { documentName, unpackCatalogue } from "./document.ts";

/** How long a copy is used before its version is compared with the stored one. */
const RECHECK_MS = 60_000;

/**
 * The region's catalogue as functions read it: the stored one if the catalog function has written it, else the bundled
 * one, else (for a region that is not bundled) an empty one. It is kept while the function is warm, and its version is
 * compared once a minute. When the store cannot be reached, or what it holds is damaged, the copy stays in use.
 */
export function catalogueSource(
  { store, log }: { readonly store: Pick<NodeClaimStore, "documentVersion" | "getDocument">; readonly log: Log },
  region: string,
  now: () => number,
  account?: string,
): () => Promise<Catalogue> {
  const name = documentName(region, account);
  let kept: { readonly catalogue: Catalogue; readonly version: string | undefined } | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Catalogue> | undefined;

  const read = async (): Promise<Catalogue> => {
    try {
      const version = await store.documentVersion(name);
      if (kept === undefined || version !== kept.version) {
        const reading = { name, what: "The catalogue of instance types and prices", parse: parsed };
        const document = version === undefined ? undefined : await readDocument({ store, log }, reading);
        const former = version === undefined ? undefined : kept?.catalogue;
        kept = document ? { catalogue: document.value, version: document.version } : { catalogue: former ?? withoutStore(region), version };
      }
    } catch (error) {
      if (kept === undefined) throw error;
    }
    checkedAt = now();
    return kept.catalogue;
  };

  return async () => {
    if (kept !== undefined && now() - checkedAt < RECHECK_MS) return kept.catalogue;
    // Concurrent callers share one read.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

function withoutStore(region: string): Catalogue {
  if ((BUNDLED_REGIONS as readonly string[]).includes(region)) return bundledCatalogue(region);
  return { region, zones: [], types: [], onDemand: {}, asOf: "never" };
}

function parsed(bytes: Uint8Array): Catalogue | undefined {
  const read = unpackCatalogue(bytes);
  return Array.isArray(read.types) && Array.isArray(read.zones) ? read : undefined;
}
