import { jsonIn } from "#adapters/store/json-bytes.ts";
import { readDocument } from "#adapters/store/read-document.ts";
import { type PodEvent, type PodEvents, podEvents, withPodEvents } from "#core/disruption/reports/pod-events.ts";
import { fnv1a32 } from "#core/lib/fnv.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

type StoreDeps = Pick<ClusterDeps, "cluster" | "store" | "log" | "now">;

const WHAT = "When pods came to and left nodes";

/**
 * Stores when pods last came to or left each node, and returns the records with these times. They are one document of
 * the cluster, because pods come and go far more often than anything else of a record changes. A pass that lost its
 * lease may write over the document of the next one: then the pass after that sees a change once more, now.
 */
export async function observePods(
  { snapshot, records }: Pick<ClusterState, "snapshot" | "records">,
  deps: StoreDeps,
): Promise<readonly NodeClaimRecord[]> {
  if (records.every(({ initializedAt }) => initializedAt === undefined)) return records;
  const name = `pod-times/${deps.cluster.name}`;
  const stored = (await readDocument(deps, { name, what: WHAT, parse: unpacked }))?.value;
  const last = stored === undefined ? await formerEvents(deps) : named(stored, records);
  const events = podEvents(snapshot, records, last, deps.now());
  const bytes = packed(events);
  // A node that is gone leaves the document too.
  if (stored === undefined || !isSame(stored, unpacked(bytes))) await deps.store.putDocument(name, bytes, String(deps.now()));
  return withPodEvents(records, events);
}

/**
 * An entry is 14 bytes, because the document is written whole, and a name with a hexadecimal digest and a time in text
 * are 60: a hash of the NodeClaim's name (5 bytes), the digest (4) and the time in ms since EPOCH (5, 0 for none). Two
 * of 5,000 names have the same hash once in 100,000 clusters; then pods of these nodes seem to come and go.
 */
const ENTRY_BYTES = 14;
/** The first byte: another form of the document would have another. */
const FORM = 1;
const TWO_TO_32 = 2 ** 32;
/** Five bytes last for 34 years from here. */
const EPOCH = Date.UTC(2020);

/** By the hash of the NodeClaim's name. */
type Stored = ReadonlyMap<number, PodEvent>;

const hashOf = (name: string): number => (fnv1a32(`#${name}`) % 256) * TWO_TO_32 + fnv1a32(name);

function packed(events: PodEvents): Uint8Array {
  const bytes = new Uint8Array(1 + ENTRY_BYTES * events.size);
  const view = new DataView(bytes.buffer);
  bytes[0] = FORM;
  let offset = 1;
  const put = (value: number): void => {
    view.setUint8(offset, Math.floor(value / TWO_TO_32));
    view.setUint32(offset + 1, value % TWO_TO_32);
  };
  for (const [name, { digest, at = EPOCH }] of events) {
    put(hashOf(name));
    offset += 5;
    view.setUint32(offset, digest);
    offset += 4;
    put(Math.max(0, at - EPOCH));
    offset += 5;
  }
  return bytes;
}

function unpacked(bytes: Uint8Array): Stored | undefined {
  if (bytes[0] !== FORM || bytes.length % ENTRY_BYTES !== 1) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (offset: number): number => view.getUint8(offset) * TWO_TO_32 + view.getUint32(offset + 1);
  const starts = Array.from({ length: (bytes.length - 1) / ENTRY_BYTES }, (_, i) => 1 + i * ENTRY_BYTES);
  return new Map(
    starts.map((start) => {
      const since = number(start + 9);
      return [number(start), { digest: view.getUint32(start + 5), ...(since > 0 && { at: EPOCH + since }) }];
    }),
  );
}

const named = (stored: Stored, records: readonly NodeClaimRecord[]): PodEvents =>
  new Map(
    records.flatMap(({ name }) => {
      const event = stored.get(hashOf(name));
      return event === undefined ? [] : [[name, event] as const];
    }),
  );

function isSame(last: Stored, next: Stored | undefined): boolean {
  if (next === undefined || last.size !== next.size) return false;
  return [...next].every(([hash, { digest, at }]) => {
    const before = last.get(hash);
    return before?.digest === digest && before.at === at;
  });
}

/** What version 0.1 has written, as JSON, where this version has written nothing yet. */
async function formerEvents(deps: StoreDeps): Promise<PodEvents> {
  const reading = { name: `pod-events/${deps.cluster.name}`, what: WHAT, parse: ofText };
  return (await readDocument(deps, reading))?.value ?? new Map();
}

function ofText(bytes: Uint8Array): PodEvents | undefined {
  const read = jsonIn(bytes) as readonly (readonly [string, string, number | null | undefined])[];
  const isSound = ([name, digest, at]: (typeof read)[number]): boolean =>
    typeof name === "string" && typeof digest === "string" && Number.isFinite(at ?? 0);
  if (!read.every(isSound)) return undefined;
  return new Map(read.map(([name, digest, at]) => [name, { digest: fnv1a32(digest), ...(at != null && { at }) }]));
}
