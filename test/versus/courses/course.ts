/** What one autoscaler plays after the other, each in a cluster of its own. */
export interface Course {
  readonly name: string;
  readonly about: string;
  /** Objects that exist, with their NodePools Ready, before the first act. */
  readonly setting: readonly object[];
  readonly acts: readonly Act[];
  /** Whether EC2 keeps the request limits that it documents; without them it answers every request. */
  readonly limitsRequests?: boolean;
  /** Whether the course is one of the few of `--quick`. */
  readonly quick?: boolean;
  /** Whether the course takes the whole machine, so that it is played only when it is named. */
  readonly large?: boolean;
  /** Figures in which the product is worse for a reason that is no fault: a sentence for them. */
  readonly exception?: { readonly figures: readonly FigureName[]; readonly reason: string };
}

/** The figures that are compared. */
export type FigureName = "running" | "waited" | "launched" | "atRest" | "usdPerHour" | "cents" | "evicted";

/** A part of a course, with figures of its own. */
export interface Act {
  readonly name: string;
  /** What happens, in order of time. */
  readonly steps: readonly Step[];
  /** The cost of the act is that of so many seconds. While pods still wait, the act lasts longer. */
  readonly seconds: number;
  /**
   * Whether users wait for new pods, so that the time until all pods run is compared. Without it only the time counts
   * for which pods did not run.
   */
  readonly grows?: boolean;
  /**
   * Whether no machine can come or go once all pods run, because no NodePool consolidates. The act then ends earlier,
   * and its cost is that of its machines until the planned end.
   */
  readonly still?: boolean;
}

export interface Step {
  /** Seconds since the act began. */
  readonly at: number;
  /** Objects to apply. */
  readonly apply?: readonly object[];
  /** How many spot machines get an interruption notice: those that run the most pods. */
  readonly interrupt?: number;
}

/** Objects to apply when the act has lasted so many seconds. */
export const at = (seconds: number, ...apply: readonly object[]): Step => ({ at: seconds, apply });

/** From the last step of a still act to its end, on a quiet machine, s. */
const STILL_SECONDS = 33;

/** The usual time of a course for one autoscaler, without the start of its cluster, s. */
export const secondsOf = ({ acts }: Course): number => acts.reduce((sum, act) => sum + actSeconds(act), 0);

function actSeconds({ steps, seconds, still = false }: Act): number {
  return still ? Math.min(seconds, (steps.at(-1)?.at ?? 0) + STILL_SECONDS) : seconds;
}
