import type { CommandRecord } from "../model/record.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { podKey, podUid } from "../pods/predicates.ts";

/**
 * The snapshot with pods nominated to the nodes that commands under way have found for them. Their own nodes are about to go, so they would be
 * planned anew, all commands' pods together and otherwise than each command did, and machines bought for what has a place. A pod whose
 * destination goes itself is planned anew; so is one that was evicted, since that is another pod.
 */
export function withPromisedRoom(snapshot: Snapshot, commands: readonly CommandRecord[]): Snapshot {
  const going = commands.filter(({ phase }) => phase === "Replacing" || phase === "Deleting");
  const destinations = new Map(going.flatMap(({ destinations = {} }) => Object.entries(destinations)));
  if (destinations.size === 0) return snapshot;
  const leaving = new Set(going.flatMap(({ candidates }) => candidates.map(({ node }) => node)));
  const staying = new Set(
    snapshot.nodeClaims.flatMap(({ metadata: { name, deletionTimestamp } }) =>
      deletionTimestamp || snapshot.disrupting.has(name) ? [] : [name],
    ),
  );
  const nominated = new Map(snapshot.nominated);
  for (const pod of snapshot.pods) {
    const claim = leaving.has(pod.spec.nodeName ?? "") ? destinations.get(podKey(pod)) : undefined;
    if (claim !== undefined && staying.has(claim) && !nominated.has(podUid(pod))) nominated.set(podUid(pod), claim);
  }
  return { ...snapshot, nominated };
}
