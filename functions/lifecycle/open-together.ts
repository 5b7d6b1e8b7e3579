import { contentHash } from "#core/lib/fnv.ts";
import { OPENING_MS, type Opening, openingOf } from "#core/lifecycle/hold.ts";
import { namedRecord } from "#core/lifecycle/registration.ts";
import type { Instance } from "#core/model/instance.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { recordByProviderId } from "../shared/claims-by-provider-id.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { ignoreConflict, ignoreConflictOrGone, retryOnConflict } from "../shared/optimistic.ts";
import { someAtATime } from "../shared/some-at-a-time.ts";
import type { Known, Performed } from "./known.ts";
import { nominateHeld } from "./nominate-held.ts";

/** Which nodes are opened together, as a key. */
const openingKey = (nodes: readonly Node[]): string => contentHash(nodes.map(({ metadata }) => metadata.name).sort());

/** The key of these nodes when nobody else opens them; undefined when another pass has begun to. */
export async function takeOpening(nodes: readonly Node[], { cluster, store, now }: LifecycleDeps): Promise<string | undefined> {
  const key = openingKey(nodes);
  return (await store.isFirstWithin(cluster.name, `opening/${key}`, now(), OPENING_MS)) ? key : undefined;
}

/**
 * Lets nodes take pods at the same moment: kube-scheduler, which tries all waiting pods as soon as one node is open,
 * then finds each pod's own node open. Each node's pass asks for this, and the first does it, and goes on with all of
 * them: it has their NodeClaims and nodes in hand. What that one leaves, because it is killed or a write is refused,
 * the passes of the single nodes do.
 */
export async function openTogether(nodes: readonly Node[], known: Known, deps: LifecycleDeps): Promise<Performed> {
  const { kubernetes } = deps;
  if (known.opens !== openingKey(nodes) && (await takeOpening(nodes, deps)) === undefined) return "done";
  const held = await heldOf(nodes, known, deps);
  await nominateHeld(
    held.map(({ opening: { pods, uids, node } }) => ({ pods, uids, node: node.metadata.name })),
    deps,
  );
  const opened = await someAtATime(held, async (one) => {
    const node = await ignoreConflictOrGone(unlessRefused(open(one, kubernetes)));
    const { record, claim, instance } = one;
    return node ? [{ name: record.name, known: { record, claim, instance, nodes: [node], otherYoungNodes: [] } }] : [];
  });
  const { own: [own] = [], others = [] } = Object.groupBy(opened.flat(), ({ name }) => (name === known.record?.name ? "own" : "others"));
  return { lookAgainWith: own?.known ?? {}, others };
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
  readonly record: NodeClaimRecord;
  readonly claim: NodeClaim;
  readonly instance: Instance;
  readonly opening: Opening;
  /** The same of the node as it is now; undefined when there is nothing to open. */
  readonly openingOn: (node: Node | undefined) => Opening | undefined;
}

async function heldOf(nodes: readonly Node[], known: Known, deps: LifecycleDeps): Promise<readonly Held[]> {
  const { cluster, store, kubernetes, fleet } = deps;
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
  const opened = await someAtATime(held, async ({ node, record, claim }) => {
    const instance = byId.get(record.instance?.id ?? "");
    if (instance === undefined || openingOf(record, claim, node, instance) === undefined) return [];
    const named = await nameNode(record, node, deps);
    const openingOn = (one: Node | undefined) => one && openingOf(named, claim, one, instance);
    const opening = openingOn(node);
    return opening ? [{ record: named, claim, instance, opening, openingOn }] : [];
  });
  return opened.flat();
}

/** The record as it names the node, or as it was, when another was faster: the node is then initialized by its pass. */
async function nameNode(record: NodeClaimRecord, { metadata: { name } }: Node, { store, now }: LifecycleDeps): Promise<NodeClaimRecord> {
  if (record.nodeName === name) return record;
  const next = namedRecord(record, name, now());
  return (await ignoreConflict(store.update(next.record, next.history))) ?? record;
}

/** The pass of the single node tells why its write is refused. */
function unlessRefused<T>(write: Promise<T>): Promise<T | undefined> {
  return write.catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error;
    return undefined;
  });
}
