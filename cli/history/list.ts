import { poolsOf, sentenceOf, titleOf } from "#core/insight/history/sentence.ts";
import { wrapped } from "#terminal/columns.ts";
import type { HistorySource } from "./source.ts";
import { timeText } from "./time.ts";
import { told } from "./why.ts";

export interface ListOptions {
  /** ms. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
  readonly nodePool?: string | undefined;
  readonly json: boolean;
}

/** What was decided in a range of time, the earliest first. */
export async function listHistory({ cluster, store, now }: HistorySource, options: ListOptions): Promise<string> {
  const { since, nodePool, json } = options;
  const until = Math.min(options.until, now + 1);
  const all = await store.history(cluster, { since, until });
  const entries = nodePool === undefined ? all : all.filter((entry) => poolsOf(entry).includes(nodePool));
  if (json) {
    const range = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    return `${JSON.stringify({ cluster, ...range, entries: entries.map(told) }, undefined, 2)}\n`;
  }
  const of = nodePool === undefined ? "" : ` of NodePool ${nodePool}`;
  if (entries.length === 0) return `nothing was decided in cluster ${cluster}${of} from ${timeText(since)} to ${timeText(until)}\n`;
  const lines = entries.flatMap((entry) => [`${timeText(entry.at)}  ${titleOf(entry)}`, ...wrapped(sentenceOf(entry), 4)]);
  return `${lines.join("\n")}\n`;
}
