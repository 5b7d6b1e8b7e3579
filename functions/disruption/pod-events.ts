import { readDocument } from "#adapters/store/read-document.ts";
import { type PodEvent, type PodEvents, podEvents, withPodEvents } from "#core/disruption/reports/pod-events.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { ClusterDeps } from "../shared/cluster-deps.ts";
import type { ClusterState } from "../shared/cluster-state.ts";

type StoreDeps = Pick<ClusterDeps, "cluster" | "store" | "log" | "now">;

const nameOf = ({ cluster }: Pick<StoreDeps, "cluster">): string => `pod-events/${cluster.name}`;

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
  const reading = { name: nameOf(deps), what: "When pods came to and left nodes", parse: parsed };
  const last = (await readDocument(deps, reading))?.value ?? new Map();
  const events = podEvents(snapshot, records, last, deps.now());
  if (hasChanged(last, events)) {
    const bytes = new TextEncoder().encode(JSON.stringify([...events].map(([name, { digest, at }]) => [name, digest, at])));
    await deps.store.putDocument(nameOf(deps), bytes, String(deps.now()));
  }
  return withPodEvents(records, events);
}

function hasChanged(last: PodEvents, next: PodEvents): boolean {
  if (last.size !== next.size) return true;
  return [...next].some(([name, { digest, at }]) => {
    const before = last.get(name);
    return before?.digest !== digest || before.at !== at;
  });
}

function parsed(bytes: Uint8Array): PodEvents | undefined {
  const read = JSON.parse(new TextDecoder().decode(bytes)) as readonly (readonly [string, string, number | null | undefined])[];
  const entries = read.map(([name, digest, at]): readonly [string, PodEvent] => [name, { digest, ...(at != null && { at }) }]);
  const isSound = ([name, { digest, at = 0 }]: readonly [string, PodEvent]): boolean =>
    typeof name === "string" && typeof digest === "string" && Number.isFinite(at);
  return entries.every(isSound) ? new Map(entries) : undefined;
}
