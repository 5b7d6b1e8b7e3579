import type { NodeClaim } from "#core/model/node-claim.ts";
import { CLAIM_UID, FINALIZER, instanceIdOf, is, isActive, isAlive, isDaemon, isDisrupted, isUnplaceable, nameOf, POOL } from "./facts.ts";
import type { Sight } from "./invariant.ts";
import { isOutOfLimits } from "./out-of-limits.ts";
import { overdue } from "./overdue.ts";
import { roomlessBuffers } from "./room.ts";
import { wrongReplicas } from "./static-pools.ts";

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
    ...overdue(sight),
  ];
}
