import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";

/** The product's own simulation and search, as functions/disruption passes them to planDisruption. */
export const WITH_SOLVE = { simulate: simulateWithSolve, makeTrial: makeConsolidationTrial } as const;
