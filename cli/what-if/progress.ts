import { perHour } from "#core/disruption/prices/money.ts";
import { billOf } from "#core/insight/what-if/bill.ts";
import type { Progress } from "#core/insight/what-if/rehearse.ts";
import { span } from "#core/lib/duration.ts";
import { counted } from "#core/scheduling/reasons/words.ts";
import { heard } from "#terminal/signs.ts";
import type { WhatIfOptions } from "./options.ts";

/** How long nothing is printed at most while passes run, and how often a line is printed at most. */
const LINE_EVERY_MS = 2_000;

/** What the rehearsal calls while it runs. */
export interface ProgressReport {
  readonly onDecision?: (count: number, at: number) => void;
  readonly onProgress?: (progress: Progress) => void;
}

/** Where progress is printed: standard error. */
interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * The progress of a what-if, because a large cluster takes minutes: on a terminal a line that is overwritten, in a pipe
 * a line every few seconds, so that a log shows that it is alive. `start` is the time of the snapshot, `clock` gives
 * the time that passes (ms).
 */
export function progressReport(stream: ProgressStream, start: number, clock: () => number = () => performance.now()): ProgressReport {
  if (stream.isTTY) {
    const line = (count: number, at: number): string => `\rrehearsing: ${counted(count, "decision")}, +${span(at - start)}   \r`;
    return {
      onDecision(count, at) {
        heard();
        stream.write(line(count, at));
      },
    };
  }
  const began = clock();
  let printed = began;
  return {
    onProgress({ pass, snapshot, isChanged }) {
      const now = clock();
      if (now - printed < LINE_EVERY_MS) return;
      printed = now;
      heard();
      const { nodes, pricePerHour } = billOf(snapshot);
      const which = isChanged ? "with the change" : "as it is";
      const seconds = Math.round((now - began) / 1_000);
      stream.write(`rehearsing ${which}: pass ${pass}, ${counted(nodes, "node")}, ${perHour(pricePerHour)}, ${seconds} s\n`);
    },
  };
}

/** The progress that the options ask for: none with --quiet. */
export function progressOf({ quiet }: Pick<WhatIfOptions, "quiet">, stream: ProgressStream, start: number): ProgressReport {
  return quiet ? {} : progressReport(stream, start);
}
