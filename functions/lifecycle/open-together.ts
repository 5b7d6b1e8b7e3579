import { contentHash } from "../../core/lib/fnv.ts";
import { OPENING_MS, type Opening, openingOf } from "../../core/lifecycle/hold.ts";
import type { Instance } from "../../core/model/instance.ts";
import type { Node } from "../../core/model/node.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import { RefusedError } from "../../core/ports/errors.ts";
import { recordByProviderId } from "../shared/claims-by-provider-id.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflictOrGone, retryOnConflict } from "../shared/optimistic.ts";
import { someAtATime } from "../shared/some-at-a-time.ts";
import type { Known, Performed } from "./known.ts";
import { nominateHeld } from "./nominate-held.ts";

/**
 * Lets nodes take pods at the same moment: kube-scheduler, which tries all waiting pods as soon as one node is open,
 * then finds each pod's own node open. Each node's pass asks for this, and the first does it. What that one leaves,
 * because it is killed or a write is refused, the passes of the single nodes do.
 */
export async function openTogether(nodes: readonly Node[], known: Known, deps: LifecycleDeps): Promise<Performed> {
  const { cluster, store, kubernetes, now } = deps;
  const names = nodes.map(({ metadata }) => metadata.name).sort();
  if (!(await store.isFirstWithin(cluster.name, `opening/${contentHash(names)}`, now(), OPENING_MS))) return "done";
  const held = await heldOf(nodes, known, deps);
  await nominateHeld(
    held.map(({ opening: { pods, uids, node } }) => ({ pods, uids, node: node.metadata.name })),
    deps,
  );
  const opened = await someAtATime(held, async (one) => {
    const node = await ignoreConflictOrGone(unlessRefused(open(one, kubernetes)));
    return node && one.name === known.record?.name ? [{ node, instance: one.instance }] : [];
  });
  const [own] = opened.flat();
  const { record, claim } = known;
  if (own === undefined || claim === undefined) return "look again";
  return { lookAgainWith: { record, claim, instance: own.instance, nodes: [own.node], otherYoungNodes: [] } };
}

/**
 * Kubelet and the node controllers write a node most in the moment in which it becomes Ready. A write that they are
 * faster than is made again at once: a node that stays closed would lose its pods to those that are open.
 */
const MAX_TRIES = 5;

/** The node as it was written; undefined when there is nothing to open any more. */
async function open({ opening, openingOn }: Held, kubernetes: LifecycleDeps["kubernetes"]): Promise<Node | undefined> {
  let isFirst = true;
  return retryOnConflict(MAX_TRIES, async () => {
    const next = isFirst ? opening : openingOn(await kubernetes.get("Node", opening.node.metadata.name));
    isFirst = false;
    return next && kubernetes.update("Node", next.node);
  });
}

interface Held {
  /** Of the NodeClaim. */
  readonly name: string;
  readonly instance: Instance;
  readonly opening: Opening;
  /** The same of the node as it is now; undefined when there is nothing to open. */
  readonly openingOn: (node: Node | undefined) => Opening | undefined;
}

async function heldOf(
  nodes: readonly Node[],
  known: Known,
  { cluster, store, kubernetes, fleet }: LifecycleDeps,
): Promise<readonly Held[]> {
  const claimOf = async (name: string): Promise<NodeClaim | undefined> =>
    name === known.claim?.metadata.name ? known.claim : kubernetes.get("NodeClaim", name);
  const found = await someAtATime(nodes, async (node) => {
    const record = await recordByProviderId(node.spec.providerID ?? "", store);
    const claim = record?.cluster === cluster.name ? await claimOf(record.name) : undefined;
    return record && claim ? [{ node, record, claim }] : [];
  });
  const held = found.flat();
  if (held.length === 0) return [];
  const instances = await fleet.describe(held.flatMap(({ record }) => record.instance?.id ?? []));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  return held.flatMap(({ node, record, claim }) => {
    const instance = byId.get(record.instance?.id ?? "");
    const openingOn = (one: Node | undefined) => one && instance && openingOf(record, claim, one, instance);
    const opening = openingOn(node);
    return opening && instance ? [{ name: record.name, instance, opening, openingOn }] : [];
  });
}

/** The pass of the single node tells why its write is refused. */
function unlessRefused<T>(write: Promise<T>): Promise<T | undefined> {
  return write.catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error;
    return undefined;
  });
}
