import type { ClaimView, Step } from "#core/lifecycle/action.ts";
import { type Instance, providerIdOf } from "#core/model/instance.ts";
import type { LaunchGroup } from "#core/model/launch-group.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import { isReschedulable } from "#core/pods/predicates.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { takeTurn } from "../shared/disruption-rate.ts";
import { readPauses } from "../shared/pauses.ts";
import type { ClaimState } from "./claim-state.ts";

type ViewDeps = Omit<LifecycleDeps, "wakeUps">;

/**
 * What each step of a NodeClaim depends on: its record, the NodeClaim, and the nodes of its instance. What the state
 * holds is not read again.
 */
export async function readView(name: string, deps: ViewDeps, state: ClaimState = {}): Promise<ClaimView> {
  const record = "record" in state ? state.record : await deps.store.get(deps.cluster.name, name);
  const isNew = isUntouched(record) && !state.isContested;
  const claim = "claim" in state || isNew ? state.claim : await deps.kubernetes.get("NodeClaim", name);
  const { nodes, otherYoungNodes = [] } = state.nodes ? state : await nodesOf(record, claim, state, deps);
  return {
    now: deps.now(),
    name,
    record,
    claim,
    nodes: nodes ?? [],
    otherYoungNodes,
    instance: state.instance,
    pods: undefined,
    volumeAttachments: undefined,
    replacements: [],
    launchGroup: state.launchGroup,
    rebootRefused: state.rebootRefused,
    hasEventSource: deps.hasEventSource ?? false,
  };
}

/**
 * Whether a record is as its plan has written it, so that no NodeClaim is read for it: most likely there is none. When
 * an earlier run was killed after it had created one, the API server refuses a second, and then it is read.
 */
function isUntouched(record: NodeClaimRecord | undefined): boolean {
  return record?.version === 1 && record.reason !== "adopted" && (record.uid ?? record.instance ?? record.terminating) === undefined;
}

/** Selects the few nodes that may be those of a NodeClaim that waits for its node. */
export const NOT_INITIALIZED = { labelSelector: "!karpenter.sh/initialized" } as const;

/**
 * The state after a view was read. Before the instance is known, no node has been read. Pods are read for each step,
 * because they come and go.
 */
export function seenIn({ record, claim, nodes, otherYoungNodes, instance }: ClaimView, state: ClaimState): ClaimState {
  const areNodesRead = providerIdIn(record, claim) !== undefined;
  const { youngNodes: _, ...rest } = state;
  return { ...rest, record, claim, instance, ...(areNodesRead && { nodes, otherYoungNodes }) };
}

/** The part of the view that a step asks for. */
export async function readAsked(ask: NonNullable<Step["ask"]>, view: ClaimView, deps: ViewDeps): Promise<Partial<ClaimView>> {
  const { name, record, nodes } = view;
  if (ask === "pauses") return { pauses: await readPauses(deps) };
  if (ask === "instance") return { instance: await readInstance(record, deps) };
  if (ask === "turn") return { turn: (await takeTurn(name, record?.nodePool, (view.pods ?? []).filter(isReschedulable), deps)) ?? "now" };
  if (ask === "launchGroup") return { launchGroup: await readGroup(record, deps) };
  if (ask === "volumeAttachments") return { volumeAttachments: await attachmentsOf(nodes, deps) };
  const pods = await podsOn(nodes, deps);
  const isInterrupted = record?.terminating?.reason === "spot_interrupted";
  return { pods, replacements: isInterrupted ? await replacementsFor(pods, name, deps) : [] };
}

/** The state of the NodeClaim's instance, or "gone" when EC2 does not know its id. */
async function readInstance(record: NodeClaimRecord | undefined, deps: Pick<LifecycleDeps, "fleet">): Promise<Instance | "gone"> {
  if (record?.instance === undefined) return "gone";
  const [instance] = await deps.fleet.describe([record.instance.id]);
  return instance ?? "gone";
}

async function readGroup(record: NodeClaimRecord | undefined, { store }: ViewDeps): Promise<LaunchGroup | "none"> {
  if (record?.launchGroup === undefined) return "none";
  return (await store.launchGroup(record.cluster, record.launchGroup.id)) ?? "none";
}

function providerIdIn(record: NodeClaimRecord | undefined, claim: NodeClaim | undefined): string | undefined {
  return record?.instance ? providerIdOf(record.instance) : claim?.status?.providerID;
}

/**
 * The nodes of an instance: by name once the NodeClaim or its record knows it; before that among the few nodes that are
 * not initialized; among all nodes when the NodeClaim was lost. Empty before the instance is known.
 */
async function nodesOf(
  record: NodeClaimRecord | undefined,
  claim: NodeClaim | undefined,
  { youngNodes }: ClaimState,
  { kubernetes }: ViewDeps,
): Promise<Pick<ClaimView, "nodes" | "otherYoungNodes">> {
  const providerId = providerIdIn(record, claim);
  if (providerId === undefined) return { nodes: [], otherYoungNodes: [] };
  const nameInStatus = claim?.status?.nodeName;
  const nodeName = nameInStatus ?? record?.nodeName;
  if (nodeName !== undefined) {
    const listed = youngNodes?.find(({ metadata }) => metadata.name === nodeName);
    const node = listed ?? (await kubernetes.get("Node", nodeName));
    const isOwn = node?.spec.providerID === providerId;
    if (isOwn || nameInStatus !== undefined) return { nodes: isOwn ? [node] : [], otherYoungNodes: [] };
  }
  // A NodeClaim that was lost and created again may have a node that was initialized long ago.
  const young =
    claim !== undefined && record?.reason !== "adopted" && record?.initializedAt === undefined && record?.terminating === undefined;
  const nodes = young ? (youngNodes ?? (await kubernetes.list("Node", NOT_INITIALIZED))) : await kubernetes.list("Node");
  const { own = [], others = [] } = Object.groupBy(nodes, ({ spec }) => (spec.providerID === providerId ? "own" : "others"));
  return { nodes: own, otherYoungNodes: young ? others : [] };
}

/** Nodes of which only the name is known. */
type NamedNodes = readonly { readonly metadata: Pick<Node["metadata"], "name"> }[];

export async function podsOn(nodes: NamedNodes, { kubernetes }: Pick<ViewDeps, "kubernetes">) {
  const lists = await Promise.all(nodes.map(({ metadata }) => kubernetes.list("Pod", { fieldSelector: `spec.nodeName=${metadata.name}` })));
  return lists.flat();
}

/**
 * Volume attachments that must be detached before the instance may be terminated: those whose volume no remaining pod
 * on the node uses (karpenter: pkg/controllers/node/termination/controller.go, filterVolumeAttachments).
 */
export async function attachmentsOf(nodes: NamedNodes, deps: Pick<ViewDeps, "kubernetes">) {
  const { kubernetes } = deps;
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const attached = (await kubernetes.list("VolumeAttachment")).filter(
    ({ spec }) => names.has(spec.nodeName) && spec.source.persistentVolumeName !== undefined,
  );
  const pods = attached.length === 0 ? [] : await podsOn(nodes, deps);
  if (pods.length === 0) return attached;
  const claims = pods.flatMap(({ metadata, spec }) =>
    (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
      persistentVolumeClaim ? [{ name: persistentVolumeClaim.claimName, namespace: metadata.namespace ?? "default" }] : [],
    ),
  );
  const bound = await Promise.all(claims.map(({ name, namespace }) => kubernetes.get("PersistentVolumeClaim", name, namespace)));
  const kept = new Set(bound.map((claim) => claim?.spec.volumeName));
  return attached.filter(({ spec }) => !kept.has(spec.source.persistentVolumeName));
}

/**
 * Records whose NodeClaims were planned for pods of the node that is leaving. They may be a moment old: then the pods
 * wait for the next check.
 */
async function replacementsFor(pods: readonly Pod[], name: string, deps: ViewDeps) {
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  const records = await recentRecords(deps);
  return records.filter(
    (record) => record.name !== name && record.terminating === undefined && record.podUids.some((uid) => uids.has(uid)),
  );
}

/**
 * The records of a cluster as they were at most two seconds ago. EC2 may take back many machines at once, and each of
 * their NodeClaims needs all records: the NodeClaims of those seconds share one read of the table, so that what is read
 * does not grow with the square of the notices. The messages of one invocation begin at once: they share the read that
 * is under way. Only reads that have ended are kept longer: one under way belongs to an invocation that may be frozen
 * or killed, and others would wait for it.
 */
export async function recentRecords({
  cluster,
  store,
  memory,
  now,
  invocation,
}: Pick<LifecycleDeps, "cluster" | "store" | "memory" | "now" | "invocation">): Promise<readonly NodeClaimRecord[]> {
  const at = now();
  const recent = memory.recall("records", at);
  if (recent !== undefined) return recent;
  const read = async (): Promise<readonly NodeClaimRecord[]> => {
    const records = await store.list(cluster.name);
    memory.keep("records", records, at);
    return records;
  };
  if (invocation === undefined) return read();
  const shared = invocation.recall("recordsUnderWay", at, { key: cluster.name });
  // A read that has failed fails the message that began it, and no other one.
  if (shared !== undefined) return shared.catch(read);
  const begun = read().finally(() => invocation.forget("recordsUnderWay", cluster.name));
  invocation.keep("recordsUnderWay", begun, at, cluster.name);
  return begun;
}
