// One rule a file: a rule gets a machine and the view, and returns why the machine may not be disrupted, or undefined.
// Rules apply to every voluntary disruption; what one method asks besides stands in that method.

import { deleting } from "./deleting.ts";
import { destination } from "./destination.ts";
import { doNotRepair } from "./do-not-repair.ts";
import { hasNode } from "./has-node.ts";
import { inCommand } from "./in-command.ts";
import { initialized } from "./initialized.ts";
import { nodeClaimRefused } from "./node-claim-refused.ts";
import { nodeDoNotDisrupt } from "./node-do-not-disrupt.ts";
import { nodePool } from "./node-pool.ts";
import { nominated } from "./nominated.ts";
import { pdb } from "./pdb.ts";
import { podDoNotDisrupt } from "./pod-do-not-disrupt.ts";
import { rebooting } from "./rebooting.ts";
import type { Rule } from "./rule.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Rules about the node, in the order in which they are checked: the first that blocks is reported
 * (karpenter: pkg/controllers/state/statenode.go, StateNode.ValidateNodeDisruptable).
 */
export const NODE_RULES: readonly Rule[] = [
  inCommand,
  destination,
  hasNode,
  rebooting,
  initialized,
  deleting,
  nominated,
  nodeDoNotDisrupt,
  unreadable,
  nodeClaimRefused,
  nodePool,
];

/**
 * Rules about a node to repair. That it is not initialized or has do-not-disrupt does not leave a broken node where it
 * is; do-not-repair does (karpenter: pkg/controllers/disruption/types.go, NewCandidate).
 */
export const REPAIR_RULES: readonly Rule[] = [
  ...NODE_RULES.filter((rule) => rule !== initialized && rule !== nodeDoNotDisrupt),
  doNotRepair,
];

/**
 * Rules about its pods. Drift ignores them when the claim has a terminationGracePeriod, because that ends the drain
 * anyway (karpenter: pkg/controllers/state/statenode.go, StateNode.ValidatePodsDisruptable).
 */
export const POD_RULES: readonly Rule[] = [podDoNotDisrupt, pdb];
