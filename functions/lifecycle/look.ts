import { heldPoll, readyTogether, takesPods } from "#core/lifecycle/hold.ts";
import { registrationDeadline } from "#core/lifecycle/time-limits.ts";
import { awaitEnd, awaitNode, awaitReplacements, waitOf } from "#core/lifecycle/waiting.ts";
import { providerIdOf } from "#core/model/instance.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import type { Known } from "./known.ts";
import { takeOpening } from "./open-together.ts";
import { recentRecords } from "./recent-records.ts";
import { NOT_INITIALIZED } from "./view.ts";

/**
 * When to look again; with nothing to wait for, a pass is due, and begins with what was seen. `isSeen`: what
 * was told of has been seen, such as a node that is Ready and waits for others. `isTaken`: what is due is done by
 * another pass, and may be left by it.
 */
export type Look =
  | { readonly wakeAt: number; readonly isSeen?: boolean; readonly isTaken?: boolean; readonly known?: never }
  | { readonly wakeAt?: never; readonly isSeen?: never; readonly isTaken?: never; readonly known?: Known };

/**
 * Looks whether what a NodeClaim waits for has come: one call, which does not read the NodeClaim.
 * @param isNews something has changed; otherwise only time has passed, and what another NodeClaim's look has just seen
 * will do
 */
export async function lookFor(record: NodeClaimRecord, isNews: boolean, deps: LifecycleDeps): Promise<Look> {
  const { fleet, now, isTold = false } = deps;
  switch (waitOf(record)) {
    case undefined:
      return {};
    case "node": {
      const { nodes, isFresh } = await youngNodes(isNews ? 0 : MAX_AGE_MS, deps);
      // Its node is initialized, by a pass that goes on to say so.
      if (isNews && record.nodeName !== undefined && !nodes.some((node) => isOwn(node, record))) return takenLook(now());
      const next = awaitNode(record, nodes, { now: now(), isTold, deadline: registrationDeadline(record) });
      if (next !== undefined) return { wakeAt: next, isSeen: nodes.some((node) => isOwn(node, record) && takesPods(node)) };
      const together = openedWith(record, nodes, now());
      const opens = together && (await takeOpening(together, deps));
      // Who opens them goes on with all of them.
      if (together && opens === undefined) return takenLook(now());
      return { known: { ...(isFresh && { youngNodes: nodes }), ...(opens !== undefined && { opens }) } };
    }
    case "end": {
      const [instance] = record.instance ? await fleet.describe([record.instance.id]) : [];
      return asLook(awaitEnd(instance, now()), { instance: instance ?? "gone" });
    }
    case "replacements":
      return asLook(awaitReplacements(record, await recentRecords(deps), now()));
  }
}

/** A look that comes should the other pass be killed. */
const takenLook = (now: number): Look => ({ wakeAt: heldPoll(Number.POSITIVE_INFINITY, now), isSeen: true, isTaken: true });

/** The nodes that are to be opened together with that of the record, itself included. */
function openedWith(record: NodeClaimRecord, young: readonly Node[], now: number): readonly Node[] | undefined {
  const [node, ...more] = young.filter((one) => isOwn(one, record));
  const others = young.filter((one) => one !== node);
  return node === undefined || more.length > 0 ? undefined : readyTogether(record, node, others, now);
}

const isOwn = ({ spec }: Node, { instance }: NodeClaimRecord): boolean =>
  instance !== undefined && spec.providerID === providerIdOf(instance);

/** NodeClaims that were launched together are looked after together. No benchmark has tuned it. */
const MAX_AGE_MS = 1_000;

/** Keyed by the cluster's facts object, which lives as long as the process serves the cluster. */
const lastSeen = new WeakMap<object, { readonly at: number; readonly nodes: readonly Node[] }>();

/** The nodes that are not initialized; whether they were listed for this look. */
async function youngNodes(
  maxAgeMs: number,
  { cluster, kubernetes, now }: LifecycleDeps,
): Promise<{ readonly nodes: readonly Node[]; readonly isFresh: boolean }> {
  const at = now();
  const last = lastSeen.get(cluster);
  if (last !== undefined && Math.abs(at - last.at) < maxAgeMs) return { nodes: last.nodes, isFresh: false };
  const nodes = await kubernetes.list("Node", NOT_INITIALIZED);
  lastSeen.set(cluster, { at, nodes });
  return { nodes, isFresh: true };
}

const asLook = (wakeAt: number | undefined, known: Known = {}): Look => (wakeAt === undefined ? { known } : { wakeAt, isSeen: true });
