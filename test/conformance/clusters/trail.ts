import type { PlannedCommand } from "../../../cli/consolidate/consolidate.ts";
import { simulateWithSolve } from "../../../core/disruption/consolidation/simulate.ts";
import { planDisruption } from "../../../core/disruption/plan.ts";
import type { CommandRecord } from "../../../core/model/command-record.ts";
import type { Node } from "../../../core/model/node.ts";
import type { NodeClaim } from "../../../core/model/node-claim.ts";
import type { Snapshot } from "../../../core/model/snapshot.ts";
import { disruptionSettings } from "../../../functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "../../../functions/wiring/settings.ts";
import { carriedOut } from "../../support/disruption/carry-out.ts";

/** A command with what came of it, ours or Karpenter's (test/go/cmd/oracle/converge.go writes the same). */
export interface Pass extends PlannedCommand {
  /** Machines that were bought, and their claims. */
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  /** "namespace/name" of each pod that moved, to its node; a pod that is missing found no place. */
  readonly landed: Readonly<Record<string, string>>;
  /** How long it took to decide; carrying out is not counted. */
  readonly millis: number;
  /** The same in CPU time of all threads, which a busy machine does not stretch. */
  readonly cpuMillis: number;
}

/** What happens when command after command is carried out until nothing more is decided. */
export interface Trail {
  readonly passes: readonly Pass[];
  /** How long the pass took that found nothing; missing when time ran out before. */
  readonly idleMs?: number;
  readonly idleCpuMs?: number;
  /** Most memory up to the end of the first pass, input included. */
  readonly firstRssMib: number;
}

function plannedCommand({ method, candidates, replacements, decision, savingsPerHour }: CommandRecord): PlannedCommand {
  return { method, candidates: candidates.map(({ node }) => node), replacements, decision, savings: savingsPerHour };
}

/**
 * Our own trail: each launch comes up as its cheapest offering with the pods that were planned for it, and the other pods land where a fresh
 * solve puts them. Ends when nothing more is decided, or deciding has taken `limitMs` of CPU time in all.
 */
export function ourTrail(start: Snapshot, limitMs = Number.POSITIVE_INFINITY): Trail {
  const passes: Pass[] = [];
  let current = start;
  let firstRssMib = 0;
  for (let spent = 0; spent < limitMs; ) {
    const [began, cpuBefore] = [performance.now(), process.cpuUsage()];
    const { command } = planDisruption({
      snapshot: current,
      records: [],
      commands: [],
      settings: disruptionSettings("scenario", DEFAULT_SETTINGS),
      now: current.now,
      simulate: simulateWithSolve,
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
