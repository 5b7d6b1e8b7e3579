import { keyOf } from "#core/history/keys.ts";
import type { Stays } from "#core/history/stays.ts";
import { costOf, sentenceOf, titleOf } from "#core/insight/history/sentence.ts";
import { dollars, kindOf } from "#core/insight/history/words.ts";
import { span } from "#core/lib/duration.ts";
import { nearest } from "#core/lib/nearest.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { perHour } from "#core/model/prices.ts";
import { fitted, wrapped } from "#terminal/columns.ts";
import { InputError } from "#terminal/input-error.ts";
import { type ClaimStory, claimStory, claimsOfNode, type PodStory, podStory, readNodeStays } from "./read.ts";
import type { HistorySource } from "./source.ts";
import { timeText } from "./time.ts";

type Kind = "node" | "pod" | "nodeclaim";

/** What `why` is asked about. */
export interface Subject {
  readonly kind: Kind;
  /** "" for what has no namespace. */
  readonly namespace: string;
  readonly name: string;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...["node", "nodes", "no"].map((word) => [word, "node"] as const),
  ...["pod", "pods", "po"].map((word) => [word, "pod"] as const),
  ...["nodeclaim", "nodeclaims", "nodeclaims.karpenter.sh"].map((word) => [word, "nodeclaim"] as const),
]);

const FORMS = "node/NAME, nodeclaim/NAME or pod/NAMESPACE/NAME";

/** Reads "pod/shop/web-1", in kubectl's names of kinds. Throws InputError. */
export function subjectFrom(word: string): Subject {
  const [first = "", ...rest] = word.split("/");
  const kind = KINDS.get(first.toLowerCase());
  const [namespace = "", name = ""] = kind === "pod" ? (rest.length === 1 ? ["default", ...rest] : rest) : ["", ...rest];
  const isWhole = kind === "pod" ? rest.length === 1 || rest.length === 2 : rest.length === 1;
  if (kind === undefined || !isWhole || name === "") throw new InputError(`why ${word}: ask about ${FORMS}`);
  return { kind, namespace, name };
}

interface WhyOptions {
  /** ms. */
  readonly since: number;
  readonly json: boolean;
}

/** Why a node, a NodeClaim or a pod is, or was, what and where it is. Throws InputError when nothing is known of it. */
export async function why(subject: Subject, source: HistorySource, { since, json }: WhyOptions): Promise<string> {
  const { cluster, store, now } = source;
  const range = { since, until: now + 1 };
  const records = await store.list(cluster);
  const pod = subject.kind === "pod" ? await podStory(source, subject, range) : undefined;
  const names = pod?.nodeClaims ?? (subject.kind === "node" ? await claimsOfNode(source, subject.name, range, records) : [subject.name]);
  const stories: ClaimStory[] = [];
  for (const name of names) stories.push(...[await claimStory(source, name, range, records)].filter((story) => story !== undefined));
  if (stories.length === 0 && (pod === undefined || pod.waits.length + pod.moves.length + pod.nominations.length === 0))
    throw new InputError(await unknown(subject, source, range, records));
  const stays = await readNodeStays(source);
  if (json) return `${JSON.stringify(asJson(subject, stories, { pod, stays }, source), undefined, 2)}\n`;
  const parts = pod
    ? [...podLines(subject, pod), ...stories.map((story) => storyLines(story, now, (entry) => isForPod(entry, pod)).join("\n"))]
    : stories.map((story) => [...storyLines(story, now), ...stayLines(story, stays)].join("\n"));
  return `${fitted(parts.join("\n\n"))}\n`;
}

async function unknown(
  { kind, namespace, name }: Subject,
  { cluster, store }: HistorySource,
  range: { readonly since: number; readonly until: number },
  records: readonly NodeClaimRecord[],
): Promise<string> {
  const what = kind === "pod" ? `pod ${namespace}/${name}` : `${kind} ${name}`;
  const from = `since ${timeText(range.since)}`;
  if (kind === "pod")
    return `nothing was decided about ${what} ${from}: kube-scheduler found room for it on a node that was there, or there is no such pod in cluster ${cluster}`;
  const known =
    kind === "node"
      ? [...records.flatMap(({ nodeName }) => nodeName ?? []), ...(await store.history(cluster, { ...range, about: "node/" })).map(nodeIn)]
      : [...records.map(({ name: own }) => own), ...(await store.history(cluster, { ...range, about: "nodeclaim/" })).map(claimIn)];
  const meant = nearest(name, known);
  const hint = meant === undefined ? "history --since 30d lists what is known" : `${meant} is known`;
  return `the history of cluster ${cluster} knows no ${what} ${from}; ${hint}`;
}

const nodeIn = (entry: HistoryEntry): string => ("node" in entry ? (entry.node ?? "") : "");
const claimIn = (entry: HistoryEntry): string => ("nodeClaim" in entry ? entry.nodeClaim : "");

/** What a pod's reader needs of the nodes that were launched for it. */
const SHORT: ReadonlySet<HistoryEntry["type"]> = new Set([
  "Planned",
  "Launched",
  "LaunchFailed",
  "Registered",
  "Terminating",
  "Removed",
  "Disrupted",
]);

/** What a pod's reader needs of the pods that were planned for its nodes later: nothing but its own. */
const isForPod = (entry: HistoryEntry, { nominations }: PodStory): boolean =>
  SHORT.has(entry.type) || nominations.some((own) => keyOf(own) === keyOf(entry));

function storyLines(story: ClaimStory, now: number, isShown: (entry: HistoryEntry) => boolean = () => true): readonly string[] {
  const { nodeClaim, nodePool, node, entries } = story;
  const title = [
    `nodeclaim/${nodeClaim}`,
    ...(node === undefined ? [] : [`node/${node}`]),
    ...(nodePool === "" ? [] : [`NodePool ${nodePool}`]),
  ];
  const shown = entries.filter(isShown);
  return [...wrapped(title.join(", ")), ...wrapped(stateText(story, now), 2), ...shown.flatMap(dated)];
}

/** "runs since …: m5.large spot …, $0.08 so far". */
function stateText(story: ClaimStory, now: number): string {
  const { machine, launchedAt, goneAt, record } = story;
  const until = goneAt ?? now;
  const cost = machine && launchedAt !== undefined ? costOf({ machine, launchedAt }, until) : undefined;
  const price = machine?.pricePerHour === undefined ? "" : ` at ${perHour(machine.pricePerHour)}`;
  const kind = machine === undefined ? "no machine was launched for it" : `${kindOf(machine)}${price}`;
  const ran = launchedAt === undefined || machine === undefined ? "" : `, ${span(until - launchedAt)}`;
  const spent = cost === undefined ? "" : `, ${dollars(cost)}`;
  if (record === undefined) return goneAt === undefined ? `gone: ${kind}` : `gone since ${timeText(goneAt)}: ${kind}${ran}${spent}`;
  if (record.terminating) return `ends since ${timeText(record.terminating.at)}: ${kind}${ran}${spent} so far`;
  return machine === undefined ? "on its way" : `runs: ${kind}${ran}${spent} so far`;
}

const TIME_WIDTH = 21;

/** The sentence beside its time, all lines at one edge. */
function dated(entry: HistoryEntry): readonly string[] {
  const [first = "", ...others] = wrapped(sentenceOf(entry), 2 + TIME_WIDTH);
  return [`  ${timeText(entry.at).padEnd(TIME_WIDTH)}${first.trimStart()}`, ...others];
}

const stayOf = (nodeClaim: string, stays: Stays | undefined) => stays?.nodes.find((stay) => stay.nodeClaim === nodeClaim);

/** Why a node that runs is still there, and what would free it. */
function stayLines({ nodeClaim, record, machine }: ClaimStory, stays: Stays | undefined): readonly string[] {
  if (record === undefined || record.terminating || machine === undefined) return [];
  const stay = stayOf(nodeClaim, stays);
  if (stay === undefined) return wrapped("stays: no pass of disruption has named a reason", 2);
  const since = stays === undefined ? "" : ` (as of ${timeText(stays.at)})`;
  return [...wrapped(`stays${since}: ${stay.why}`, 2), ...wrapped(`what would free it: ${stay.remedy}`, 2)];
}

function podLines({ namespace, name }: Subject, { waits, nodeClaims, nominations, moves }: PodStory): readonly string[] {
  // Of a node without a NodeClaim there is no story below.
  const others = nominations.filter(({ nodeClaim }) => nodeClaim === "");
  const places = [...nodeClaims.map((claim) => `nodeclaim/${claim}`), ...new Set(others.map(titleOf))];
  const planned = places.length > 0 ? [`planned for ${places.join(", then ")}`] : waits.length > 0 ? ["no node was planned for it"] : [];
  const told = [...waits, ...moves, ...others].toSorted((a, b) => a.at - b.at);
  return [[...wrapped(`pod/${namespace}/${name}`), ...planned.flatMap((text) => wrapped(text, 2)), ...told.flatMap(dated)].join("\n")];
}

interface Known {
  readonly pod: PodStory | undefined;
  readonly stays: Stays | undefined;
}

function asJson(subject: Subject, stories: readonly ClaimStory[], { pod, stays }: Known, { cluster, now }: HistorySource) {
  return {
    ...{ cluster, now: new Date(now).toISOString(), kind: subject.kind, ...(subject.namespace !== "" && { namespace: subject.namespace }) },
    name: subject.name,
    ...(pod && { waits: pod.waits.map(told), moves: pod.moves.map(told), nominations: pod.nominations.map(told) }),
    nodeClaims: stories.map(({ record, entries, ...facts }) => ({
      ...facts,
      state: record === undefined ? "gone" : record.terminating ? "terminating" : facts.machine ? "running" : "launching",
      ...(record && !record.terminating && { stays: stayOf(facts.nodeClaim, stays) }),
      entries: entries.map(told),
    })),
  };
}

/** An entry with its time as text, its subject and its sentence: the form of all JSON answers. */
export function told(entry: HistoryEntry) {
  return { time: new Date(entry.at).toISOString(), subject: titleOf(entry), sentence: sentenceOf(entry), ...entry };
}
