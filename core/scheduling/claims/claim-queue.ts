import type { PodData } from "../problem/pod-class.ts";
import type { SchedulingProblem } from "../problem/problem.ts";
import type { Evaluation } from "./evaluation.ts";
import type { ClaimWithPod } from "./new-claim.ts";
import type { PlannedClaim } from "./planned-claim.ts";

const REFUSED = 1;
/** Claims that a pod is compared with once the attempt has taken its steps. */
const MAX_TRIED = 8;
/** Of pods that no other pod is like: their refusals are not remembered, because n² of them would be. */
const NO_REFUSALS = new Uint8Array();

/** Planned claims in the order in which they are tried: the oldest first, or those with the fewest pods first. */
export class ClaimQueue {
  readonly #evaluation: Evaluation;
  readonly #isByPods: boolean;
  readonly #queue: PlannedClaim[] = [];
  /** By PodData.quoteKey and claim: claims that will never take such a pod. */
  readonly #refusals: (Uint8Array | undefined)[] = [];

  /** By quoteKey: number of pods. */
  readonly #podsOfKey: readonly number[];

  constructor({ podsOfQuoteKey }: SchedulingProblem, evaluation: Evaluation, isByPods: boolean) {
    this.#podsOfKey = podsOfQuoteKey;
    this.#evaluation = evaluation;
    this.#isByPods = isByPods;
  }

  /** The first claim that takes the pod, of the pools of a rank (default: of all pools). */
  first(podData: PodData, rank?: number): ClaimWithPod | undefined {
    const refusals = this.#refusalsOf(podData);
    let tried = 0;
    for (const claim of this.#queue) {
      if (this.#evaluation.isSpent && tried >= MAX_TRIED) return undefined;
      if (refusals[claim.index] === REFUSED || (rank !== undefined && claim.template.rank !== rank)) continue;
      tried++;
      const outcome = this.#evaluation.evaluate(claim, podData);
      if (outcome === "never") refusals[claim.index] = REFUSED;
      else if (typeof outcome === "object") return { claim, outcome };
    }
    return undefined;
  }

  /** Refusals by claim for pods of a quoteKey; long enough for all claims. */
  #refusalsOf(podData: PodData): Uint8Array {
    if ((this.#podsOfKey[podData.quoteKey] ?? 0) <= 1) return NO_REFUSALS;
    const known = this.#refusals[podData.quoteKey];
    if (known !== undefined && known.length >= this.#queue.length) return known;
    const grown = new Uint8Array(Math.max(64, this.#queue.length * 2));
    if (known !== undefined) grown.set(known);
    this.#refusals[podData.quoteKey] = grown;
    return grown;
  }

  /** Adds a new claim, which has its first pod. */
  add(claim: PlannedClaim): void {
    this.#queue.push(claim);
    if (this.#isByPods) this.#moveFrom(this.#queue.length - 1);
  }

  /** Moves a claim that took a pod to its place. */
  moved(claim: PlannedClaim): void {
    if (this.#isByPods) this.#moveFrom(this.#queue.indexOf(claim));
  }

  #moveFrom(at: number): void {
    const queue = this.#queue;
    const claim = queue[at];
    if (claim === undefined) return;
    let to = at;
    // A new claim is last and moves forward; a claim with one pod more moves back.
    for (let before = queue[to - 1]; before !== undefined && before.pods.length > claim.pods.length; before = queue[to - 1])
      queue[to--] = before;
    for (let after = queue[to + 1]; after !== undefined && after.pods.length < claim.pods.length; after = queue[to + 1])
      queue[to++] = after;
    queue[to] = claim;
  }
}
