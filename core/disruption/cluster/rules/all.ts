import { deleting } from "./deleting.ts";
import { hasNode } from "./has-node.ts";
import { inCommand } from "./in-command.ts";
import { initialized } from "./initialized.ts";
import { nodeDoNotDisrupt } from "./node-do-not-disrupt.ts";
import { nodePool } from "./node-pool.ts";
import { nominated } from "./nominated.ts";
import { pdb } from "./pdb.ts";
import { podDoNotDisrupt } from "./pod-do-not-disrupt.ts";
import type { Rule } from "./rule.ts";

/** What every voluntary disruption respects, in this order: the first that holds is the one that is told (disruption.md §2). */
export const NODE_RULES: readonly Rule[] = [inCommand, hasNode, initialized, deleting, nominated, nodeDoNotDisrupt, nodePool];

/** What drift may pass over once the claim has a terminationGracePeriod, because then the pods go in the end anyway. */
export const POD_RULES: readonly Rule[] = [podDoNotDisrupt, pdb];
