// `cli why`, `cli history` and `cli report`: what was decided in a cluster, why, and what its machines cost.
// In: the history in a stack's table, or in a file that the lab kept. Out: text, Markdown, CSV or JSON. They reach no
// cluster and write nothing.

import { defineCommand } from "#terminal/command.ts";
import { HISTORY_SOURCE, JSON_FLAG, since } from "./options.ts";
import { momentOf } from "./time.ts";

const POOL = { type: "text", value: "NAME", description: "only what is about this NodePool" } as const;
const UNTIL = { type: "text", value: "TIME", description: "up to then (now)" } as const;

export const whyCommand = defineCommand({
  name: "why",
  summary: "Why a node, a NodeClaim or a pod is, or was, what and where it is, also when it is gone; reaches no cluster",
  positionals: {
    name: "KIND/NAME",
    description: "node/NAME, nodeclaim/NAME or pod/NAMESPACE/NAME",
    isRequired: true,
    isList: false,
  },
  options: { ...HISTORY_SOURCE, since: since("30d"), json: JSON_FLAG },
  run: async ({ values, positionals: [word = ""] }) => {
    const [{ subjectFrom, why }, { withSource }] = await Promise.all([import("./why.ts"), import("./source.ts")]);
    const subject = subjectFrom(word);
    const answer = await withSource(values, (source) =>
      why(subject, source, { since: momentOf(values.since ?? "30d", source.now, "--since"), json: values.json }),
    );
    return { output: answer };
  },
});

export const historyCommand = defineCommand({
  name: "history",
  summary: "What was decided in a cluster: nodes that came and went, failures, pods that waited; reaches no cluster",
  options: { ...HISTORY_SOURCE, since: since("1d"), until: UNTIL, pool: POOL, json: JSON_FLAG },
  run: async ({ values }) => {
    const [{ listHistory }, { withSource }] = await Promise.all([import("./list.ts"), import("./source.ts")]);
    const answer = await withSource(values, (source) => listHistory(source, { ...rangeOf(values, source.now, "1d"), json: values.json }));
    return { output: answer };
  },
});

export const reportCommand = defineCommand({
  name: "report",
  summary: "What the nodes of a cluster cost by NodePool and day, what was saved, and why nodes ended; reaches no cluster",
  options: {
    ...HISTORY_SOURCE,
    since: since("30d"),
    until: UNTIL,
    pool: POOL,
    format: { type: "text", value: "FORMAT", description: "markdown, csv (a line for each day, NodePool and capacity type) or json" },
  },
  run: async ({ values }) => {
    const [{ formatOf, report }, { withSource }] = await Promise.all([import("./report.ts"), import("./source.ts")]);
    const format = formatOf(values.format);
    return { output: await withSource(values, (source) => report(source, { ...rangeOf(values, source.now, "30d"), format })) };
  },
});

interface Range {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly pool?: string | undefined;
}

function rangeOf({ since: from, until, pool }: Range, now: number, fallback: string) {
  return {
    since: momentOf(from ?? fallback, now, "--since"),
    until: until === undefined ? now + 1 : momentOf(until, now, "--until"),
    nodePool: pool,
  };
}
