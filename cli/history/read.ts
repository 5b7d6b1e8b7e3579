import { machineOf } from "#core/history/claim-entries.ts";
import { inOrder } from "#core/history/keys.ts";
import { readStays, type Stays, staysDocument } from "#core/history/stays.ts";
import { waitedWith } from "#core/history/waiting.ts";
import type { Disrupted, HistoryEntry, HistoryMachine, PodsNominated, PodsWaited } from "#core/model/history-entry.ts";
import type { HistoryRange } from "#core/model/history-range.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { HistorySource } from "./source.ts";

/** All that is known of one NodeClaim, whether it is still there or not. */
export interface ClaimStory {
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly node?: string;
  readonly machine?: HistoryMachine;
  /** ms. */
  readonly launchedAt?: number;
  /** ms; absent while it is there. */
  readonly goneAt?: number;
  /** Absent for a NodeClaim that is gone. */
  readonly record?: NodeClaimRecord;
  /** In the order of time, those of the commands that made or removed it included. */
  readonly entries: readonly HistoryEntry[];
}

type Range = Pick<HistoryRange, "since" | "until">;
type Source = Pick<HistorySource, "cluster"> & { readonly store: Pick<HistorySource["store"], "history"> };

/** The story of a NodeClaim; undefined when nothing is known of it. */
export async function claimStory(
  { cluster, store }: Source,
  name: string,
  range: Range,
  records: readonly NodeClaimRecord[],
): Promise<ClaimStory | undefined> {
  const about = (subject: string): Promise<readonly HistoryEntry[]> => store.history(cluster, { ...range, about: subject });
  const own = await about(`nodeclaim/${name}`);
  const record = records.find((one) => one.name === name);
  if (own.length === 0 && record === undefined) return undefined;
  const nodes = new Set(
    [record?.nodeName, ...own.map((entry) => ("node" in entry ? entry.node : undefined))].filter((node) => node !== undefined),
  );
  const commands = new Set(
    [record?.commandId, record?.terminating?.commandId, ...own.map((entry) => ("commandId" in entry ? entry.commandId : undefined))].filter(
      (id) => id !== undefined,
    ),
  );
  const joined = (await Promise.all([...nodes].map((node) => about(`node/${node}`)))).flat();
  const decided = (await Promise.all([...commands].map((id) => about(`command/${id}`)))).flat();
  const entries = [...own, ...joined.filter((entry) => "nodeClaim" in entry && entry.nodeClaim === name), ...decided];
  return { ...factsOf(name, own, record), entries: inOrder(entries), ...(record && { record }) };
}

function factsOf(name: string, own: readonly HistoryEntry[], record: NodeClaimRecord | undefined): Omit<ClaimStory, "entries" | "record"> {
  const last = own.findLast((entry) => entry.type === "Removed" || entry.type === "Collected");
  const launched = own.findLast((entry) => entry.type === "Launched");
  const machine = (record && machineOf(record)) ?? last?.machine ?? launched?.machine;
  const node = record?.nodeName ?? own.map((entry) => ("node" in entry ? entry.node : undefined)).findLast((one) => one !== undefined);
  const launchedAt = record?.launchedAt ?? last?.launchedAt ?? launched?.at;
  const pools = own.map((entry) => ("nodePool" in entry ? entry.nodePool : "")).filter((pool) => pool !== "");
  return {
    nodeClaim: name,
    nodePool: record?.nodePool ?? pools[0] ?? "",
    ...(node !== undefined && { node }),
    ...(machine && { machine }),
    ...(launchedAt !== undefined && { launchedAt }),
    ...(record === undefined && last !== undefined && { goneAt: last.at }),
  };
}

/** Why nodes stay, as the last pass of disruption that saw a change wrote it. */
export async function readNodeStays({ cluster, store }: Pick<HistorySource, "cluster" | "store">): Promise<Stays | undefined> {
  const document = await store.getDocument(staysDocument(cluster)).catch(() => undefined);
  return document && readStays(new TextDecoder().decode(document.bytes));
}

/** Names of the NodeClaims that the node of this name has belonged to, the latest last. */
export async function claimsOfNode(
  { cluster, store }: Source,
  node: string,
  range: Range,
  records: readonly NodeClaimRecord[],
): Promise<readonly string[]> {
  const joined = await store.history(cluster, { ...range, about: `node/${node}` });
  const names = joined.flatMap((entry) => ("nodeClaim" in entry && entry.nodeClaim !== "" ? [entry.nodeClaim] : []));
  const living = records.flatMap(({ name, nodeName }) => (nodeName === node ? [name] : []));
  return [...new Set([...names, ...living])];
}

/** What is known of one pod. */
export interface PodStory {
  readonly waits: readonly PodsWaited[];
  /** NodeClaims that it was planned for, when they were made or while they were on their way; in the order of time. */
  readonly nodeClaims: readonly string[];
  /** Plans that placed it on a machine that was on its way, or on a node that ran. */
  readonly nominations: readonly PodsNominated[];
  /** Commands that moved it, or meant to, to a node that ran already. */
  readonly moves: readonly Disrupted[];
}

export async function podStory(
  { cluster, store }: Source,
  pod: { readonly namespace: string; readonly name: string },
  range: Range,
): Promise<PodStory> {
  const key = `${pod.namespace}/${pod.name}`;
  const entries = await store.history(cluster, range);
  const planned = entries
    .filter((entry) => entry.type === "Planned" || entry.type === "PodsNominated")
    .filter(({ pods }) => pods.includes(key));
  return {
    waits: entries.filter((entry) => entry.type === "PodsWaited").filter((entry) => waitedWith(entry, pod)),
    nodeClaims: [...new Set(planned.map(({ nodeClaim }) => nodeClaim).filter((name) => name !== ""))],
    nominations: planned.filter((entry) => entry.type === "PodsNominated"),
    moves: entries.filter((entry) => entry.type === "Disrupted").filter(({ moves }) => moves.some(([moved]) => moved === key)),
  };
}
