import { STACKS } from "./course.ts";
import { type Delay, FAILURES, isTooLate, LATEST } from "./measure.ts";

const text = (seconds: number): string => (seconds === Number.POSITIVE_INFINITY ? "never" : seconds.toFixed(1));
const worst = (delays: readonly Delay[]): string => (delays.length === 0 ? "" : text(Math.max(...delays.map(({ later }) => later))));

/** What one call costs. */
export const sentence = ({ course, stack, failure, call, fn, later }: Delay): string =>
  `${course}, ${stack}, ${failure}: ${call} in ${fn}: +${text(later)} s`;

/** The most seconds by which each call makes pods late, in whatever course; the worst first. */
export function table(all: readonly Delay[]): string {
  const columns = FAILURES.flatMap((failure) => STACKS.map((stack) => ({ failure, stack })));
  const rows = [...Map.groupBy(all, ({ fn, call }) => `${call} in ${fn}`)]
    .map(([call, ofCall]) => ({ call, ofCall, most: Math.max(...ofCall.map(({ later }) => later)) }))
    .sort((a, b) => b.most - a.most)
    .map(({ call, ofCall }) => {
      const cells = columns.map(({ failure, stack }) =>
        worst(ofCall.filter((delay) => delay.failure === failure && delay.stack === stack)),
      );
      return `| ${[call, ...cells].join(" | ")} |`;
    });
  const late = all.filter(isTooLate);
  const summary = FAILURES.map((failure) => {
    const sorted = all
      .filter((delay) => delay.failure === failure)
      .map(({ later }) => later)
      .sort((a, b) => a - b);
    const at = (share: number): string => text(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
    const tooLate = late.filter((delay) => delay.failure === failure).length;
    return `${failure}: ${sorted.length} calls, median ${at(0.5)} s, p99 ${at(0.99)} s, most ${at(1)} s, ${tooLate} over ${LATEST[failure]} s`;
  });
  return [
    `| seconds later, at most | ${columns.map(({ failure, stack }) => `${failure}, ${stack}`).join(" | ")} |`,
    `| --- |${" --: |".repeat(columns.length)}`,
    ...rows,
    "",
    ...summary,
  ].join("\n");
}
