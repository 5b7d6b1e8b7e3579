import type { Bitset } from "../tables/bitset.ts";
import type { PlannedClaim, SharedState } from "./planned-claim.ts";

/**
 * The state of all planned claims with the same pool, requirements and requests. They give a pod the same answer, hosts
 * apart.
 */
export class ClaimState implements SharedState {
  readonly id: number;
  /** Number of pods of each claim. */
  readonly pods: number;
  /** Claims that entered this state, in that order. Some have left it since; none enters it twice. */
  readonly arrivals: PlannedClaim[] = [];
  /** Number of claims that are in the state now. */
  live = 0;
  /** Types that its claims may still be launched as; undefined until first read. */
  types: Bitset | undefined;
  #head = 0;

  constructor(id: number, pods: number) {
    this.id = id;
    this.pods = pods;
  }

  /** The claim that has been in the state for longest; undefined without one. */
  first(): PlannedClaim | undefined {
    while (this.#head < this.arrivals.length && this.arrivals[this.#head]?.state !== this) this.#head++;
    return this.arrivals[this.#head];
  }
}
