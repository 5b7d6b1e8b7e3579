import { InputError } from "../input-error.ts";
import type { StackEvent, Stacks } from "./ports.ts";
import { isBegin, type StackState } from "./stack-state.ts";

export interface Deployment {
  readonly name: string;
  readonly templateUrl: string;
  /** Throws where a stack of this name must not be touched. */
  readonly refuse: (stack: StackState | undefined) => void;
  readonly print: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

const POLL_MS = 3_000;

/** A creation or an update that CloudFormation has given up, with the events that say why. */
export class StackFailed extends InputError {
  readonly failed: readonly StackEvent[];

  constructor(sentence: string, failed: readonly StackEvent[]) {
    super(sentence);
    this.failed = failed;
  }
}

/** A stack in one of these was never whole, or is half removed: CloudFormation only lets it be removed. */
const MUST_GO = new Set(["CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED", "REVIEW_IN_PROGRESS"]);
const DONE = new Set(["CREATE_COMPLETE", "UPDATE_COMPLETE"]);

/**
 * Brings a stack to the template, from whatever state an earlier attempt has left it in: waits for what is under way,
 * removes a creation that failed, then creates or updates. Returns its outputs. Throws InputError with CloudFormation's
 * reasons when it ends otherwise.
 */
export async function deployStack(stacks: Stacks, deployment: Deployment): Promise<StackState["outputs"]> {
  const { name, templateUrl, refuse, print } = deployment;
  let before = await settled(stacks, deployment);
  refuse(before);
  if (before !== undefined && MUST_GO.has(before.status)) {
    print(`removing what a creation that failed has left of stack ${name} (${before.status})`);
    await stacks.remove(name);
    before = await settled(stacks, deployment);
    if (before !== undefined)
      throw new InputError(
        `stack ${name} cannot be removed (${before.status}): ${await reasons(stacks, name)}; remove what is in the way, then run this again`,
      );
  }
  if (before?.status === "UPDATE_ROLLBACK_FAILED")
    throw new InputError(
      `stack ${name} is UPDATE_ROLLBACK_FAILED: ${await reasons(stacks, name)}; mend that, run aws cloudformation continue-update-rollback --stack-name ${name}, then this again`,
    );
  const seen = before === undefined ? [] : await stacks.events(name);
  print(before === undefined ? `creating stack ${name}` : `updating stack ${name}`);
  if (before === undefined) await stacks.create(name, templateUrl);
  else if (!(await stacks.update(name, templateUrl))) {
    print("  nothing is to be updated");
    return before.outputs;
  }
  const after = await settled(stacks, deployment, new Set(seen.map(({ id }) => id)));
  if (after !== undefined && DONE.has(after.status)) return after.outputs;
  // A failed update leaves the stack as it was, and the next attempt removes a failed creation.
  const failed = await failures(stacks, name);
  throw new StackFailed(`stack ${name} ended as ${after?.status ?? "removed"}: ${wordsOf(failed)}; mend that, then run this again`, failed);
}

/** The stack when nothing is under way; prints what happens to its resources meanwhile, except `seen`. */
export async function settled(
  stacks: Stacks,
  { name, print, sleep }: Pick<Deployment, "name" | "print" | "sleep">,
  seen?: Set<string>,
): Promise<StackState | undefined> {
  for (let isFirst = true; ; isFirst = false) {
    const state = await stacks.describe(name);
    if (seen !== undefined && state !== undefined) await tellNews(stacks, name, print, seen);
    if (state === undefined || state.status === "REVIEW_IN_PROGRESS" || !state.status.endsWith("_IN_PROGRESS")) return state;
    if (isFirst && seen === undefined) print(`stack ${name} is ${state.status}: waiting for its end`);
    await sleep(POLL_MS);
  }
}

async function tellNews(stacks: Stacks, name: string, print: Deployment["print"], seen: Set<string>): Promise<void> {
  for (const { id, resource, status, reason } of [...(await stacks.events(name))].reverse()) {
    if (seen.has(id)) continue;
    seen.add(id);
    if (/_(COMPLETE|FAILED)$/.test(status))
      print(`  ${status} ${resource}${status.endsWith("_FAILED") && reason !== "" ? `: ${reason}` : ""}`);
  }
}

/** Why resources failed in the last attempt; what was only cancelled for that is left out. */
export const reasons = async (stacks: Stacks, name: string): Promise<string> => wordsOf(await failures(stacks, name));

async function failures(stacks: Stacks, name: string): Promise<readonly StackEvent[]> {
  const events = await stacks.events(name).catch(() => []);
  const begun = events.findIndex((event) => isBegin(event, name));
  const failed = events.slice(0, begun < 0 ? events.length : begun).filter(({ status }) => status.endsWith("_FAILED"));
  return failed.filter(({ reason }) => !/cancelled/i.test(reason));
}

function wordsOf(own: readonly StackEvent[]): string {
  return own.map(({ resource, reason }) => `${resource}: ${reason.replace(/\.$/, "")}`).join("; ") || "no event says why";
}
