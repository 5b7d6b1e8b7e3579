import { storeAddresses } from "#adapters/store/subnet-addresses.ts";
import { rolloutOfClass } from "#core/drift/rollout.ts";
import { hasChoice } from "#core/launch/free-addresses.ts";
import { equalJson } from "#core/lib/json.ts";
import { isTrue, withCondition, withoutCondition, withReadyLast } from "#core/model/conditions.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass, EC2NodeClassStatus } from "#core/model/node-class.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION, NODE_CLASS_HASH_VERSION_KEY, nodeClassHash } from "#core/node-class/hash.ts";
import { nodeClassStatus } from "#core/node-class/status.ts";
import { kubeletFailures } from "#core/offerings/kubelet-of-type.ts";
import type { Subnet } from "#core/ports/cloud-inventory.ts";
import { retryAfterSeconds } from "#core/ports/wake-ups.ts";
import { ignoreConflictOrGone } from "../shared/optimistic.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { publishFinalized, writeStatus } from "../shared/write-status.ts";
import { definitionWakeUps } from "./definition-wake-ups.ts";
import type { CatalogDeps } from "./deps.ts";
import { type HashAnnotations, moveClaims, withHash } from "./hash-annotations.ts";
import { dueParts, failuresIn, type LookUpContext, type ResolvedParts, resolveParts } from "./resolve-node-class.ts";

const FINALIZER = "karpenter.k8s.aws/termination";

/** After so many failures in a row a lookup is left to the sweep: a wrong setting is not asked about all the time. */
const SOON_TRIED_AGAIN = 5;

/** What a warm function remembers, by the UID of the EC2NodeClass. */
export type Memory = Map<string, ResolvedParts>;

/**
 * Refreshes one EC2NodeClass and returns its present state; undefined once it is removed. Writes only what has changed.
 */
export async function refreshNodeClass(
  nodeClass: EC2NodeClass,
  claims: readonly NodeClaim[],
  memory: Memory,
  context: LookUpContext,
  deps: CatalogDeps,
): Promise<EC2NodeClass | undefined> {
  const { kubernetes, cluster, log } = deps;
  const own = claims.filter(({ spec }) => spec.nodeClassRef.name === nodeClass.metadata.name);
  if (nodeClass.metadata.deletionTimestamp !== undefined) return finish(nodeClass, own, deps);

  const now = (): Promise<EC2NodeClass | undefined> => kubernetes.get("EC2NodeClass", nodeClass.metadata.name);
  const current = await mark(nodeClass, own, deps);
  // Another run has written it first, and does what this run was about to do.
  if (current === undefined) return now();
  const uid = current.metadata.uid ?? current.metadata.name;
  const due = dueParts(current, memory.get(uid), context);
  const findings = await resolveParts(current, due, context);
  const failed = failuresIn(findings);
  for (const [part, error] of failed)
    log.error("failed resolving EC2NodeClass", { EC2NodeClass: { name: current.metadata.name }, part, error });
  if (findings.subnets !== undefined && !("error" in findings.subnets)) await storeFreeAddresses(current, findings.subnets, deps);
  const failures = kubeletFailures(current.spec, context.types, context.settings.reservedEnis);
  const found = nodeClassStatus(current, { ...findings, ...(failures && { kubeletFailures: failures }) }, context.now);
  const status = withRollout({ ...current, status: found }, own, context.now);
  let written: EC2NodeClass | undefined = current;
  if (!equalJson(status, current.status ?? {})) {
    written = await ignoreConflictOrGone(writeStatus("EC2NodeClass", { ...current, status }, current.status?.conditions, deps));
    if (written === undefined) return now();
    const isNews = !equalJson(decisive(found), decisive(current.status));
    if (isNews && isTrue(status.conditions, "Ready")) {
      const cause = isTrue(current.status?.conditions, "Ready") ? "NodeClassChanged" : "NodeClassReady";
      await deps.wakeUps.wake(definitionWakeUps(cluster.name, cause, "EC2NodeClass", current.metadata.name));
    }
  }
  // Remembered only after the write: a run that is killed before it must resolve the parts again.
  const before = memory.get(uid);
  const kept = before?.generation === current.metadata.generation ? before : undefined;
  const failedInARow = failed.size > 0 ? (kept?.failures ?? 0) + 1 : 0;
  const isSoonTriedAgain = failedInARow > 0 && failedInARow <= SOON_TRIED_AGAIN;
  // What failed stays due.
  const resolved = [...due].filter((part) => !isSoonTriedAgain || !failed.has(part));
  memory.set(uid, {
    generation: current.metadata.generation,
    at: { ...kept?.at, ...Object.fromEntries(resolved.map((part) => [part, context.now])) },
    failures: failedInARow,
  });
  if (isSoonTriedAgain) {
    const delayMs = retryAfterSeconds(failedInARow) * 1_000;
    await deps.wakeUps.wake([{ kind: "catalog", cluster: cluster.name, cause: "LookupFailed", detail: current.metadata.name, delayMs }]);
  }
  return written;
}

/** The status with the condition Drifted; Ready stays the last condition. */
function withRollout(nodeClass: EC2NodeClass, claims: readonly NodeClaim[], now: number): EC2NodeClassStatus {
  const { metadata, status = {} } = nodeClass;
  const at = { now, ...(metadata.generation !== undefined && { generation: metadata.generation }) };
  const conditions = withCondition(status.conditions ?? [], rolloutOfClass(nodeClass, claims), at);
  return { ...status, conditions: withReadyLast(conditions) };
}

/** What plans and disruption decide by. How many nodes follow a change is news for people only. */
const decisive = (status: EC2NodeClassStatus | undefined): EC2NodeClassStatus => ({
  ...status,
  conditions: withoutCondition(status?.conditions ?? [], "Drifted"),
});

/**
 * Stores how many addresses each subnet has left. Launches read them where a zone has a choice of subnets; other
 * classes need none.
 */
async function storeFreeAddresses(
  { metadata }: EC2NodeClass,
  subnets: readonly Subnet[],
  { cluster, store, now }: CatalogDeps,
): Promise<void> {
  if (!hasChoice(subnets)) return;
  const free = Object.fromEntries(subnets.map(({ id, availableIps }) => [id, availableIps]));
  await storeAddresses(store, { cluster: cluster.name, nodeClass: metadata.name }, { at: now(), free });
}

/**
 * Writes finalizer and hash in one update. The NodeClaims' annotations are written first, so that no hash is compared
 * with one of another version. Undefined when another run was faster.
 */
async function mark(
  nodeClass: EC2NodeClass,
  claims: readonly NodeClaim[],
  { kubernetes, cluster }: CatalogDeps,
): Promise<EC2NodeClass | undefined> {
  const hash: HashAnnotations = {
    hashKey: NODE_CLASS_HASH_KEY,
    versionKey: NODE_CLASS_HASH_VERSION_KEY,
    hash: nodeClassHash(nodeClass, cluster.caBundle),
    version: NODE_CLASS_HASH_VERSION,
  };
  const annotations = withHash(nodeClass, hash);
  const { finalizers = [], ...metadata } = nodeClass.metadata;
  if (annotations === undefined && finalizers.includes(FINALIZER)) return nodeClass;
  if (metadata.annotations?.[hash.versionKey] !== hash.version) await moveClaims(claims, hash, kubernetes);
  const marked = {
    ...nodeClass,
    metadata: {
      ...metadata,
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
      annotations: annotations ?? metadata.annotations ?? {},
    },
  };
  return ignoreConflictOrGone(kubernetes.update("EC2NodeClass", marked));
}

/**
 * Removes the finalizer of a deleted EC2NodeClass once no NodeClaim refers to it, and the instance profile that was
 * made for it.
 */
async function finish(nodeClass: EC2NodeClass, claims: readonly NodeClaim[], deps: CatalogDeps): Promise<EC2NodeClass | undefined> {
  const { metadata, status, spec } = nodeClass;
  if (!metadata.finalizers?.includes(FINALIZER)) return undefined;
  if (claims.length > 0) {
    const names = claims.slice(0, 5).map((claim) => claim.metadata.name);
    const message = `Waiting on NodeClaim termination for ${names.join(", ")}${claims.length > 5 ? ` and ${claims.length - 5} other(s)` : ""}`;
    await publishOnce(
      { type: "Normal", reason: "WaitingOnNodeClaimTermination", message, about: { kind: "EC2NodeClass", metadata } },
      deps,
    );
    return nodeClass;
  }
  if (spec.role !== undefined && status?.instanceProfile !== undefined && !deps.settings.isolatedVpc)
    await deps.inventory.removeInstanceProfile?.(status.instanceProfile);
  const finalizers = metadata.finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const freed = await ignoreConflictOrGone(deps.kubernetes.update("EC2NodeClass", { ...nodeClass, metadata: { ...metadata, finalizers } }));
  if (freed !== undefined) await publishFinalized("EC2NodeClass", nodeClass, FINALIZER, deps);
  return undefined;
}
