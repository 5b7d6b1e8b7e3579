import { InputError } from "#terminal/input-error.ts";
import type { StackEvent, Stacks } from "../account/ports.ts";
import { isBegin, type StackState } from "../account/stack-state.ts";
import { fixOf } from "./fixes.ts";

interface Deployment {
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
export async function deployStack(stacks: Stacks, deployment: Deployment, retries = 0): Promise<StackState["outputs"]> {
  const { name, templateUrl, refuse, print } = deployment;
  let before = await settled(stacks, deployment);
  refuse(before);
  if (before !== undefined && MUST_GO.has(before.status)) {
    print(`removing what a creation that failed has left of stack ${name} (${before.status})`);
    before = await removed(stacks, deployment);
    if (before !== undefined)
      throw new InputError(
        `stack ${name} cannot be removed (${before.status}): ${await reasons(stacks, name)}; remove what is in the way, then run the command again`,
      );
  }
  if (before?.status === "UPDATE_ROLLBACK_FAILED")
    throw new InputError(
      `stack ${name} is UPDATE_ROLLBACK_FAILED: ${await reasons(stacks, name)}; fix that, run aws cloudformation continue-update-rollback --stack-name ${name}, then this again`,
    );
  const seen = before === undefined ? [] : await stacks.events(name);
  print(before === undefined ? `creating stack ${name}` : `updating stack ${name}`);
  if (before === undefined) {
    const isThere = await stacks.create(name, templateUrl).then(() => false, whenThere);
    // A creation that was ordered a moment ago, as by a run that was killed, is not seen at once.
    if (isThere && retries < MAX_STALE_LOOKS) {
      await deployment.sleep(POLL_MS);
      return deployStack(stacks, deployment, retries + 1);
    }
  } else if (!(await stacks.update(name, templateUrl).catch(whenMissing))) {
    print("  nothing is to be updated");
    return before.outputs;
  }
  const after = await settled(stacks, deployment, new Set(seen.map(({ id }) => id)));
  if (after !== undefined && DONE.has(after.status)) return after.outputs;
  // A failed update leaves the stack as it was, and the next attempt removes a failed creation.
  const failed = await failures(stacks, name);
  const why = wordsOf(failed);
  throw new StackFailed(`stack ${name} ended as ${after?.status ?? "removed"}: ${why}; ${fixOf(why)}, then run the command again`, failed);
}

/** A region that does not have a type of resources refuses the whole template. */
function whenMissing(error: unknown): never {
  const sentence = error instanceof Error ? error.message : String(error);
  const types = /Unrecognized resource types: \[(.*)\]/.exec(sentence)?.[1]?.split(/,\s*/);
  if (types === undefined) throw error;
  const failed = types.map((type) => ({ id: type, resource: type, type, status: "CREATE_FAILED", reason: "the region does not have it" }));
  throw new StackFailed(sentence, failed);
}

/** True when a stack of this name exists although none was seen. */
function whenThere(error: unknown): true {
  return error instanceof Error && error.message.includes("already exists") ? true : whenMissing(error);
}

/**
 * For so many looks a stack may seem as it was before an order that CloudFormation has taken, because its answers are
 * eventually consistent.
 */
const MAX_STALE_LOOKS = 10;

/**
 * The stack when nothing is under way; prints what happens to its resources meanwhile, except `seen`. With `seen` an
 * order was given before, whose begin must be among the events.
 */
export async function settled(
  stacks: Stacks,
  { name, print, sleep }: Pick<Deployment, "name" | "print" | "sleep">,
  seen?: Set<string>,
): Promise<StackState | undefined> {
  let hasBegun = seen === undefined;
  for (let looks = 1; ; looks += 1) {
    const state = await stacks.describe(name);
    if (seen !== undefined && state !== undefined) hasBegun = (await tellNews(stacks, name, print, seen)) || hasBegun;
    const isAtRest = state === undefined || state.status === "REVIEW_IN_PROGRESS" || !state.status.endsWith("_IN_PROGRESS");
    if (isAtRest && (hasBegun || looks > MAX_STALE_LOOKS)) return state;
    if (looks === 1 && seen === undefined && state !== undefined) print(`stack ${name} is ${state.status}: waiting for its end`);
    await sleep(POLL_MS);
  }
}

/** Removes a stack at rest and waits for its end; what is left of it when CloudFormation cannot remove it. */
export async function removed(stacks: Stacks, deployment: Pick<Deployment, "name" | "print" | "sleep">): Promise<StackState | undefined> {
  const { name, sleep } = deployment;
  const before = await stacks.describe(name);
  await stacks.remove(name);
  for (let looks = 1; ; looks += 1) {
    const state = await settled(stacks, deployment);
    if (state === undefined || state.status !== before?.status || looks > MAX_STALE_LOOKS) return state;
    await sleep(POLL_MS);
  }
}

/** Prints what is new; whether the begin of an attempt is. */
async function tellNews(stacks: Stacks, name: string, print: Deployment["print"], seen: Set<string>): Promise<boolean> {
  let hasBegun = false;
  for (const { id, resource, status, reason } of [...(await stacks.events(name))].reverse()) {
    if (seen.has(id)) continue;
    seen.add(id);
    hasBegun ||= isBegin({ resource, status }, name);
    if (/_(COMPLETE|FAILED)$/.test(status))
      print(`  ${status} ${resource}${status.endsWith("_FAILED") && reason !== "" ? `: ${reason}` : ""}`);
  }
  return hasBegun;
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
