import { missingRight } from "./missing-right.ts";
import { prefixOf, tagOf } from "./names.ts";
import type { CheckPorts } from "./ports.ts";

type CleanPorts = Pick<CheckPorts, "cloud" | "now" | "sleep">;

/** How late EC2 may list a machine: so long is looked for what a run that was killed has launched. */
const LISTED_LATE_MS = 60_000;
const LOOK_MS = 5_000;
/** Deleting a stack with functions takes a minute or two. */
const MAX_CLEAN_MS = 10 * 60_000;

/** Rights that cleaning uses. */
export const CLEAN_CALLS: readonly string[] = [
  ...["cloudformation:DeleteStack", "cloudformation:DescribeStacks", "dynamodb:DeleteTable", "dynamodb:ListTables"],
  ...["ec2:DeleteLaunchTemplate", "ec2:DescribeInstances", "ec2:DescribeLaunchTemplates", "ec2:TerminateInstances"],
];

/**
 * Removes what one run has made, or all runs, by tags and names; may be called again at any time. Returns what was
 * removed, and what is still there after ten minutes or may not be removed.
 */
export async function clean(
  runId: string | undefined,
  ports: CleanPorts,
): Promise<{ readonly removed: readonly string[]; readonly left: readonly string[] }> {
  const { now, sleep } = ports;
  const removed = new Set<string>();
  const began = now();
  for (;;) {
    const { there, refused } = await removeOnce(runId, ports, removed);
    const waited = now() - began;
    // A refusal for another reason passes, as that of a stack which CloudFormation is still making.
    const isOver = there.length === 0 && refused.every(({ lasts }) => lasts);
    if (waited >= MAX_CLEAN_MS || (isOver && waited >= LISTED_LATE_MS))
      return { removed: [...removed], left: [...there, ...refused.map(({ why }) => why)] };
    await sleep(LOOK_MS);
  }
}

/** Orders the end of all that is found now. `there` is what is ending, `refused` why something could not be ended. */
async function removeOnce(runId: string | undefined, { cloud }: CleanPorts, removed: Set<string>) {
  const there: string[] = [];
  const refused: { readonly why: string; readonly lasts: boolean }[] = [];
  const each = async (kind: string, find: () => Promise<readonly string[]>, remove: (name: string) => Promise<void>): Promise<void> => {
    try {
      for (const name of await find()) {
        await remove(name);
        there.push(`${kind} ${name}`);
        removed.add(`${kind} ${name}`);
      }
    } catch (error) {
      const why = `${kind}s: ${error instanceof Error ? error.message : String(error)}`;
      refused.push({ why, lasts: missingRight(error) !== undefined });
    }
  };
  const prefix = prefixOf(runId);
  await each(
    "machine",
    () => cloud.instances(tagOf(runId)),
    (id) => cloud.terminate([id]),
  );
  await each("launch template", () => cloud.templates(tagOf(runId)), cloud.removeTemplate);
  await each("stack", () => cloud.stacks(prefix), cloud.removeStack);
  // A table outlives a stack only where RetainExceptOnCreate does not do what is expected of it. That of a stack which
  // is being rolled back is CloudFormation's to remove.
  if (!there.some((one) => one.startsWith("stack "))) await each("table", () => cloud.tables(prefix), cloud.removeTable);
  return { there, refused };
}
