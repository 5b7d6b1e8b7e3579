import type { Bitset } from "../tables/bitset.ts";
import type { PlannedClaim, SharedState } from "./planned-claim.ts";

/** What planned claims have in common that hold the same under the same requirements: what one says to a pod, hosts apart, all say. */
export class ClaimState implements SharedState {
  readonly id: number;
  /** Number of pods that each of its claims has. */
  readonly pods: number;
  /** Claims that came to this state, in that order; some have gone on to another. None comes twice. */
  readonly arrivals: PlannedClaim[] = [];
  /** Number of claims that are in it now. */
  live = 0;
  /** Types that its claims may still become, once somebody wanted to know. */
  types: Bitset | undefined;
  #head = 0;

  constructor(id: number, pods: number) {
    this.id = id;
    this.pods = pods;
  }

  /** The claim that has been here for longest. */
  first(): PlannedClaim | undefined {
    while (this.#head < this.arrivals.length && this.arrivals[this.#head]?.state !== this) this.#head++;
    return this.arrivals[this.#head];
  }
}
