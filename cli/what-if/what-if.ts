import type { Simulate } from "#core/disruption/cluster/simulation.ts";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { applyChange } from "#core/insight/what-if/change.ts";
import { fromScratch, whatIf } from "#core/insight/what-if/what-if.ts";
import type { Plan } from "#core/model/plan.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { type MakeTrial, makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { solve } from "#core/scheduling/solve.ts";
import { weighPreferences } from "#core/scheduling/weigh-preferences.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import type { Settings } from "#settings/setting-table.ts";
import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { decisionSettingsOf, underSettings } from "../scenario/settings.ts";
import { requestedChange } from "./change.ts";
import { reportJson } from "./json.ts";
import type { WhatIfOptions } from "./options.ts";
import { type ProgressReport, progressOf } from "./progress.ts";
import { type Report, reportTable } from "./report.ts";
import { readSourceFile, type Source } from "./source.ts";

const DAY_MS = 86_400_000;

/**
 * What a change would do to a cluster's nodes and bill, or, without a change, what disruption will do; as a table or
 * JSON. Reads a file or a live cluster, and writes nothing but the file that --save names. Throws InputError.
 */
export async function answerWhatIf(options: WhatIfOptions, print: Print = () => {}): Promise<string> {
  const source = await readSource(options);
  if (options.save !== undefined) {
    const { saveSource } = await import("./save.ts");
    return saveSource(source, options.save);
  }
  const report = answer(source, options, progressOf(options, process.stderr, source.snapshot.now));
  if (options.page !== undefined) {
    const [{ changeSource }, { servePage }] = await Promise.all([import("../view/change.ts"), import("../view/view.ts")]);
    await servePage(changeSource(source, report, settingsOf(options)), { ...options.page, print });
    return "";
  }
  return options.format === "json" ? reportJson(report) : reportTable(report);
}

async function readSource(options: WhatIfOptions): Promise<Source> {
  const given = decisionSettingsOf(options.settings ?? []);
  if (options.file !== undefined) return withSettings(readSourceFile(options.file), given);
  // The clients of AWS and Kubernetes are large, so only a live cluster loads them.
  const { readLiveSource } = await import("./live.ts");
  return await readLiveSource(options, given);
}

const withSettings = (source: Source, given: Partial<Settings>): Source => ({ ...source, snapshot: underSettings(source.snapshot, given) });

/** The settings that the decisions are made with. */
function settingsOf({ settings = [], spotToSpot }: Pick<WhatIfOptions, "settings" | "spotToSpot">): Settings {
  return {
    ...DEFAULT_SETTINGS,
    ...decisionSettingsOf(settings),
    ...{ staticCapacity: true, ...(spotToSpot && { spotToSpotConsolidation: true }) },
  };
}

/** Computes the answer and calls `progress` meanwhile. Throws InputError for a change that the cluster cannot take. */
export function answer(
  source: Source,
  options: Pick<WhatIfOptions, "request" | "fromScratch" | "spotToSpot" | "settings" | "days" | "decisions">,
  progress: ProgressReport = {},
): Report {
  const { nodeClasses, intents } = source;
  const all = settingsOf(options);
  const { snapshot } = weighPreferences(source.snapshot, all);
  if (snapshot.nodePools.length === 0) throw new InputError(`${source.name} has no NodePool, so none of its nodes is ours to change`);
  const asked = requestedChange(options.request, source);
  const settings = disruptionSettings("what-if", all);
  const provision = (before: Snapshot): Plan => solve(before, all);
  const simulate: Simulate = (before, how) => simulateWithSolve(before, { ...all, ...how });
  const most = options.decisions === undefined ? {} : { mostDecisions: options.decisions };
  const makeTrial: MakeTrial = (before, how) => makeConsolidationTrial(before, how, all);
  const rehearsal = { ...intents, settings, provision, simulate, makeTrial, lookAheadMs: options.days * DAY_MS, ...progress, ...most };
  const changed = asked ? applyChange(snapshot, nodeClasses, asked.change).snapshot : snapshot;
  return {
    source: source.name,
    now: snapshot.now,
    texts: asked?.texts ?? [],
    warnings: [...source.remarks, ...(asked?.warnings ?? [])],
    answer: whatIf(snapshot, nodeClasses, asked?.change, rehearsal),
    ...(options.fromScratch && { fromScratch: fromScratch(changed, provision) }),
  };
}
