import type { CommandRecord } from "../../model/command-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podKey, podUid } from "../../pods/predicates.ts";

/**
 * The snapshot with pods nominated to the nodes that commands under way have found for them. Their own nodes are about to go, so they would be
 * planned anew, all commands' pods together and otherwise than each command did, and machines bought for what has a place. As long as a command
 * waits for its replacements its nodes are not going yet, and nothing is planned for their pods: when a replacement is lost, they stay.
 * A pod whose destination goes itself is planned anew; so is one that was evicted, since that is another pod.
 */
export function withCommandRoom(snapshot: Snapshot, commands: readonly CommandRecord[]): Snapshot {
  const going = commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
  if (going.length === 0) return snapshot;
  const destinations = new Map(going.flatMap(({ destinations: found = {} }) => Object.entries(found)));
  const ended = new Set(snapshot.nodeClaims.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [metadata.name] : [])));
  const staying = new Set(
    snapshot.nodeClaims.flatMap(({ metadata: { name } }) => (ended.has(name) || snapshot.disrupting.has(name) ? [] : [name])),
  );
  const homes = new Map(
    going.flatMap(({ phase, candidates }) =>
      candidates.map(({ node, nodeClaim }) => [node, phase === "Replacing" && !ended.has(nodeClaim) ? nodeClaim : undefined] as const),
    ),
  );
  const nominated = new Map(snapshot.nominated);
  for (const pod of snapshot.pods) {
    const node = pod.spec.nodeName ?? "";
    if (!homes.has(node) || nominated.has(podUid(pod))) continue;
    const found = destinations.get(podKey(pod));
    const claim = found !== undefined && staying.has(found) ? found : homes.get(node);
    if (claim !== undefined) nominated.set(podUid(pod), claim);
  }
  return { ...snapshot, nominated };
}
