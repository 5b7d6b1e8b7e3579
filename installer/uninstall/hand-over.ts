import { INTENT } from "#core/model/labels.ts";
import type { Lease } from "#core/model/lease.ts";
import { isManagedClaim } from "#core/model/managed.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { REGISTRATIONS } from "#core/node-pool/registration-health.ts";
import { ConflictError, NotFoundError } from "#core/ports/errors.ts";
import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { ClusterApi, KubeObject, Records } from "../account/ports.ts";
import { isReady, type KarpenterDeployment, objectOf, replicasBefore, scaleUp } from "../migrate/karpenter-deployment.ts";
import { type HeldLease, holdLease, runningLease } from "../migrate/karpenter-lease.ts";

interface HandOver {
  readonly cluster: string;
  readonly api: ClusterApi;
  /** Undefined where the stack is gone. */
  readonly records: Records | undefined;
  /** The RBAC of the functions. */
  readonly rights: readonly KubeObject[];
  readonly karpenter: KarpenterDeployment | undefined;
  readonly startKarpenter: boolean;
  readonly print: Print;
  readonly sleep: (ms: number) => Promise<void>;
  readonly now: () => number;
}

const POLL_MS = 2_000;
const LIFECYCLE = "karpenter-serverless:lifecycle";
const HOLDER = "uninstall --keep-nodes";
const LEASE_TTL_MS = 30_000;
/** A launch that does not succeed is given up by the functions after five minutes. */
const SETTLE_MS = 8 * 60_000;
const START_MS = 5 * 60_000;

/**
 * Leaves the nodes to Karpenter. First no controller decides: Karpenter's own Lease and the lease of the table are
 * held. Then the functions finish what they have begun to launch or to end, lose their rights in the cluster, and what
 * only they know is taken off. NodeClaims, their finalizers, instance tags and instance profiles are what Karpenter's
 * are, and stay. Each step looks what is there, so that it can be repeated as a whole; killed before the rights are
 * gone, the functions continue within a minute as if nothing had been.
 */
export async function handOver(given: HandOver): Promise<void> {
  const { api, now, karpenter, records, rights, print, cluster } = given;
  const running = await runningLease(api, now());
  const lease = running === undefined ? holdLease(api, karpenter?.namespace, now) : undefined;
  if (running !== undefined) print(`Karpenter runs (Lease ${running}), so the functions decide nothing`);
  const held = await takeLeases(given, lease);
  try {
    // Without its rights the function finishes nothing any more: an earlier run had waited for that.
    if (records !== undefined && (await canFinish(given))) await settle(given, records, held);
    for (const object of [...rights].reverse()) await api.remove(object);
    print(`the functions have no rights in cluster ${cluster} any more`);
    await takeOffMarks(given, held);
    if (records !== undefined) await removeRecords(given, records);
  } finally {
    await held.release();
  }
  await startAgain(given);
}

/** Whether the lifecycle function, which launches and terminates, still has its rights in the cluster. */
async function canFinish({ api, rights }: HandOver): Promise<boolean> {
  const its = rights.filter(({ kind, metadata }) => kind === "ClusterRoleBinding" && metadata.name === LIFECYCLE);
  for (const object of its) if ((await api.find(object)) === undefined) return false;
  return true;
}

/** Both leases. Without the table's, a decision that began before could still be written. */
async function takeLeases({ records, cluster, now, sleep, print }: HandOver, lease: HeldLease | undefined): Promise<HeldLease> {
  await lease?.renew();
  if (lease !== undefined) print("holding Karpenter's Lease, so that no controller decides during the hand-over");
  let own: Lease | undefined;
  while (records !== undefined && own === undefined) {
    own = await records.acquireLease(cluster, HOLDER, now(), LEASE_TTL_MS);
    if (own !== undefined) break;
    await lease?.renew();
    await sleep(POLL_MS);
  }
  return {
    renew: async () => {
      await lease?.renew();
      if (own === undefined || records === undefined) return;
      own = await records.renewLease(own, now(), LEASE_TTL_MS);
      if (own === undefined)
        throw new InputError(
          `another function took the lease of cluster ${cluster} while this command was held up, and may have decided something; run this again`,
        );
    },
    release: async () => {
      if (own !== undefined) await records?.releaseLease(own);
      await lease?.release();
    },
  };
}

/** Waits until each record's instance shows on its NodeClaim, and each end that was decided shows as its deletion. */
async function settle({ cluster, api, now, sleep, print }: HandOver, records: Records, held: HeldLease): Promise<void> {
  const until = now() + SETTLE_MS;
  for (let told = ""; ; await sleep(POLL_MS)) {
    const claims = new Map((await claimsOf(api)).map((claim) => [claim.metadata.name, claim]));
    const open = (await records.list(cluster)).filter((record) => isOpen(record, claims.get(record.name))).map(({ name }) => name);
    if (open.length === 0) return;
    if (now() > until)
      throw new InputError(
        `NodeClaim ${open.join(", ")} is still being launched or ended; see kubectl describe nodeclaim, then run this again`,
      );
    const line = `waiting for ${open.slice(0, 5).join(", ")}${open.length > 5 ? " …" : ""}, which ${open.length === 1 ? "is" : "are"} being launched or ended`;
    if (line !== told) print(line);
    told = line;
    await held.renew();
  }
}

/** Karpenter cannot know what only the record says: a launch without its instance, an end without the deletion. */
function isOpen({ uid, launch, instance, terminating }: NodeClaimRecord, claim: NodeClaim | undefined): boolean {
  if (terminating !== undefined) return claim !== undefined && claim.metadata.deletionTimestamp === undefined;
  if (claim === undefined) return uid === undefined || instance !== undefined;
  return launch !== undefined || instance === undefined || claim.status?.providerID === undefined;
}

async function claimsOf(api: Pick<ClusterApi, "list">): Promise<readonly NodeClaim[]> {
  const claims = (await api.list({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim" })) as readonly unknown[] as NodeClaim[];
  return claims.filter(isManagedClaim);
}

/** What only the functions know, by the kind that has it. A node has the annotations of its NodeClaim. */
const MARKS = [
  { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", annotation: INTENT },
  { apiVersion: "v1", kind: "Node", annotation: INTENT },
  { apiVersion: "karpenter.sh/v1", kind: "NodePool", annotation: REGISTRATIONS },
] as const;

/** Another controller's objects have none of these. */
async function takeOffMarks({ api, print }: HandOver, held: HeldLease): Promise<void> {
  let claims = 0;
  for (const { apiVersion, kind, annotation } of MARKS) {
    const marked = (await api.list({ apiVersion, kind })).filter(({ metadata }) => metadata.annotations?.[annotation] !== undefined);
    for (const [i, { metadata }] of marked.entries()) {
      if (i % 50 === 49) await held.renew();
      await unmark({ apiVersion, kind, metadata: { name: metadata.name } }, annotation, api);
    }
    if (kind === "NodeClaim") claims = marked.length;
  }
  print(`${claims} ${claims === 1 ? "NodeClaim is" : "NodeClaims are"} as Karpenter makes them`);
}

async function unmark(object: KubeObject, annotation: string, api: Pick<ClusterApi, "patch">): Promise<void> {
  try {
    await api.patch(object, { metadata: { annotations: { [annotation]: null } } });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
}

/** A record that stays would bring its NodeClaim back into a stack that serves other clusters, too. */
async function removeRecords({ cluster, print }: HandOver, records: Records): Promise<void> {
  for (const command of await records.commands(cluster)) await ignoringConflict(records.removeCommand(command));
  let left = await records.list(cluster);
  // A function that was in the middle of a step may write its record once more.
  for (let tries = 0; left.length > 0 && tries < 3; tries += 1) {
    for (const record of left) await ignoringConflict(records.remove(record));
    left = await records.list(cluster);
  }
  if (left.length > 0) throw new InputError(`${left.length} records are still being written; run this again`);
  print("the records of its NodeClaims are removed");
}

async function ignoringConflict(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

async function startAgain({ api, karpenter, startKarpenter, print, sleep, now }: HandOver): Promise<void> {
  if (!startKarpenter || karpenter === undefined) return;
  const { namespace, name } = karpenter;
  await scaleUp(karpenter, api);
  print(`scaled Deployment ${namespace}/${name} to ${replicasBefore(karpenter)}; waiting until it is ready`);
  for (const until = now() + START_MS; ; await sleep(POLL_MS)) {
    if (await isReady(karpenter, api)) return;
    if (now() > until)
      throw new InputError(
        `Karpenter is not ready after five minutes; see kubectl describe ${objectOf(karpenter).kind.toLowerCase()} ${name} --namespace ${namespace}, then run this again`,
      );
  }
}
