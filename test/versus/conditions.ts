import { KARPENTER_VERSION } from "./karpenter/build.ts";
import type { Pair, Summary } from "./summary.ts";
import { BOOT_MS, PENDING_MS, READY_AFTER } from "./timing.ts";

/** Load per core above which times are those of other processes. A course by itself makes about 1. */
const MAX_LOAD_PER_CORE = 3;

/** On what the runs were played: sentences without a date, for the document. */
export function conditionsOf(pairs: readonly Pair[], cores: number): readonly string[] {
  const summaries = pairs.flatMap(({ karpenter, product }) => [karpenter, product].filter((summary) => summary !== undefined));
  return [
    `Karpenter ${KARPENTER_VERSION} with its defaults, SpotToSpotConsolidation and an interruption queue.`,
    "Ours: SpotToSpotConsolidation; woken by the webhook, the queues and a sweep each minute; Lambda is MiniStack's, five batches of a queue at a time.",
    `A machine is running ${PENDING_MS / 1_000} s after its launch, reads its user data ${BOOT_MS / 1_000} s later, and is Ready ${READY_AFTER} after that.`,
    "EC2 has capacity for everything; a notice of interruption comes two minutes before the end.",
    ...(summaries.length === 0 ? ["No course has been played for this page yet."] : loadLines(summaries, cores)),
  ];
}

function loadLines(summaries: readonly Summary[], cores: number): readonly string[] {
  const runs = [...new Set(summaries.map(({ runs }) => runs))].sort((a, b) => a - b);
  const loads = summaries.flatMap(({ load }) => load ?? []).sort((a, b) => a - b);
  const highest = loads.at(-1) ?? Number.NaN;
  return [
    `One machine with ${cores} cores runs everything; its load at the end of a course was ${loads[0]?.toFixed(1)} to ${highest.toFixed(1)}.`,
    ...(highest > MAX_LOAD_PER_CORE * cores
      ? ["The machine was too busy: times say little, and pods that were marked late came in pieces."]
      : []),
    runs.at(-1) === 1 ? "Each course was played once." : `Medians of ${runs.join(" to ")} runs of each course.`,
  ];
}
