import { KARPENTER } from "./checks/karpenter.ts";
import { PLAN } from "./checks/plan.ts";
import { REALITY } from "./checks/reality.ts";
import { SURVIVAL } from "./checks/survival.ts";
import type { Group } from "./program.ts";

/** Every program of `npm run verify`. test/README.md is made from it, and `.ci/run` starts its steps by these names. */
export const CHECKS: readonly Group[] = [PLAN, SURVIVAL, REALITY, KARPENTER];
