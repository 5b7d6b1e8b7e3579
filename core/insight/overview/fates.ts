import type { StateNode } from "../../disruption/cluster/view.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { pdbBlocking } from "../../pods/disruption-budget.ts";
import { doNotDisruptUntil } from "../../pods/do-not-disrupt.ts";
import { isDaemonSetPod, isWaiting, podKey } from "../../pods/predicates.ts";
import { counted, listed } from "../../scheduling/reasons/words.ts";
import { whyItEnds } from "../history/words.ts";
import { commandSentence } from "./commands.ts";
import type { Decisions, ReadState } from "./decisions.ts";
import type { ExplainedNode } from "./explain-nodes.ts";
import type { Fate } from "./types.ts";
import { attemptText, heldBackText } from "./wording.ts";

const METHODS: Readonly<Record<string, string>> = {
  emptiness: "it is empty",
  drift: "it has drifted",
  multi: "consolidation",
  single: "consolidation",
  sleep: "its NodePool sleeps",
};

/** Whether each NodeClaim's node stays, by NodeClaim name. Without decisions only what is under way is known. */
export function fatesOf(machines: Iterable<StateNode>, state: ReadState, decisions: Decisions | undefined): ReadonlyMap<string, Fate> {
  const { snapshot, records, commands } = state;
  const byName = new Map(records.map((record) => [record.name, record]));
  const explained = new Map((decisions?.nodes ?? []).map((node) => [node.name, node]));
  return new Map(
    [...machines].map((machine): [string, Fate] => {
      const { name } = machine.claim.metadata;
      const command = commands.find(({ candidates }) => candidates.some(({ nodeClaim }) => nodeClaim === name));
      const leaving = leavingFate(machine, byName.get(name), command, snapshot);
      return [name, leaving ?? decidedFate(explained.get(machine.node ? machine.name : name), decisions)];
    }),
  );
}

/** The fate of a node that is being removed, with what holds its drain. */
function leavingFate(
  machine: StateNode,
  record: NodeClaimRecord | undefined,
  command: CommandRecord | undefined,
  snapshot: Snapshot,
): Fate | undefined {
  const isGoing =
    machine.markedForDeletion || record?.terminating !== undefined || (command !== undefined && command.phase !== "RollingBack");
  if (!isGoing) return undefined;
  const why = command ? `A command (${command.phase}) ${commandSentence(command)}` : `It is being removed${reasonOf(record)}`;
  return { verdict: "leaving", text: why, details: drainDetails(machine, snapshot) };
}

const reasonOf = (record: NodeClaimRecord | undefined): string =>
  record?.terminating ? ` because ${whyItEnds(record.terminating.reason)}` : "";

/** Pods that a sentence names. */
const MAX_PODS = 5;

function drainDetails({ claim, pods }: StateNode, { podDisruptionBudgets, now }: Snapshot): readonly string[] {
  if (!claim.metadata.deletionTimestamp) return [];
  const left = pods.filter((pod) => isWaiting(pod, now) && !isDaemonSetPod(pod));
  const held = left.flatMap((pod) => {
    const until = doNotDisruptUntil(pod, now);
    const block = pdbBlocking(pod, podDisruptionBudgets);
    if (until !== undefined) return [`${podKey(pod)} holds it by its annotation karpenter.sh/do-not-disrupt`];
    return block ? [`${podKey(pod)} is held by PodDisruptionBudget ${listed(block.budgets)}`] : [];
  });
  const others = held.length - MAX_PODS;
  return [
    left.length === 0 ? "Its pods have gone; the instance ends" : `Still there: ${listed(left.map(podKey), MAX_PODS)}`,
    ...held.slice(0, MAX_PODS),
    ...(others > 0 ? [`and ${counted(others, "more pod")} that hold it`] : []),
  ];
}

function decidedFate(node: ExplainedNode | undefined, decisions: Decisions | undefined): Fate {
  if (node === undefined) {
    const text = decisions === undefined ? "Not looked at yet" : "No pass has looked at it";
    return { verdict: "unseen", text, details: [] };
  }
  const { verdict, reason, remedy, heldBack, alone, best, sets } = node;
  const isCut = decisions?.pass.passes.some(({ isTimedOut }) => isTimedOut) ?? false;
  const details = [
    ...(alone ? [`Tried alone: ${attemptText(alone)}`] : []),
    ...(best ? [`Tried in ${counted(sets, "set")}, best with ${listed(best.with, 4)}: ${attemptText(best)}`] : []),
  ];
  if (heldBack) {
    const pools = listed(heldBack.budgets.map(({ nodePool }) => nodePool));
    const budgets = `a budget of NodePool ${pools} that allows more nodes, or the end of disruptions under way`;
    return { verdict: "stays", text: capital(heldBackText(node.name, heldBack)), remedy: budgets, details };
  }
  switch (verdict) {
    case "goes": {
      const command = decisions?.pass.command;
      return {
        verdict,
        text: command ? `The next pass ${commandSentence(command)}` : `The next pass removes it: ${METHODS[reason]}`,
        details,
      };
    }
    case "next":
      return { verdict, text: `A pass after the next one removes it: ${METHODS[reason] ?? reason}`, details };
    case "stays":
      return { verdict, text: capital(reason), ...(remedy !== undefined && { remedy }), details };
    case "unseen":
      return { verdict, text: isCut ? CUT : "Nothing blocks it, and no pass has a use for it: other nodes go first", details };
  }
}

const CUT = "The search for savings ran out of time before it reached this node";

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
