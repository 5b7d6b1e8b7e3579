import { bounded } from "../../history/claim-entries.ts";
import { MAX_PODS } from "../../history/planned.ts";
import type { CommandCandidate, CommandRecord, TriedInstead } from "../../model/command-record.ts";
import type { Disrupted, DisruptedNode, DisruptionFailed } from "../../model/history-entry.ts";
import type { Tried } from "../consolidation/decision.ts";
import { describeBlocked, disruptingVia, podCount } from "./wording.ts";

/** Other sets of nodes that one entry names. */
const MAX_TRIED = 4;
/** Nodes that one entry names of a set that was tried beside the chosen one. */
const MAX_NODES_OF_OTHERS = 5;
/** Instance types of a replacement that one entry names. */
const MAX_TYPES = 5;
/** Letters of the sentence that names the nodes and their replacements. */
const MAX_HOW = 3_000;

/** The sets that would have saved most beside the chosen one, with why they were not chosen. */
export function bestOthers(tried: readonly Tried[], chosen: readonly CommandCandidate[]): readonly TriedInstead[] {
  const nameOf = (nodes: readonly string[]): string => nodes.toSorted().join();
  const own = nameOf(chosen.map(({ node }) => node));
  const others = new Map<string, Tried>();
  for (const one of tried) {
    const name = nameOf(one.nodes);
    const known = others.get(name);
    if (one.verdict === "rejected" && name !== own && (known === undefined || one.savesPerHour > known.savesPerHour)) others.set(name, one);
  }
  return [...others.values()]
    .sort((a, b) => b.savesPerHour - a.savesPerHour)
    .slice(0, MAX_TRIED)
    .map(({ nodes, savesPerHour, why }) => ({
      nodes: nodes.slice(0, MAX_NODES_OF_OTHERS),
      savesPerHour,
      why: why === undefined ? "the chosen set is worth more" : bounded(describeBlocked(why), 300),
    }));
}

function disruptedNode({
  nodeClaim,
  node,
  nodePool,
  instanceType,
  capacityType,
  zone,
  pricePerHour,
  pods,
}: CommandCandidate): DisruptedNode {
  return { nodeClaim, node, nodePool, instanceType, capacityType, zone, pricePerHour, podCount: pods.length };
}

/** For a command that holds, whose replacements, if any, have their names. */
export function disruptedEntry(command: CommandRecord, at: number): Disrupted {
  const { cluster, id, reason, method, decision, candidates, replacements, replacementClaims, savingsPerHour } = command;
  return {
    ...{ type: "Disrupted", cluster, at, commandId: id, reason, method, decision },
    nodes: candidates.map(disruptedNode),
    how: bounded(disruptingVia(command), MAX_HOW),
    replacements: replacements.map(({ nodePool, instanceTypes, pricePerHour }, i) => ({
      nodeClaim: replacementClaims[i] ?? "",
      nodePool,
      instanceTypes: instanceTypes.slice(0, MAX_TYPES),
      pricePerHour,
    })),
    moves: Object.entries(command.destinations ?? {}).slice(0, MAX_PODS),
    podCount: podCount(command),
    savesPerHour: savingsPerHour,
    tried: command.tried ?? [],
    triedCount: command.triedCount ?? 0,
  };
}

/** For a command that is given up. */
export function disruptionFailed(command: CommandRecord, at: number, cause: string): DisruptionFailed {
  const { cluster, id, reason, candidates, phase, savingsPerHour } = command;
  return {
    ...{ type: "DisruptionFailed", cluster, at, commandId: id, reason },
    nodes: candidates.map(disruptedNode),
    how: bounded(disruptingVia(command), MAX_HOW),
    cause: bounded(cause),
    hadBegun: phase !== "Validating",
    savesPerHour: savingsPerHour,
  };
}
