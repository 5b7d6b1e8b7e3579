import { contentHash } from "#core/lib/fnv.ts";
import { UNCORDON_MS, type Uncordon, uncordonOf } from "#core/lifecycle/hold.ts";
import { namedRecord } from "#core/lifecycle/registration.ts";
import type { Instance } from "#core/model/instance.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { podKey } from "#core/pods/predicates.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { takesNomination } from "#core/provisioning/node-nominations.ts";
import { recordByProviderId } from "../shared/claims-by-provider-id.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { heedsNominations, nominatePods } from "../shared/nominate-pods.ts";
import { ignoreConflict, ignoreConflictOrGone, retryOnConflict } from "../shared/optimistic.ts";
import { someAtATime } from "../shared/some-at-a-time.ts";
import { type ActionContext, type ClaimState, done, type Performed, requeue } from "./claim-state.ts";

// Nodes that are held until they can be uncordoned together, and the nominations of their pods
// (core/lifecycle/hold.ts).

/** Which nodes are uncordoned together, as a key. */
const groupKey = (nodes: readonly Node[]): string => contentHash(nodes.map(({ metadata }) => metadata.name).sort());

/** The key of these nodes when no other pass uncordons them; undefined when another has begun to. */
export async function claimUncordon(nodes: readonly Node[], { cluster, store, now }: LifecycleDeps): Promise<string | undefined> {
  const key = groupKey(nodes);
  return (await store.isFirstWithin(cluster.name, `opening/${key}`, now(), UNCORDON_MS)) ? key : undefined;
}

/**
 * Lets nodes take pods at the same moment: kube-scheduler, which tries all waiting pods as soon as one node is free,
 * then finds each pod's own node free. The reconcile of each node asks for this. The first one does it, and reconciles
 * all of their NodeClaims afterwards, because it has read them and their nodes. What it leaves, because it is killed or
 * a write is refused, the reconciles of the single nodes do.
 */
export async function uncordonTogether(nodes: readonly Node[], { state, deps }: ActionContext): Promise<Performed> {
  if (state.uncordons !== groupKey(nodes) && (await claimUncordon(nodes, deps)) === undefined) return done(state);
  const held = await heldOf(nodes, state, deps);
  await nominateHeld(
    held.map(({ uncordon: { pods, uids, node } }) => ({ pods, uids, node: node.metadata.name })),
    deps,
  );
  const written = await someAtATime(held, async (one) => {
    const node = await ignoreConflictOrGone(unlessRefused(writeUncordoned(one, deps)));
    const { record, claim, instance } = one;
    return node ? [{ name: record.name, state: { record, claim, instance, nodes: [node], otherYoungNodes: [] } }] : [];
  });
  const { own: [own] = [], others = [] } = Object.groupBy(written.flat(), ({ name }) => (name === state.record?.name ? "own" : "others"));
  return requeue(own?.state, others);
}

/**
 * Kubelet and the node controllers write a node most in the moment in which it becomes Ready. A conflict is retried at
 * once: a node that stays cordoned would lose its pods to those that are free.
 */
const MAX_TRIES = 5;

/** The node as it was written; undefined when it is not to be uncordoned any more. */
async function writeUncordoned({ uncordon, uncordonOn }: Held, { kubernetes }: LifecycleDeps): Promise<Node | undefined> {
  let isFirst = true;
  return retryOnConflict(MAX_TRIES, async () => {
    const next = isFirst ? uncordon : uncordonOn(await kubernetes.get("Node", uncordon.node.metadata.name));
    isFirst = false;
    return next && kubernetes.update("Node", next.node);
  });
}

interface Held {
  readonly record: NodeClaimRecord;
  readonly claim: NodeClaim;
  readonly instance: Instance;
  readonly uncordon: Uncordon;
  /** The same for the node as it is read again; undefined when there is nothing to uncordon. */
  readonly uncordonOn: (node: Node | undefined) => Uncordon | undefined;
}

async function heldOf(nodes: readonly Node[], state: ClaimState, deps: LifecycleDeps): Promise<readonly Held[]> {
  const { cluster, store, kubernetes, fleet } = deps;
  const claimOf = async (name: string): Promise<NodeClaim | undefined> =>
    name === state.claim?.metadata.name ? state.claim : kubernetes.get("NodeClaim", name);
  const found = await someAtATime(nodes, async (node) => {
    const record = await recordByProviderId(node.spec.providerID ?? "", store);
    const claim = record?.cluster === cluster.name ? await claimOf(record.name) : undefined;
    return record && claim ? [{ node, record, claim }] : [];
  });
  const held = found.flat();
  if (held.length === 0) return [];
  const instances = await fleet.describe(held.flatMap(({ record }) => record.instance?.id ?? []));
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const named = await someAtATime(held, async ({ node, record, claim }) => {
    const instance = byId.get(record.instance?.id ?? "");
    if (instance === undefined || uncordonOf(record, claim, node, instance) === undefined) return [];
    const next = await nameNode(record, node, deps);
    const uncordonOn = (one: Node | undefined) => one && uncordonOf(next, claim, one, instance);
    const uncordon = uncordonOn(node);
    return uncordon ? [{ record: next, claim, instance, uncordon, uncordonOn }] : [];
  });
  return named.flat();
}

/** The record with the name of the node; on a conflict as it was: the reconcile of that node then initializes it. */
async function nameNode(record: NodeClaimRecord, { metadata: { name } }: Node, { store, now }: LifecycleDeps): Promise<NodeClaimRecord> {
  if (record.nodeName === name) return record;
  const next = namedRecord(record, name, now());
  return (await ignoreConflict(store.update(next.record, next.history))) ?? record;
}

/** The reconcile of the single node reports why its write is refused. */
function unlessRefused<T>(write: Promise<T>): Promise<T | undefined> {
  return write.catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error;
    return undefined;
  });
}

/** Pods ("namespace/name") with their UIDs, and the name of the node that was launched for them. */
interface HeldPods {
  readonly pods: readonly string[];
  readonly uids: readonly string[];
  readonly node: string;
}

/** Reading so many pods by name costs as much as listing the waiting pods. No benchmark has tuned it. */
const FEW = 3;

/** Nominates the waiting pods that nodes were launched for. A pod of the same name and another UID is new. */
export async function nominateHeld(held: readonly HeldPods[], deps: LifecycleDeps): Promise<void> {
  if (held.every(({ pods }) => pods.length === 0) || !(await heedsNominations(deps))) return;
  const asked = held.flatMap(({ pods, uids, node }) => {
    const known = new Set(uids);
    return pods.map((key) => ({ key, known, node }));
  });
  const present = await readPods(
    asked.map(({ key }) => key),
    deps,
  );
  const nominations = asked.flatMap(({ key, known, node }) => {
    const pod = present.get(key);
    return pod && known.has(pod.metadata.uid ?? "") && takesNomination(pod) ? [{ pod, node }] : [];
  });
  await nominatePods(nominations, deps);
}

/** These pods ("namespace/name"), as far as they exist and are not bound. */
async function readPods(keys: readonly string[], { kubernetes }: Pick<LifecycleDeps, "kubernetes">): Promise<ReadonlyMap<string, Pod>> {
  const read = (key: string): Promise<Pod | undefined> => {
    const [namespace = "", name = ""] = key.split("/");
    return kubernetes.get("Pod", name, namespace);
  };
  const pods = keys.length > FEW ? await kubernetes.list("Pod", { fieldSelector: UNBOUND }) : await Promise.all(keys.map(read));
  return new Map(pods.flatMap((pod) => (pod ? [[podKey(pod), pod]] : [])));
}

const UNBOUND = "spec.nodeName=,status.phase=Pending";
