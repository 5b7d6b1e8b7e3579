import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { NodePool } from "../../../core/model/node-pool.ts";
import {
  CLAIM_UID,
  FINALIZER,
  instanceIdOf,
  is,
  isActive,
  isAlive,
  isDaemon,
  isDisrupted,
  isStaticPool,
  isUnplaceable,
  nameOf,
  POOL,
} from "./facts.ts";
import type { Sight } from "./invariant.ts";
import { roomlessBuffers } from "./room.ts";
import { wrongReplicas } from "./static-pools.ts";

/** The largest machine of the simulation's catalogue, in vCPUs. */
const MAX_VCPUS_OF_TYPE = 8;

/** Whether a pod may stay pending because the limits of each NodePool that it can use are nearly reached. */
export function isOutOfLimits(wanted: string | undefined, { pools, machines }: Sight): boolean {
  const open = pools.filter((pool) => !isStaticPool(pool) && (wanted === undefined || wanted === pool.metadata.name));
  return open.every(({ metadata, spec }: NodePool) => {
    const own = machines.filter((m) => isAlive(m) && m.instance.tags[POOL] === metadata.name);
    const cpu = Number(spec.limits?.["cpu"] ?? Number.POSITIVE_INFINITY) - own.reduce((sum, { type }) => sum + type.cpu, 0);
    const nodes = Number(spec.limits?.["nodes"] ?? Number.POSITIVE_INFINITY) - own.length;
    return cpu < MAX_VCPUS_OF_TYPE || nodes < 1;
  });
}

/** Sentences about NodeClaims, records, instances and nodes that disagree; empty when they agree. */
function disagreements({ records, claims, nodes, machines, commands }: Sight): string[] {
  const alive = machines.filter(isAlive);
  const meant = new Set(commands.flatMap(({ candidates }) => candidates.map(({ node }) => node)));
  const isWhole = (claim: NodeClaim): boolean => is(claim, "Launched") && is(claim, "Registered") && is(claim, "Initialized");
  return [
    ...records.flatMap((record) => {
      if (record.terminating) return [`record ${record.name} is still going`];
      const claim = claims.find(({ metadata }) => metadata.name === record.name);
      if (!claim) return [`record ${record.name} has no claim`];
      if (!alive.some(({ instance }) => instance.id === record.instance?.id)) return [`record ${record.name} has no machine`];
      return instanceIdOf(claim.status?.providerID) === record.instance?.id
        ? []
        : [`record ${record.name} and its claim name different machines`];
    }),
    ...claims.flatMap((claim) => {
      const { name, uid, deletionTimestamp, finalizers } = claim.metadata;
      if (deletionTimestamp !== undefined) return [`claim ${name} is still going`];
      if (!finalizers?.includes(FINALIZER)) return [`claim ${name} has no finalizer`];
      if (!records.some((r) => r.name === name && r.uid === uid)) return [`claim ${name} has no record`];
      return isWhole(claim) ? [] : [`claim ${name} is not up`];
    }),
    ...alive.flatMap(({ instance }) =>
      records.some((r) => r.instance?.id === instance.id && r.uid === instance.tags[CLAIM_UID])
        ? []
        : [`machine ${instance.id} has no record`],
    ),
    ...nodes.flatMap((node) => {
      const { name, deletionTimestamp, labels } = node.metadata;
      if (deletionTimestamp !== undefined) return [`node ${name} is still going`];
      if (isDisrupted(node) && !meant.has(name)) return [`node ${name} carries the disrupted taint`];
      if (!claims.some(({ status }) => status?.providerID === node.spec.providerID)) return [`node ${name} has no claim`];
      return labels?.["karpenter.sh/initialized"] === "true" ? [] : [`node ${name} is not initialized`];
    }),
  ];
}

/** Why the world is not at rest, one sentence a reason; empty when it is. */
export function unrest(sight: Sight): readonly string[] {
  // No node is launched for a DaemonSet's pod: it stays pending where other pods took its room.
  const pending = sight.pods.filter(
    (pod) =>
      isActive(pod) &&
      !isDaemon(pod) &&
      !isUnplaceable(pod) &&
      pod.status?.phase !== "Running" &&
      !isOutOfLimits(pod.spec.nodeSelector?.[POOL], sight),
  );
  return [
    ...pending.map((pod) => `pod ${nameOf(pod)} is ${pod.status?.phase}`),
    ...sight.commands.filter(({ phase }) => phase !== "Validating").map(({ id, phase }) => `command ${id} is ${phase}`),
    ...disagreements(sight),
    ...wrongReplicas(sight),
    ...(isOutOfLimits(undefined, sight) ? [] : roomlessBuffers(sight)),
  ];
}
