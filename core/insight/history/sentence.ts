import { circuitText } from "../../disruption/limits/circuit-breaker.ts";
import { subjectOf } from "../../history/keys.ts";
import { span } from "../../lib/duration.ts";
import type { TriedInstead } from "../../model/command-record.ts";
import type { DisruptedNode, HistoryEntry, LaunchFailed, Planned, PodsNominated, PodsWaited, Removed } from "../../model/history-entry.ts";
import { perHour } from "../../model/prices.ts";
import { remedyForText } from "../../offerings/ec2-errors.ts";
import { pauseText } from "../../pause/pause.ts";
import { counted, dollars, kindOf, someOf, whyItEnds } from "./words.ts";

/** An entry as one sentence without its time and subject; the page and the commands print it. */
export function sentenceOf(entry: HistoryEntry): string {
  switch (entry.type) {
    case "Planned":
      return plannedText(entry);
    case "Launched": {
      const { machine, attempt } = entry;
      const { pricePerHour, onDemandPerHour } = machine;
      const price = pricePerHour === undefined ? "at a price that is not known" : `at ${perHour(pricePerHour)}`;
      const saved = onDemandPerHour !== undefined && machine.capacityType === "spot" ? `, on demand ${perHour(onDemandPerHour)}` : "";
      const tries = attempt > 1 ? `, at attempt ${attempt}` : "";
      return `launched as ${kindOf(machine)} (${machine.instanceId}) ${price}${saved}${tries}`;
    }
    case "LaunchFailed":
      return launchFailedText(entry);
    case "Adopted":
      return entry.machine === undefined
        ? "adopted: the NodeClaim had no record"
        : `adopted with its machine ${kindOf(entry.machine)} (${entry.machine.instanceId}): the NodeClaim had no record`;
    case "Registered":
      return `registered as node ${entry.node}${after(entry.tookMs)}`;
    case "Initialized":
      return `initialized: node ${entry.node} takes pods${after(entry.tookMs)}`;
    case "Disrupted":
      return [
        `disrupted because ${REASONS[entry.reason]}: ${entry.how}; saves ${perHour(entry.savesPerHour)}`,
        ...(entry.moves.length > 0 ? [`${counted(entry.moves.length, "pod")} to nodes that run already`] : []),
        ...triedText(entry.tried, entry.triedCount),
      ].join("; ");
    case "DisruptionFailed":
      return `disruption ${entry.hadBegun ? "given up, its nodes stay" : "not begun"}: ${entry.how}; ${entry.cause}`;
    case "Terminating": {
      const detail = entry.detail === undefined ? "" : `: ${entry.detail}`;
      return `ends (${entry.reason}) because ${whyItEnds(entry.reason)}${detail}`;
    }
    case "Hastened":
      return `must end sooner (${entry.reason}) because ${whyItEnds(entry.reason)}${entry.detail === undefined ? "" : `: ${entry.detail}`}`;
    case "Removed":
      return removedText(entry);
    case "Collected":
      return `machine ${kindOf(entry.machine)} (${entry.machine.instanceId}) ended: neither a record nor a NodeClaim knew of it ${span(entry.at - entry.launchedAt)} after its launch`;
    case "PodsWaited":
      return waitedText(entry);
    case "PodsNominated":
      return nominatedText(entry);
    case "Paused":
      return pauseText(entry.pause);
    case "Resumed":
      return `resumed by ${entry.source === "table" ? entry.by : "deletion of the ConfigMap"}, ${span(entry.at - entry.pausedAt)} after the pause began`;
    case "CircuitOpened":
      return circuitText(entry);
    case "CircuitClosed":
      return `Disruption reason ${entry.reason} is held no longer for ${entry.scope}`;
  }
}

const REASONS = {
  Empty: "its nodes had no pods but those of DaemonSets",
  Underutilized: "the pods fit elsewhere for less",
  Drifted: "its nodes differ from what their NodePool and EC2NodeClass now ask for",
  Unhealthy: "its node stays unhealthy",
  Asleep: "their NodePool sleeps",
} as const;

const after = (tookMs: number | undefined): string => (tookMs === undefined ? "" : `, ${span(tookMs)} after its launch`);

function plannedText({ reason, commandId, pods, podCount, waitedMs, requests, choices, typeCount, together, isPaidFor }: Planned): string {
  const forWhom =
    podCount === 0
      ? commandId === undefined
        ? "to keep the NodePool at its replicas"
        : "in place of nodes that go"
      : `for ${counted(podCount, "pod")} (${someOf(pods, podCount)})`;
  const waited = waitedMs === undefined || commandId !== undefined ? "" : `, the oldest ${span(waitedMs)} old`;
  const replaces = commandId === undefined || podCount === 0 ? "" : `, in place of nodes that go (${reason})`;
  const [first, ...others] = choices;
  const choice =
    first === undefined ? "" : `; ${kindOf(first)} at ${perHour(first.pricePerHour)} is the cheapest of ${counted(typeCount, "type")}`;
  const paid = isPaidFor ? ", which a Savings Plan or reserved instance pays for" : "";
  const next = others.length === 0 ? "" : `; next: ${others.map((one) => `${kindOf(one)} ${perHour(one.pricePerHour)}`).join(", ")}`;
  const asks = Object.entries(requests).map(([name, amount]) => `${name} ${amount}`);
  const same = together > 1 ? `; one of ${counted(together, "NodeClaim")} of the same decision` : "";
  return `planned ${forWhom}${waited}${replaces}; asks for ${asks.join(", ")} with DaemonSets${choice}${paid}${next}${same}`;
}

function launchFailedText({ reason, message, unavailable, attempt }: LaunchFailed): string {
  const remedy = remedyForText(message, unavailable[0] as Parameters<typeof remedyForText>[1]);
  const fix = remedy === "" ? "" : `; ${remedy}`;
  const left = unavailable.length === 0 ? "" : `; left out for now: ${someOf(unavailable.map(kindOf), unavailable.length, 4)}`;
  return `no machine at attempt ${Math.max(attempt, 1)} (${reason})${message === "" ? "" : `: ${message.replace(/\.$/, "")}`}${fix}${left}`;
}

function triedText(tried: readonly TriedInstead[], count: number): readonly string[] {
  if (tried.length === 0) return [];
  const texts = tried.map(({ nodes, savesPerHour, why }) => {
    const worth = savesPerHour > 0 ? `would save ${perHour(savesPerHour)}, but ` : "";
    return `${someOf(nodes)}: ${worth}${why}`;
  });
  return [`of ${counted(count, "set")} of nodes that were tried, also ${texts.join("; ")}`];
}

/** USD of a machine from its launch to `until` (ms) at its price at launch; undefined where that is not known. */
export function costOf({ machine, launchedAt }: Pick<Removed, "machine" | "launchedAt">, until: number): number | undefined {
  if (machine?.pricePerHour === undefined || launchedAt === undefined) return undefined;
  return (machine.pricePerHour * Math.max(until - launchedAt, 0)) / 3_600_000;
}

function removedText(entry: Removed): string {
  const { machine, launchedAt, at, terminatingAt } = entry;
  if (machine === undefined) return "gone: no machine was ever launched";
  const ran = launchedAt === undefined ? "" : ` ${span(at - launchedAt)} after its launch`;
  const cost = costOf(entry, at);
  const money = cost === undefined ? "" : `, ${dollars(cost)} at its price at launch`;
  return `gone${ran}${money}; its end took ${span(at - terminatingAt)}`;
}

function waitedText({ owner, namespace, pods, podCount, since, at, reasons }: PodsWaited): string {
  const of = owner.startsWith("Pod/") ? "" : ` of ${owner}`;
  const why = reasons.at(-1)?.text ?? "";
  const names = pods.map((name) => `${namespace}/${name}`);
  const were = podCount === 1 ? "waits" : "wait";
  return `${counted(podCount, "pod")}${of} (${someOf(names, podCount)}) ${were} since ${new Date(since).toISOString().slice(0, 19)}Z, last seen ${span(at - since)} later: ${why}`;
}

function nominatedText({ nodeClaim, isReady, pods, podCount, waitedMs }: PodsNominated): string {
  const also = nodeClaim === "" ? "planned" : "planned also";
  const age = waitedMs === undefined ? "" : podCount === 1 ? `, ${span(waitedMs)} old` : `, the oldest ${span(waitedMs)} old`;
  const [they, them] = podCount === 1 ? ["it waits", "it"] : ["they wait", "them"];
  const until = isReady ? `the node has room, and ${they} until kube-scheduler binds ${them}` : `${they} until its node is ready`;
  return `${also} for ${counted(podCount, "pod")} (${someOf(pods, podCount)})${age}: ${until}`;
}

/** The subject of an entry as a user of kubectl names it: "nodeclaim/default-x7k2p". */
export function titleOf(entry: HistoryEntry): string {
  switch (entry.type) {
    case "Disrupted":
    case "DisruptionFailed":
      return someOf(
        entry.nodes.map(({ node }: DisruptedNode) => `node/${node}`),
        entry.nodes.length,
        1,
      );
    case "PodsWaited":
      return `pod/${entry.namespace}/${entry.pods[0] ?? ""}`;
    case "PodsNominated":
      return subjectOf(entry);
    case "Paused":
    case "Resumed":
      return `cluster/${entry.cluster}`;
    case "CircuitOpened":
    case "CircuitClosed":
      return entry.scope.toLowerCase();
    default:
      return `nodeclaim/${entry.nodeClaim}`;
  }
}

/** NodePools that an entry is about. */
export function poolsOf(entry: HistoryEntry): readonly string[] {
  switch (entry.type) {
    case "Disrupted":
      return [...new Set([...entry.nodes, ...entry.replacements].map(({ nodePool }) => nodePool))];
    case "DisruptionFailed":
      return [...new Set(entry.nodes.map(({ nodePool }) => nodePool))];
    case "PodsWaited":
    case "Paused":
    case "Resumed":
      return [];
    case "CircuitOpened":
    case "CircuitClosed":
      return entry.nodePools;
    case "PodsNominated":
      return entry.nodePool === "" ? [] : [entry.nodePool];
    default:
      return [entry.nodePool];
  }
}
