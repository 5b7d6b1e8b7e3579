import { NODE_CLASS_GROUP, NODE_POOL } from "../model/labels.ts";
import type { NodePool } from "../model/node-pool.ts";
import { nodePoolProblems } from "../node-pool/validate.ts";
import { reviewBudgets } from "./budgets.ts";
import { contradictions } from "./contradictions.ts";
import { durationProblems } from "./durations.ts";
import { nameProblems } from "./name.ts";
import { together, type Verdict } from "./verdict.ts";

/** A NodeClaim takes no more requirements, and labels become requirements too. */
const MOST_REQUIREMENTS = 100;

/** What is wrong with a NodePool beyond what its schema says (nodepool.md §2-§4), and what it will not do though it is lawful. */
export function reviewNodePool(pool: NodePool): Verdict {
  const { template, disruption } = pool.spec;
  const { spec } = template;
  const labels = template.metadata?.labels ?? {};
  const count = Object.keys(labels).length + spec.requirements.length;
  const problems = [
    ...nameProblems(pool.metadata.name, NODE_POOL),
    ...nodePoolProblems(pool),
    ...(count > MOST_REQUIREMENTS
      ? [`spec.template: labels and requirements are ${count} together; a NodeClaim takes ${MOST_REQUIREMENTS} at most`]
      : []),
    ...durationProblems({
      "spec.template.spec.expireAfter": spec.expireAfter,
      "spec.template.spec.terminationGracePeriod": spec.terminationGracePeriod,
      "spec.disruption.consolidateAfter": disruption?.consolidateAfter,
    }),
  ];
  // What cannot be read cannot be compared.
  const clashes = problems.length === 0 ? contradictions(spec.requirements, labels, "spec.template") : [];
  return together({ problems, warnings: [...clashes, ...ignored(pool)] }, reviewBudgets(disruption?.budgets));
}

/** Pools of other clouds' classes are left alone, so nothing would ever say why they make no node. */
function ignored({ spec }: NodePool): readonly string[] {
  const { group, kind } = spec.template.spec.nodeClassRef;
  return group === NODE_CLASS_GROUP && kind === "EC2NodeClass"
    ? []
    : [`spec.template.spec.nodeClassRef: no nodes are made from a ${kind} of ${group}; use EC2NodeClass of ${NODE_CLASS_GROUP}`];
}
