import { lineOf } from "../../announcements/log-events.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Simulate } from "../cluster/simulation.ts";
import { type ClusterView, viewCluster } from "../cluster/view.ts";
import { formatDollars } from "../prices/money.ts";
import { savingsOf } from "../prices/savings.ts";
import { onBoth } from "../reports/plan-events.ts";
import { commandFields, commandName, commandText, disruptingVia } from "../reports/wording.ts";
import type { DisruptionSettings } from "../settings.ts";
import { commandCandidate, consolidationTypeOf } from "./command.ts";
import type { CommandAction, CommandStep } from "./command-action.ts";
import { isUp, mark, stateOf, unmark } from "./marking.ts";
import { nameReplacements } from "./replacement-names.ts";
import { type Validation, validate } from "./validate.ts";

/** How often a command that waits is looked at when no event says that it has become ready. */
const POLL_MS = 5_000;
const SHORTEST_WAIT_MS = 10 * 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;
const WAIT_PER_NODE_MS = 80;

/** What carrying one command a step further is decided from. */
export interface CommandInput {
  readonly snapshot: Snapshot;
  /** Read after the commands, so that the intents of a command are among them. */
  readonly records: readonly NodeClaimRecord[];
  /** All commands under way, this one included. */
  readonly commands: readonly CommandRecord[];
  readonly settings: DisruptionSettings;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly simulate: Simulate;
  readonly nominatedUntil?: ReadonlyMap<string, number>;
}

interface Scene extends CommandInput {
  readonly command: CommandRecord;
  /** The cluster as if this command did not exist. */
  readonly view: ClusterView;
}

/**
 * The next step of a command. It looks at the world anew each time and asks only for what is missing there, so a step that is
 * repeated, late, or cut short anywhere ends in the same state.
 */
export function advanceCommand(command: CommandRecord, input: CommandInput): CommandStep {
  const others = input.commands.filter(({ id }) => id !== command.id);
  const scene: Scene = { ...input, command, view: viewCluster({ ...input, commands: others }) };
  switch (command.phase) {
    case "Validating":
      return whenValidating(scene);
    case "Replacing":
      return whenReplacing(scene);
    case "Deleting":
      return whenDeleting(scene);
    case "RollingBack":
      return { actions: unmarkAll(scene), done: "failed" };
  }
}

function whenValidating(scene: Scene): CommandStep {
  const { command, view, now, simulate } = scene;
  if (now < command.dueAt) return { actions: [], wakeAt: command.dueAt };
  const validation = validate(command, view, simulate);
  return validation.holds ? execute(scene, validation) : abandon(scene, validation.why);
}

/** The world has moved on: the decision is dropped, and whatever an earlier, cut-off run marked is unmarked. */
function abandon(scene: Scene, why: "churn" | "budget" | "scheduling"): CommandStep {
  const { command, view } = scene;
  const consolidationType = consolidationTypeOf(command.method);
  const message = `Consolidation rejected: ${commandText(command)}, reason: ${why} (savings: ${formatDollars(command.savingsPerHour)})`;
  const events: readonly CommandAction[] =
    consolidationType === "multi" || consolidationType === "single"
      ? command.candidates.flatMap(({ nodeClaim }) =>
          onBoth(view, nodeClaim, { type: "Normal", reason: "ConsolidationRejected", message }).map(
            (event) => ({ type: "Event", event }) as const,
          ),
        )
      : [];
  const count: readonly CommandAction[] =
    consolidationType === ""
      ? []
      : [
          {
            type: "Count",
            metric: "voluntary_disruption_failed_validations_total",
            labels: { consolidation_type: consolidationType },
            value: command.candidates.length,
          },
        ];
  const log: CommandAction = {
    type: "Log",
    level: "debug",
    message:
      command.method === "emptiness"
        ? "abandoning empty node consolidation attempt due to pod churn, command is no longer valid"
        : "abandoning disruption command, it is no longer valid",
    fields: { command: commandName(command), "command-id": command.id, cause: why },
  };
  return { actions: [log, ...events, ...count, ...unmarkAll(scene)], done: "failed" };
}

/** Marks the nodes, then writes the replacements; only with those written do the nodes count as going (traps.md 5). */
function execute(scene: Scene, { candidates }: Extract<Validation, { holds: true }>): CommandStep {
  const { command, view, now } = scene;
  const kept = candidates.map(commandCandidate).sort((a, b) => order(command, a.nodeClaim) - order(command, b.nodeClaim));
  const narrowed = { ...command, candidates: kept, savingsPerHour: savingsOf(kept, command.replacements) };
  const taken = new Set([...view.records.keys(), ...view.claims.keys()].filter((name) => view.records.get(name)?.commandId !== command.id));
  const replacements = nameReplacements(command, taken);
  const replacementClaims = replacements.map(({ name }) => name);
  const fields = { ...commandFields(narrowed), "replacement-nodeclaims": replacementClaims };
  const started: readonly CommandAction[] = [
    { type: "Log", ...lineOf("disrupting nodeclaim(s)", fields, disruptingVia(narrowed)) },
    ...decisionCounts(narrowed),
    ...mark(view, narrowed),
  ];
  if (replacements.length === 0) {
    return { actions: started, next: { ...narrowed, phase: "Deleting", since: now, dueAt: now }, wakeAt: now };
  }
  const next: CommandRecord = {
    ...narrowed,
    phase: "Replacing",
    replacementClaims,
    since: now,
    dueAt: now + POLL_MS,
  };
  return { actions: [...started, { type: "WriteReplacements", replacements, command: next }], next, wakeAt: now + POLL_MS };
}

function order({ candidates }: CommandRecord, nodeClaim: string): number {
  return candidates.findIndex((candidate) => candidate.nodeClaim === nodeClaim);
}

function decisionCounts({ method, reason, decision, candidates }: CommandRecord): readonly CommandAction[] {
  const labels = { decision, reason: reason.toLowerCase(), consolidation_type: consolidationTypeOf(method) };
  const pools = [...new Set(candidates.map(({ nodePool }) => nodePool))];
  return [
    { type: "Count", metric: "voluntary_disruption_decisions_total", labels, value: 1 },
    ...pools.map((nodepool): CommandAction => {
      return { type: "Count", metric: "voluntary_disruption_decisions_by_nodepool_total", labels: { ...labels, nodepool }, value: 1 };
    }),
  ];
}

/** Waits until every replacement takes pods; gives up when one is lost or too long in coming. */
function whenReplacing(scene: Scene): CommandStep {
  const { command, view, now, commands } = scene;
  if (command.candidates.every(({ nodeClaim }) => stateOf(view, nodeClaim) !== "here")) return { actions: [], done: "succeeded" };
  const waiting = command.replacementClaims.filter((name) => !isUp(view, name));
  if (waiting.length === 0)
    return { actions: mark(scene.view, command), next: { ...command, phase: "Deleting", since: now, dueAt: now }, wakeAt: now };
  const nodes = commands.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const patience = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, WAIT_PER_NODE_MS * nodes));
  const lost = waiting.filter((name) => stateOf(view, name) !== "here");
  if (lost.length > 0) return giveUp(scene, `replacement nodeclaim(s) ${lost.join(", ")} did not come up`, waiting.length);
  const deadline = command.since + patience;
  if (now >= deadline) {
    return giveUp(
      scene,
      `replacement nodeclaim(s) ${waiting.join(", ")} not initialized within ${patience / 60_000} minutes`,
      waiting.length,
    );
  }
  return { actions: [...mark(scene.view, command), ...waitingEvents(scene, waiting)], wakeAt: Math.min(deadline, now + POLL_MS) };
}

function waitingEvents({ command, view }: Scene, names: readonly string[]): readonly CommandAction[] {
  return names.flatMap((name): CommandAction[] => {
    const claim = view.claims.get(name);
    if (!claim) return [];
    const about = { kind: "NodeClaim", metadata: claim.metadata } as const;
    const launching = { type: "Normal", reason: "DisruptionLaunching", message: `Launching NodeClaim: ${command.reason}`, about } as const;
    const message = "Waiting on readiness to continue disruption";
    const readiness = { type: "Normal", reason: "DisruptionWaitingReadiness", message, about } as const;
    return [
      { type: "Event", event: launching },
      { type: "Event", event: readiness },
    ];
  });
}

/** What was launched stays, as a node like any other; it is a candidate itself next time. */
function giveUp({ command, now }: Scene, cause: string, missing: number): CommandStep {
  const labels = {
    decision: command.decision,
    reason: command.reason.toLowerCase(),
    consolidation_type: consolidationTypeOf(command.method),
  };
  return {
    actions: [
      {
        type: "Log",
        level: "error",
        message: "failed terminating nodes while executing a disruption command",
        fields: { command: commandName(command), "command-id": command.id, error: cause },
      },
      { type: "Count", metric: "voluntary_disruption_queue_failures_total", labels, value: missing },
    ],
    next: { ...command, phase: "RollingBack", since: now, dueAt: now },
    wakeAt: now,
  };
}

/**
 * Deletes what is still there. Over only when everything is seen to go: until then the command keeps its nodes from being healed, or
 * decided about again, by a pass that read the world before.
 */
function whenDeleting({ command, view, now }: Scene): CommandStep {
  const reason = command.reason.toLowerCase();
  const left = command.candidates.filter(({ nodeClaim }) => stateOf(view, nodeClaim) === "here");
  if (left.length === 0) {
    const log: CommandAction = { type: "Log", level: "debug", message: "command succeeded", fields: { ...commandFields(command) } };
    return { actions: [log], done: "succeeded" };
  }
  const deletions = left.flatMap(({ nodeClaim }): CommandAction[] => [
    ...onBoth(view, nodeClaim, { type: "Normal", reason: "DisruptionTerminating", message: "" }).map(
      (event) => ({ type: "Event", event: { ...event, message: `Disrupting ${event.about.kind}: ${command.reason}` } }) as const,
    ),
    { type: "DeleteClaim", claim: nodeClaim, reason },
  ]);
  return { actions: deletions, wakeAt: now + 1_000 };
}

/** Takes taint and condition off again. */
function unmarkAll({ command, view }: Scene): readonly CommandAction[] {
  return command.candidates.flatMap(({ nodeClaim }) => unmark(view, nodeClaim));
}
