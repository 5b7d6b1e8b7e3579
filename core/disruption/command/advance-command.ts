// Execution of a stored command. In come the command, a fresh snapshot and the records; out come actions for
// functions/disruption and the command's next state. Nothing is remembered between two steps and nothing is performed
// here.

import { lineOf } from "../../announcements/log-events.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { Pause } from "../../model/pause.ts";
import { pauseText } from "../../pause/pause.ts";
import { SETTLE_MS } from "../../signals/signal.ts";
import { type ClusterView, viewCluster } from "../cluster/view.ts";
import type { DecisionInput } from "../consolidation/input.ts";
import { exceedsRate, isHeld } from "../limits/counted.ts";
import { formatDollars } from "../prices/money.ts";
import { disruptedEntry, disruptionFailed } from "../reports/history.ts";
import { onBoth } from "../reports/plan-events.ts";
import { commandFields, commandName, commandText, disruptingVia } from "../reports/wording.ts";
import { commandCandidate, consolidationTypeOf, savingsOfCommand } from "./command.ts";
import type { CommandAction, CommandStep } from "./command-action.ts";
import { isUp, mark, stateOf, unmark } from "./marking.ts";
import { nameReplacements } from "./replacement-names.ts";
import { type Validation, validate } from "./validate.ts";

/**
 * How often a command that waits for replacements is advanced when no event wakes it, ms. The lifecycle sends a wake-up
 * when one is initialized, and when one has ended.
 */
const POLL_MS = 60_000;
/**
 * How long replacements may take until they are initialized: so many ms per node of all commands under way, within the
 * two bounds (karpenter: pkg/controllers/disruption/queue.go, Queue.GetMaxRetryDuration).
 */
const WAIT_PER_NODE_MS = 80;
const MIN_WAIT_MS = 10 * 60_000;
const MAX_WAIT_MS = 60 * 60_000;

/**
 * What one step of a command is decided from. The records are read after the commands, so that the replacement claims
 * of a command are among them; `commands` holds this command too.
 */
export interface CommandInput extends DecisionInput {
  /** Disruption is paused: commands end, and their nodes stay. */
  readonly pause?: Pause | undefined;
}

/** What the step of each phase works with. */
interface StepContext extends CommandInput {
  readonly command: CommandRecord;
  /** The cluster without this command; other commands count. */
  readonly view: ClusterView;
}

/**
 * The next step of a command. Each step is derived from the current cluster state and contains only what is missing
 * there, so a step that is repeated, late or interrupted anywhere ends in the same state
 * (docs/stateless-controller.md, "Writes before effects").
 *
 *     Validating -> Replacing -> Deleting -> done; or RollingBack -> done
 */
export function advanceCommand(command: CommandRecord, input: CommandInput): CommandStep {
  const others = input.commands.filter(({ id }) => id !== command.id);
  const context: StepContext = { ...input, command, view: viewCluster({ ...input, commands: others }) };
  const paused = input.pause && whenPaused(context, input.pause);
  if (paused) return paused;
  switch (command.phase) {
    case "Validating":
      return whenValidating(context);
    case "Replacing":
      return whenReplacing(context);
    case "Deleting":
      return whenDeleting(context);
    case "RollingBack":
      return { actions: unmarkAll(context), done: "failed" };
    case "SetAside":
      return { actions: [] };
  }
}

/**
 * Gives a command up that a pause holds, and unmarks its nodes that are not deleted yet; undefined where it changes
 * nothing any more.
 */
function whenPaused(context: StepContext, pause: Pause): CommandStep | undefined {
  const { command, view, now } = context;
  const { phase, candidates } = command;
  if (phase === "SetAside" || phase === "RollingBack") return undefined;
  if (candidates.every(({ nodeClaim }) => stateOf(view, nodeClaim) !== "active")) return undefined;
  const cause = pauseText(pause);
  const fields = { command: commandName(command), "command-id": command.id, cause };
  const log: CommandAction = { type: "Log", level: "info", message: "abandoning disruption command, disruption is paused", fields };
  const history = [disruptionFailed(command, now, cause)];
  if (phase === "Validating") return { actions: [log, ...unmarkAll(context)], history, done: "failed" };
  return { actions: [log], next: { ...command, phase: "RollingBack", since: now, dueAt: now }, history, wakeAt: now };
}

function whenValidating(context: StepContext): CommandStep {
  const { command, view, now, simulate } = context;
  if (now < command.dueAt) return { actions: [], wakeAt: command.dueAt };
  const { nodePools } = context.snapshot;
  if (exceedsRate(command, nodePools, now, context.rate)) return abandon(context, "budget");
  if (isHeld(command, nodePools, now, context.breaker)) return abandon(context, "breaker");
  const validation = validate(command, view, simulate);
  return validation.holds ? execute(context, validation) : abandon(context, validation.why);
}

/** Drops a command that is no longer valid, and unmarks the nodes that an interrupted run may have marked. */
function abandon(context: StepContext, why: keyof typeof ABANDONED): CommandStep {
  const { command, view } = context;
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
  const history = [disruptionFailed(command, context.now, ABANDONED[why])];
  return { actions: [log, ...events, ...count, ...unmarkAll(context)], history, done: "failed" };
}

/** Why a command no longer holds when it is checked again. */
const ABANDONED = {
  churn: "when it was checked again after 15 s, pods had come or gone",
  budget: "when it was checked again after 15 s, the budget or the disruption rate no longer allowed it",
  breaker: "when it was checked again after 15 s, the circuit breaker held its reason",
  scheduling: "when it was checked again after 15 s, the pods would have gone elsewhere, or it would have saved less",
} as const;

/**
 * Marks the nodes and writes the replacement claims. Only with the claims written do the nodes count as disrupting,
 * because provisioning would otherwise launch nodes for the same pods
 * (docs/stateless-controller.md, "Writes before effects").
 */
function execute(context: StepContext, { candidates }: Extract<Validation, { holds: true }>): CommandStep {
  const { command, view, now } = context;
  const kept = candidates.map(commandCandidate).sort((a, b) => order(command, a.nodeClaim) - order(command, b.nodeClaim));
  const narrowed = { ...command, candidates: kept, savingsPerHour: savingsOfCommand(command, kept, command.replacements) };
  const taken = new Set([...view.records.keys(), ...view.claims.keys()].filter((name) => view.records.get(name)?.commandId !== command.id));
  const replacements = nameReplacements(command, taken);
  const replacementClaims = replacements.map(({ name }) => name);
  const fields = { ...commandFields(narrowed), "replacement-nodeclaims": replacementClaims };
  const started: readonly CommandAction[] = [
    { type: "Log", ...lineOf("disrupting nodeclaim(s)", fields, disruptingVia(narrowed)) },
    ...decisionCounts(narrowed),
    ...(command.repair?.reboots ? [] : mark(view, narrowed)),
  ];
  if (replacements.length === 0) {
    const history = [disruptedEntry(narrowed, now)];
    return { actions: started, next: { ...narrowed, phase: "Deleting", since: now, dueAt: now }, history, wakeAt: now };
  }
  const next: CommandRecord = {
    ...narrowed,
    phase: "Replacing",
    replacementClaims,
    since: now,
    dueAt: now + POLL_MS,
  };
  const write: CommandAction = { type: "WriteReplacements", replacements, command: next };
  return { actions: [...started, write], next, history: [disruptedEntry(next, now)], wakeAt: now + POLL_MS };
}

function order({ candidates }: CommandRecord, nodeClaim: string): number {
  return candidates.findIndex((candidate) => candidate.nodeClaim === nodeClaim);
}

function decisionCounts({ method, reason, decision, candidates, repair, terminateFirst: why }: CommandRecord): readonly CommandAction[] {
  const labels = {
    decision: repair?.reboots ? "reboot" : why ? "terminate-first" : decision,
    reason: reason.toLowerCase(),
    consolidation_type: consolidationTypeOf(method),
  };
  const pools = [...new Set(candidates.map(({ nodePool }) => nodePool))];
  return [
    { type: "Count", metric: "voluntary_disruption_decisions_total", labels, value: 1 },
    ...pools.map((nodepool): CommandAction => {
      return { type: "Count", metric: "voluntary_disruption_decisions_by_nodepool_total", labels: { ...labels, nodepool }, value: 1 };
    }),
    ...(why ? pools.map((nodepool) => terminateFirstCount(nodepool, reason, why)) : []),
  ];
}

/** (karpenter: pkg/controllers/disruption/metrics.go, TerminateFirstDecisionsTotal) */
function terminateFirstCount(nodepool: string, reason: string, why: string): CommandAction {
  const labels = { nodepool, reason: reason.toLowerCase(), terminate_first_reason: why };
  return { type: "Count", metric: "voluntary_disruption_terminate_first_decisions_total", labels, value: 1 };
}

/** Waits until every replacement is initialized; rolls back when one is lost or takes too long. */
function whenReplacing(context: StepContext): CommandStep {
  const { command, view, now, commands } = context;
  if (command.candidates.every(({ nodeClaim }) => stateOf(view, nodeClaim) !== "active")) return { actions: [], done: "succeeded" };
  const waiting = command.replacementClaims.filter((name) => !isUp(view, name));
  if (waiting.length === 0)
    return { actions: mark(context.view, command), next: { ...command, phase: "Deleting", since: now, dueAt: now }, wakeAt: now };
  const nodes = commands.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, WAIT_PER_NODE_MS * nodes));
  const lost = waiting.filter((name) => stateOf(view, name) !== "active");
  if (lost.length > 0) return rollBack(context, `replacement nodeclaim(s) ${lost.join(", ")} did not come up`, waiting.length);
  const deadline = command.since + waitMs;
  if (now >= deadline) {
    return rollBack(
      context,
      `replacement nodeclaim(s) ${waiting.join(", ")} not initialized within ${waitMs / 60_000} minutes`,
      waiting.length,
    );
  }
  return { actions: [...mark(context.view, command), ...waitingEvents(context, waiting)], wakeAt: Math.min(deadline, now + POLL_MS) };
}

function waitingEvents({ command, view }: StepContext, names: readonly string[]): readonly CommandAction[] {
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

/** Rolls back. Replacements that were launched stay, as in Karpenter: they are candidates of later passes. */
function rollBack({ command, now }: StepContext, cause: string, missing: number): CommandStep {
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
    history: [disruptionFailed(command, now, cause)],
    wakeAt: now,
  };
}

/**
 * Deletes the remaining claims. The command is done only when all of them are seen to be deleted: until then it keeps a
 * pass that read an older state from unmarking its nodes or deciding on them again.
 */
function whenDeleting({ command, view, now }: StepContext): CommandStep {
  const { repair } = command;
  if (repair?.reboots) {
    const requestedAt = command.createdAt;
    const requests = command.candidates.map(({ nodeClaim }) => ({ type: "RequestReboot", claim: nodeClaim, repair, requestedAt }) as const);
    return { actions: requests, done: "succeeded" };
  }
  const reason = command.reason.toLowerCase();
  const left = command.candidates.filter(({ nodeClaim }) => stateOf(view, nodeClaim) === "active");
  if (left.length === 0) {
    const log: CommandAction = { type: "Log", level: "debug", message: "command succeeded", fields: { ...commandFields(command) } };
    return { actions: [log], done: "succeeded" };
  }
  const deletions = left.flatMap(({ nodeClaim }): CommandAction[] => [
    ...onBoth(view, nodeClaim, { type: "Normal", reason: "DisruptionTerminating", message: "" }).map(
      (event) => ({ type: "Event", event: { ...event, message: `Disrupting ${event.about.kind}: ${command.reason}` } }) as const,
    ),
    { type: "DeleteClaim", claim: nodeClaim, reason, commandId: command.id, ...(command.repair && { repair: command.repair }) },
  ]);
  return { actions: deletions, wakeAt: now + SETTLE_MS };
}

/** Removes the disrupted taint and the condition DisruptionReason. */
function unmarkAll({ command, view }: StepContext): readonly CommandAction[] {
  return command.candidates.flatMap(({ nodeClaim }) => unmark(view, nodeClaim));
}
