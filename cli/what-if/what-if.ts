import { counted } from "../../core/scheduling/reasons/words.ts";
import { applyChange } from "../../core/what-if/change.ts";
import { fromScratch, whatIf } from "../../core/what-if/what-if.ts";
import { disruptionSettings } from "../../functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "../../functions/wiring/settings.ts";
import { InputError } from "../scenario/scenario.ts";
import { askedChange } from "./change.ts";
import { reportJson } from "./json.ts";
import { parseWhatIf, type WhatIfOptions } from "./options.ts";
import { duration, type Report, reportTable } from "./report.ts";
import { readSourceFile, type Source } from "./source.ts";

const DAY_MS = 86_400_000;

/**
 * `cli what-if`: what a change would do to a cluster's nodes and bill, or, without a change, what disruption will do. Reads a file or a live cluster and
 * writes nothing but, with --save, the file that is named. Throws InputError.
 */
export async function whatIfCommand(rawArgs: readonly string[]): Promise<string> {
  const options = parseWhatIf(rawArgs);
  const source = await readSource(options);
  if (options.save !== undefined) {
    const { saveSource } = await import("./save.ts");
    return saveSource(source, options.save);
  }
  const report = answer(source, options, process.stderr.isTTY ? showProgress(source) : undefined);
  return options.format === "json" ? reportJson(report) : reportTable(report);
}

/** A large cluster takes minutes: who watches a terminal is told how far it has come, on a line that is written over. */
function showProgress({ snapshot }: Source): (count: number, at: number) => void {
  return (count, at) => process.stderr.write(`\rrehearsing: ${counted(count, "decision")}, +${duration(at - snapshot.now)}   \r`);
}

async function readSource(options: WhatIfOptions): Promise<Source> {
  if (options.file !== undefined) return readSourceFile(options.file);
  // The clients of AWS and Kubernetes are large: only who needs them waits for them.
  const { readLiveSource } = await import("./live.ts");
  return await readLiveSource(options);
}

/** Works the answer out. Throws InputError for wishes that the cluster cannot meet. */
export function answer(
  source: Source,
  options: Pick<WhatIfOptions, "wishes" | "fromScratch" | "spotToSpot" | "days" | "decisions">,
  onDecision: (count: number, at: number) => void = () => {},
): Report {
  const { snapshot, nodeClasses, intents } = source;
  if (snapshot.nodePools.length === 0) throw new InputError(`${source.name} has no NodePool, so none of its nodes is ours to change`);
  const asked = askedChange(options.wishes, source);
  const gates = { spotToSpotConsolidation: options.spotToSpot, staticCapacity: true };
  const settings = disruptionSettings("what-if", { ...DEFAULT_SETTINGS, ...gates });
  const most = options.decisions === undefined ? {} : { mostDecisions: options.decisions };
  const rehearsal = { ...intents, settings, lookAheadMs: options.days * DAY_MS, onDecision, ...most };
  const changed = asked ? applyChange(snapshot, nodeClasses, asked.change).snapshot : snapshot;
  return {
    source: source.name,
    now: snapshot.now,
    texts: asked?.texts ?? [],
    warnings: [...source.remarks, ...(asked?.warnings ?? [])],
    answer: whatIf(snapshot, nodeClasses, asked?.change, rehearsal),
    ...(options.fromScratch && { fromScratch: fromScratch(changed) }),
  };
}
