import type { PlannedCommand } from "#cli/consolidate/consolidate.ts";
import { planDisruption } from "#core/disruption/plan.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { CostSettings } from "#core/model/prices.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { carriedOut } from "../../support/disruption/carry-out.ts";
import { WITH_SOLVE } from "../../support/disruption/with-solve.ts";

/** A command with its result, ours or Karpenter's (test/go/cmd/oracle/converge.go writes the same format). */
export interface Pass extends PlannedCommand {
  /** Nodes that were launched, and their NodeClaims. */
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  /** "namespace/name" of each pod that moved, to its node; a pod that fits no node is absent. */
  readonly landed: Readonly<Record<string, string>>;
  /** Wall time of the decision, ms; carrying the command out is not counted. */
  readonly millis: number;
  /** CPU time of the decision, all threads, ms; other load of the machine does not lengthen it. */
  readonly cpuMillis: number;
}

/** The commands that are decided and carried out until no command follows. */
export interface Trail {
  readonly passes: readonly Pass[];
  /** Wall time of the last pass, which found no command, ms; undefined when the time limit came first. */
  readonly idleMs?: number;
  readonly idleCpuMs?: number;
  /** Peak memory up to the end of the first pass, input included. */
  readonly firstRssMib: number;
}

function plannedCommand({ method, candidates, replacements, decision, savingsPerHour }: CommandRecord): PlannedCommand {
  return { method, candidates: candidates.map(({ node }) => node), replacements, decision, savings: savingsPerHour };
}

/**
 * Our own trail: each replacement becomes its cheapest offering with the pods that were planned for it, and a new solve
 * places the other pods. Ends when no command follows, or when the decisions have used `limitMs` of CPU time.
 */
export function ourTrail(start: Snapshot, limitMs = Number.POSITIVE_INFINITY, costs: CostSettings = {}): Trail {
  const passes: Pass[] = [];
  let current = start;
  let firstRssMib = 0;
  for (let spent = 0; spent < limitMs; ) {
    const [began, cpuBefore] = [performance.now(), process.cpuUsage()];
    const { command } = planDisruption({
      snapshot: current,
      records: [],
      commands: [],
      settings: disruptionSettings("scenario", { ...DEFAULT_SETTINGS, ...costs }),
      now: current.now,
      ...WITH_SOLVE,
      newId: () => `pass-${passes.length}`,
    });
    const { user, system } = process.cpuUsage(cpuBefore);
    const [millis, cpuMillis] = [performance.now() - began, (user + system) / 1000];
    spent += cpuMillis;
    firstRssMib ||= process.resourceUsage().maxRSS / 1024;
    if (!command) return { passes, idleMs: millis, idleCpuMs: cpuMillis, firstRssMib };
    const { snapshot, machines, landed } = carriedOut(current, command);
    passes.push({
      ...plannedCommand(command),
      nodes: machines.map(({ node }) => node),
      nodeClaims: machines.map(({ claim }) => claim),
      landed: Object.fromEntries(landed),
      millis,
      cpuMillis,
    });
    current = snapshot;
  }
  return { passes, firstRssMib };
}
