import type { CommandRecord } from "../../model/command-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podKey, podUid } from "../../pods/predicates.ts";

/**
 * The snapshot with the pods of commands under way nominated to the NodeClaims that each command found for them.
 * Without it the scheduler would plan these pods again, those of all commands together, and launch nodes for pods that
 * have a destination. While a command waits for its replacements, a pod without a remaining destination is nominated
 * to its own claim, so that nothing is launched for it: when a replacement fails, the pod stays. Once its own claim is
 * being deleted, such a pod is planned again, and so is the successor of an evicted pod, because it is another pod.
 */
export function withCommandRoom(snapshot: Snapshot, commands: readonly CommandRecord[]): Snapshot {
  const executing = commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
  if (executing.length === 0) return snapshot;
  const destinations = new Map(executing.flatMap(({ destinations: found = {} }) => Object.entries(found)));
  const deleted = new Set(snapshot.nodeClaims.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.name] : [])));
  const staying = new Set(
    snapshot.nodeClaims.flatMap(({ metadata: { name } }) => (deleted.has(name) || snapshot.disrupting.has(name) ? [] : [name])),
  );
  // Node to the claim that its pods stay on; undefined once the claim is being deleted.
  const ownClaims = new Map(
    executing.flatMap(({ phase, candidates }) =>
      candidates.map(({ node, nodeClaim }) => [node, phase === "Replacing" && !deleted.has(nodeClaim) ? nodeClaim : undefined] as const),
    ),
  );
  const nominated = new Map(snapshot.nominated);
  for (const pod of snapshot.pods) {
    const node = pod.spec.nodeName ?? "";
    if (!ownClaims.has(node) || nominated.has(podUid(pod))) continue;
    const found = destinations.get(podKey(pod));
    const claim = found !== undefined && staying.has(found) ? found : ownClaims.get(node);
    if (claim !== undefined) nominated.set(podUid(pod), claim);
  }
  return { ...snapshot, nominated };
}
