import type { ClaimView } from "../../core/lifecycle/action.ts";
import { isTrue } from "../../core/model/conditions.ts";
import type { Instance } from "../../core/model/instance.ts";
import type { Node } from "../../core/model/node.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import type { LifecycleDeps } from "../shared/cluster-deps.ts";
import { recentRecords } from "./recent-records.ts";

type ViewDeps = Pick<LifecycleDeps, "cluster" | "kubernetes" | "store" | "fleet" | "now" | "invocation">;

/** Reads what the next step of a NodeClaim depends on, and no more: a NodeClaim that is initialized costs two reads. */
export async function readView(name: string, deps: ViewDeps): Promise<ClaimView> {
  const [record, claim] = await Promise.all([deps.store.get(deps.cluster.name, name), deps.kubernetes.get("NodeClaim", name)]);
  const providerId = providerIdOf(record) ?? claim?.status?.providerID;
  const [nodes, otherYoungNodes] = providerId === undefined ? [[], []] : await nodesOf(providerId, claim, record, deps);
  const ending = record?.terminating !== undefined && nodes.length > 0;
  const interrupted = ending && record.terminating?.reason === "spot_interrupted";
  const pods = ending ? await podsOn(nodes, deps) : [];
  const detaching = ending && isTrue(claim?.status?.conditions, "Drained");
  return {
    now: deps.now(),
    name,
    record,
    claim,
    nodes,
    otherYoungNodes,
    instance: undefined,
    pods,
    volumeAttachments: detaching ? await attachmentsOf(nodes, pods, deps) : [],
    replacements: interrupted ? await replacementsFor(pods, name, deps) : [],
  };
}

/** The state of the NodeClaim's instance, or "gone" when EC2 does not know its id. */
export async function readInstance(record: NodeClaimRecord | undefined, deps: Pick<LifecycleDeps, "fleet">): Promise<Instance | "gone"> {
  if (record?.instance === undefined) return "gone";
  const [instance] = await deps.fleet.describe([record.instance.id]);
  return instance ?? "gone";
}

function providerIdOf(record: NodeClaimRecord | undefined): string | undefined {
  return record?.instance && `aws:///${record.instance.zone}/${record.instance.id}`;
}

/**
 * The nodes of an instance: by name once the NodeClaim knows it; before that among the few nodes that are not
 * initialized; among all nodes when the NodeClaim was lost. The others of those few nodes are its second part.
 */
async function nodesOf(
  providerId: string,
  claim: NodeClaim | undefined,
  record: NodeClaimRecord | undefined,
  { kubernetes }: ViewDeps,
): Promise<readonly [own: readonly Node[], otherYoung: readonly Node[]]> {
  const nodeName = claim?.status?.nodeName;
  if (nodeName !== undefined) {
    const node = await kubernetes.get("Node", nodeName);
    return [node?.spec.providerID === providerId ? [node] : [], []];
  }
  // A NodeClaim that was lost and created again may have a node that was initialized long ago.
  const young =
    claim !== undefined && record?.reason !== "adopted" && record?.initializedAt === undefined && record?.terminating === undefined;
  const nodes = await kubernetes.list("Node", young ? { labelSelector: "!karpenter.sh/initialized" } : {});
  const own = nodes.filter(({ spec }) => spec.providerID === providerId);
  return [own, young ? nodes.filter(({ spec }) => spec.providerID !== providerId) : []];
}

async function podsOn(nodes: readonly Node[], { kubernetes }: ViewDeps) {
  const lists = await Promise.all(nodes.map(({ metadata }) => kubernetes.list("Pod", { fieldSelector: `spec.nodeName=${metadata.name}` })));
  return lists.flat();
}

/**
 * Volume attachments that must be detached before the instance may be terminated: those whose volume no remaining pod
 * on the node uses (karpenter: pkg/controllers/node/termination/controller.go, filterVolumeAttachments).
 */
async function attachmentsOf(nodes: readonly Node[], pods: ClaimView["pods"], { kubernetes }: ViewDeps) {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const attached = (await kubernetes.list("VolumeAttachment")).filter(
    ({ spec }) => names.has(spec.nodeName) && spec.source.persistentVolumeName !== undefined,
  );
  if (attached.length === 0 || pods.length === 0) return attached;
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
 * wait for the next look.
 */
async function replacementsFor(pods: ClaimView["pods"], name: string, deps: ViewDeps) {
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  const records = await recentRecords(deps);
  return records.filter(
    (record) => record.name !== name && record.terminating === undefined && record.podUids.some((uid) => uids.has(uid)),
  );
}
