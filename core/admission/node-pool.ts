import { nearest } from "../lib/nearest.ts";
import { MAX_PRICE_PER_HOUR, NODE_CLASS_GROUP, SCHEDULE } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import { nodePoolProblems } from "../node-pool/validate.ts";
import { isStatic } from "../static-capacity/claim.ts";
import { reviewBudgets } from "./budgets.ts";
import { contradictions } from "./contradictions.ts";
import { durationProblems } from "./durations.ts";
import type { Gates } from "./gates.ts";
import { type AdmissionVerdict, together } from "./verdict.ts";

/**
 * Problems of a NodePool that its schema cannot express, and warnings about valid fields without effect
 * (karpenter: pkg/apis/v1/nodepool_validation.go, NodePool.RuntimeValidate).
 */
export function reviewNodePool(pool: NodePool, gates: Gates): AdmissionVerdict {
  const { template, disruption } = pool.spec;
  const { spec } = template;
  const labels = template.metadata?.labels ?? {};
  const problems = [
    ...nodePoolProblems(pool),
    ...durationProblems({
      "spec.template.spec.expireAfter": spec.expireAfter,
      "spec.template.spec.terminationGracePeriod": spec.terminationGracePeriod,
      "spec.disruption.consolidateAfter": disruption?.consolidateAfter,
    }),
  ];
  // Requirements that cannot be read cannot be intersected.
  const clashes = problems.length === 0 ? contradictions(spec.requirements, labels) : [];
  const warnings = clashes.map(
    (key) => `spec.template: no value of ${key} meets all that labels and requirements ask of it, so no node can be made`,
  );
  return together({ problems, warnings: [...warnings, ...ignored(pool, gates)] }, reviewBudgets(disruption?.budgets));
}

/** Our own annotations that users write on NodePools. */
const OWN: readonly string[] = [MAX_PRICE_PER_HOUR, SCHEDULE];
const PREFIX = "karpenter-serverless/";

/** NodePools that are ignored: nothing else would say why they launch no nodes. */
function ignored(pool: NodePool, gates: Gates): readonly string[] {
  const { group, kind } = pool.spec.template.spec.nodeClassRef;
  const misspelt = Object.keys(pool.metadata.annotations ?? {}).flatMap((key) => {
    const meant = OWN.includes(key) || !key.startsWith(PREFIX) ? undefined : nearest(key, OWN);
    return meant === undefined ? [] : [`metadata.annotations: ${key} has no effect; did you mean ${meant}?`];
  });
  const withoutGate = isStatic(pool) && !gates.StaticCapacity;
  return [
    ...misspelt,
    ...(withoutGate
      ? ["spec.replicas: feature gate StaticCapacity is off, so the pool makes no nodes; add it to FEATURE_GATES and deploy again"]
      : []),
    ...(group === NODE_CLASS_GROUP && kind === "EC2NodeClass"
      ? []
      : [`spec.template.spec.nodeClassRef: no nodes are made from a ${kind} of ${group}; use EC2NodeClass of ${NODE_CLASS_GROUP}`]),
  ];
}
