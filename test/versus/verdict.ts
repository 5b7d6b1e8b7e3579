import type { Course, FigureName } from "./courses/course.ts";
import type { ActFigures } from "./figures.ts";
import type { Pair } from "./summary.ts";

/** A figure in which the product is worse than Karpenter by more than the tolerance. */
export interface Finding {
  /** Absent for a figure of the whole course. */
  readonly act?: string;
  readonly figure: string;
  readonly karpenter: number | undefined;
  readonly product: number | undefined;
  /** Why it is no fault (`Course.exception`). */
  readonly reason?: string;
}

/** How much more than Karpenter's a figure may be: a part of Karpenter's figure, and an amount in the figure's unit. */
interface Tolerance {
  readonly part: number;
  readonly amount: number;
}

/**
 * Times differ from run to run because processes share the cores of one machine, so they get a wider tolerance than
 * counts and prices.
 */
export const TOLERANCES = {
  running: { part: 0.15, amount: 3 },
  waited: { part: 0.25, amount: 20 },
  launched: { part: 0.1, amount: 0 },
  atRest: { part: 0.1, amount: 0 },
  usdPerHour: { part: 0.01, amount: 0 },
  cents: { part: 0.05, amount: 0 },
  evicted: { part: 0.1, amount: 1 },
} as const satisfies Readonly<Record<FigureName, Tolerance>>;

export const FIGURE_NAMES: Readonly<Record<FigureName, string>> = {
  running: "seconds to all Running",
  waited: "pod-seconds of waiting",
  launched: "machines launched",
  atRest: "machines at rest",
  usdPerHour: "$ per hour at rest",
  cents: "cents over the course",
  evicted: "pods evicted",
};

/** A time that was never reached is more than every other, and no more than itself. */
const NEVER = Number.POSITIVE_INFINITY;

export function exceeds(figure: FigureName, karpenter: number | undefined, product: number | undefined): boolean {
  const [theirs, ours] = [karpenter ?? NEVER, product ?? NEVER];
  const { part, amount } = TOLERANCES[figure];
  return ours > theirs * (1 + part) + amount + Number.EPSILON;
}

/**
 * In what the product is worse; undefined when one of the two has not been played. More machines count only where they
 * are not cheaper together than Karpenter's, because their number is nobody's aim.
 */
export function findingsOf(course: Course, { karpenter, product }: Pair): readonly Finding[] | undefined {
  if (karpenter === undefined || product === undefined) return undefined;
  const found: Finding[] = course.acts.flatMap(({ name: act, grows = false }) => {
    const [theirs, ours] = [karpenter, product].map(({ acts }) => acts.find((figures) => figures.act === act));
    if (theirs === undefined || ours === undefined) return [];
    return judgedOf(theirs, ours, grows)
      .filter((figure) => exceeds(figure, theirs[figure], ours[figure]))
      .map((figure) => ({ act, ...named(figure, course), karpenter: theirs[figure], product: ours[figure] }));
  });
  if (exceeds("cents", karpenter.cents, product.cents))
    found.push({ ...named("cents", course), karpenter: karpenter.cents, product: product.cents });
  return found;
}

/** Whether a figure is worse, and no reason is known. */
export const isFault = ({ reason }: Finding): boolean => reason === undefined;

function named(figure: FigureName, { exception }: Course): Pick<Finding, "figure" | "reason"> {
  return { figure: FIGURE_NAMES[figure], ...(exception?.figures.includes(figure) && { reason: exception.reason }) };
}

function judgedOf(theirs: ActFigures, ours: ActFigures, grows: boolean): readonly Exclude<FigureName, "cents">[] {
  const isCheaper = ours.usdPerHour < theirs.usdPerHour * (1 - TOLERANCES.usdPerHour.part);
  return [
    // While pods come, their times differ only by the moment at which each machine is ready: one time says it.
    grows ? "running" : "waited",
    ...(isCheaper ? [] : (["launched", "atRest"] as const)),
    "usdPerHour",
    "evicted",
  ];
}
