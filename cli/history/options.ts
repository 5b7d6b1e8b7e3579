import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { text } from "#terminal/command-line.ts";

/** Whose history a command reads: a stack's table, or what the lab kept in a file. */
export const HISTORY_SOURCE = {
  cluster: text("NAME", "name of the cluster; not needed with --from"),
  stack: text("NAME", `CloudFormation stack whose table is read (${DEFAULT_STACK})`),
  table: text("NAME", "that table itself, when the stack may not be read"),
  region: text("REGION", "AWS region; AWS_REGION when absent"),
  from: text("FILE", "what the lab kept with --history FILE, in place of a table"),
} as const;

/** How far back a command looks. */
export const since = (fallback: string) =>
  text("TIME", `from then on: a span as in 90m, 12h, 2d, or a time as in 2026-11-25 or 2026-11-25T18:00Z (${fallback})`);

export const JSON_FLAG = { type: "flag", description: "the same as JSON: docs/history.md" } as const;
