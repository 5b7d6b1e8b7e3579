import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { simulateWithSolve } from "#core/disruption/consolidation/simulate.ts";
import { type DisruptionPlan, planDisruption } from "#core/disruption/plan.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { makeConsolidationTrial } from "#core/scheduling/make-trial.ts";
import { type SolveOptions, solve } from "#core/scheduling/solve.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { planToJson, readScenario, scenarioToSnapshot } from "../../support/scheduling/scenario.ts";

/** One question that a spec of Karpenter put to its scheduler or its disruption controller, with Karpenter's answer. */
export interface PeerCase {
  readonly name: string;
  /** solve: one run of the scheduler; disrupt: one pass of disruption. */
  readonly kind: "solve" | "disrupt";
  /** Raw scenario; `typesOfPool` is joined to it, because the judge needs it. */
  readonly scenario: RawJson;
  readonly options: SolveOptions & { readonly spotToSpotConsolidation?: boolean };
  /** What the scenario cannot say of the spec. */
  readonly notes: readonly string[];
  /** Karpenter's plan, or its commands. */
  readonly karpenter: RawJson;
}

/** The cases in a folder and in its subfolders, in the order of their names. */
export function peerCaseFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) return peerCaseFiles(path);
      return name.endsWith(".expected.json") ? [path] : [];
    });
}

/** Reads NAME.expected.json and NAME.scenario.json (or .gz) beside it. */
export function readPeerCase(file: string): PeerCase {
  const { kind, options = {}, notes = [], typesOfPool, karpenter } = JSON.parse(readFileSync(file, "utf8")) as RawJson;
  const plain = file.replace(/\.expected\.json$/, ".scenario.json");
  const scenario = readScenario(existsSync(plain) ? plain : `${plain}.gz`) as RawJson;
  const name = file.replace(/^.*\//, "").replace(/\.expected\.json$/, "");
  return { name, kind, scenario: { ...scenario, ...(typesOfPool && { typesOfPool }) }, options, notes, karpenter };
}

/** The snapshot of a case: NodePools of `typesOfPool` have their own instance types. */
export function peerSnapshot({ scenario }: Pick<PeerCase, "scenario">): Snapshot {
  const snapshot = scenarioToSnapshot(scenario);
  const own = Object.entries((scenario.typesOfPool ?? {}) as Readonly<Record<string, readonly InstanceType[]>>);
  return { ...snapshot, instanceTypes: new Map([...snapshot.instanceTypes, ...own]) };
}

/** Our plan for a case of kind solve, in the shape of the CLI's answer. */
export function ourPlan(one: PeerCase): RawJson {
  return planToJson(solve(peerSnapshot(one), one.options), 0);
}

/** Our pass of disruption for a case of kind disrupt, with its settings as the function passes them on. */
export function ourPass(one: PeerCase): DisruptionPlan {
  const snapshot = peerSnapshot(one);
  const { options } = one;
  return planDisruption({
    snapshot,
    records: [],
    commands: [],
    settings: { cluster: "peer", spotToSpotConsolidation: options.spotToSpotConsolidation ?? false, staticCapacity: true },
    now: snapshot.now,
    simulate: (seen, more) => simulateWithSolve(seen, { ...options, ...more }),
    makeTrial: (seen, more) => makeConsolidationTrial(seen, more, options),
    newId: () => "peer",
  });
}
