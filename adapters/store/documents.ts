import { randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { UnreadableRecordError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { TableRequests } from "./table-requests.ts";

/** Below DynamoDB's limit of 400 KB per item, keys and names included. */
const CHUNK_BYTES = 380 * 1024;
/** No put takes longer than this, so older chunks that no head item names were left by a function that was killed. */
const ABANDONED_MS = 3_600_000;

type Documents = Pick<NodeClaimStore, "putDocument" | "documentVersion" | "getDocument">;

/**
 * Documents of any size, gzipped. A small document is its head item. A large one is cut into chunks of a new
 * generation, then the head item is pointed at them, then the former generation is deleted, so that a reader always
 * sees the old or the new document as a whole. `clock` in ms since the epoch.
 */
export function documents({ name: table, get, getAll, query, write, writeAll }: TableRequests, clock: () => number): Documents {
  const pk = (name: string) => `document#${name}`;
  const headOf = (name: string) => ({ pk: pk(name), sk: "head" });
  const chunkKeys = (name: string, generation: string, chunks: number) =>
    Array.from({ length: chunks }, (_, i) => ({ pk: pk(name), sk: `chunk#${generation}#${String(i).padStart(5, "0")}` }));

  const unzip = (name: string, zipped: Uint8Array): Uint8Array => {
    try {
      return gunzipSync(zipped);
    } catch (cause) {
      throw new UnreadableRecordError(`Document ${name} in table ${table} is damaged; put it again.`, { cause });
    }
  };

  /** Replaces the head item, and removes the chunks of the former one and those that nobody names. */
  async function writeHead(name: string, now: number, content: Readonly<Record<string, unknown>>): Promise<void> {
    const { item: former } = await write({ put: { ...headOf(name), writtenAt: now, ...content } }, { returns: "old" });
    const stored = await query({ pk: pk(name), prefix: "chunk#", isConsistent: true, attributes: ["pk", "sk"] });
    const current = `chunk#${String(content["generation"])}#`;
    const superseded = former?.["generation"] === undefined ? undefined : `chunk#${String(former["generation"])}#`;
    const abandoned = `chunk#${String(now - ABANDONED_MS).padStart(15, "0")}`;
    const dead = stored.filter(
      ({ sk }) => !sk.startsWith(current) && ((superseded !== undefined && sk.startsWith(superseded)) || sk < abandoned),
    );
    await writeAll(dead.map(({ sk }) => ({ delete: { pk: pk(name), sk } })));
  }

  return {
    async putDocument(name, bytes, version) {
      const zipped = gzipSync(bytes);
      const now = clock();
      if (zipped.length <= CHUNK_BYTES) return writeHead(name, now, { version, chunks: 0, bytes: zipped });
      // The generation starts with the time, so that a later put can recognise abandoned chunks.
      const generation = `${String(now).padStart(15, "0")}-${randomUUID()}`;
      const keys = chunkKeys(name, generation, Math.ceil(zipped.length / CHUNK_BYTES));
      // One chunk per call: a batch of 25 may have 16 MB, which is 43 chunks.
      for (const [i, key] of keys.entries()) {
        const chunk = zipped.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES);
        await writeAll([{ put: { ...key, bytes: chunk } }]);
      }
      return writeHead(name, now, { version, chunks: keys.length, generation });
    },

    documentVersion: async (name) => (await get(headOf(name), ["version"]))?.["version"] as string | undefined,

    async getDocument(name) {
      // A put may delete the chunks between the two reads; the head item then names newer ones.
      for (let attempt = 0; attempt < 5; attempt++) {
        const head = await get(headOf(name));
        if (head === undefined) return undefined;
        const version = String(head["version"]);
        const chunks = Number(head["chunks"]);
        if (chunks === 0) return { bytes: unzip(name, head["bytes"] as Uint8Array), version };
        const items = await getAll(chunkKeys(name, String(head["generation"]), chunks));
        if (items.length === chunks) {
          const inOrder = items.toSorted((a, b) => (a.sk < b.sk ? -1 : 1)).map((item) => item["bytes"] as Uint8Array);
          return { bytes: unzip(name, Buffer.concat(inOrder)), version };
        }
      }
      throw new UnreadableRecordError(`Document ${name} in table ${table} lacks chunks; put it again.`);
    },
  };
}
