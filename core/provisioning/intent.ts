// core/provisioning: turns a planned NodeClaim into the record of its intent, and shows NodeClaims in flight to the
// next plan. Plans, NodePools and records come in; records and snapshots go out. How plans are found, and the store,
// must not be known here.

import type { InstanceType } from "../model/instance-type.ts";
import { INSTANCE_TYPE, MIN_VALUES_RELAXED, NODE_POOL, NODE_POOL_HASH, NODE_POOL_HASH_VERSION } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { ClaimReason, NodeClaimRecord } from "../model/node-claim-record.ts";
import type { NodePool } from "../model/node-pool.ts";
import type { PlannedNodeClaim } from "../model/plan.ts";
import { overlayAnnotations } from "../node-overlay/annotations.ts";
import { NODE_POOL_HASH_VERSION_VALUE, nodePoolHash } from "../node-pool/hash.ts";

interface IntentFacts {
  readonly cluster: string;
  /** The intentId: random, or derived from a decision so that repeated writes of the decision agree. */
  readonly id: string;
  /** A name that no other NodeClaim has (claim-name.ts). */
  readonly name: string;
  readonly now: number;
  readonly reason: ClaimReason;
  readonly podUids: readonly string[];
  readonly heldFor?: readonly string[];
  readonly commandId?: string;
  /** How often the API server has refused a NodeClaim for some of these pods before. */
  readonly refusals?: number;
  /** The instance types of the NodePool; the NodeClaim's annotations say which of them overlays changed. */
  readonly instanceTypes?: readonly InstanceType[];
}

/**
 * A planned NodeClaim as the record of its intent, with the NodeClaim object to create
 * (karpenter: pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, NodeClaimTemplate.ToNodeClaim).
 */
export function intentFor(planned: PlannedNodeClaim, pool: NodePool, facts: IntentFacts): NodeClaimRecord {
  const { name } = facts;
  const { generation } = pool.metadata;
  return {
    cluster: facts.cluster,
    name,
    version: 0,
    intentId: facts.id,
    nodePool: pool.metadata.name,
    manifest: manifestFor(name, planned, pool, facts),
    reason: facts.reason,
    createdAt: facts.now,
    podUids: facts.podUids,
    ...(facts.heldFor !== undefined && { heldFor: facts.heldFor }),
    instanceTypes: planned.instanceTypes,
    pricePerHour: planned.pricePerHour,
    ...(facts.commandId !== undefined && { commandId: facts.commandId }),
    ...(facts.refusals && { refusals: facts.refusals }),
    ...(generation !== undefined && { nodePoolGeneration: generation }),
    launchAttempts: 0,
    dueAt: facts.now,
  };
}

function manifestFor(name: string, planned: PlannedNodeClaim, pool: NodePool, { instanceTypes = [] }: IntentFacts): NodeClaim {
  const { template } = pool.spec;
  const { nodeClassRef, startupTaints, expireAfter, terminationGracePeriod } = template.spec;
  const others = planned.requirements.filter(({ key }) => key !== NODE_POOL);
  const own = { key: NODE_POOL, operator: "In", values: [pool.metadata.name] } as const;
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: {
        ...template.metadata?.labels,
        ...planned.labels,
        [NODE_POOL]: pool.metadata.name,
        [`${nodeClassRef.group}/${nodeClassRef.kind.toLowerCase()}`]: nodeClassRef.name,
      },
      annotations: {
        ...template.metadata?.annotations,
        [NODE_POOL_HASH]: nodePoolHash(pool),
        [NODE_POOL_HASH_VERSION]: NODE_POOL_HASH_VERSION_VALUE,
        [MIN_VALUES_RELAXED]: String(planned.minValuesRelaxed ?? false),
        ...overlayAnnotations(instanceTypes, planned.instanceTypes),
      },
      ownerReferences: [
        {
          apiVersion: "karpenter.sh/v1",
          kind: "NodePool",
          name: pool.metadata.name,
          uid: pool.metadata.uid ?? "",
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      requirements: planned.typesAtLaunch
        ? [...others, own]
        : [...others.filter(({ key }) => key !== INSTANCE_TYPE), own, instanceTypeRequirement(planned)],
      resources: { requests: planned.requests },
      ...(planned.taints.length > 0 && { taints: planned.taints }),
      ...(startupTaints?.length && { startupTaints }),
      nodeClassRef,
      ...(expireAfter !== undefined && { expireAfter }),
      ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
    },
  };
}

function instanceTypeRequirement(planned: PlannedNodeClaim) {
  const minValues = planned.requirements.find(({ key }) => key === INSTANCE_TYPE)?.minValues;
  return { key: INSTANCE_TYPE, operator: "In" as const, values: planned.instanceTypes, ...(minValues !== undefined && { minValues }) };
}
