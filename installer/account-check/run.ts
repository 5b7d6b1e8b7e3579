import { VERSION } from "#settings/version.ts";
import { labelled } from "#terminal/columns.ts";
import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { clean } from "./clean.ts";
import { missingRight } from "./missing-right.ts";
import { planLines, planOf } from "./plan.ts";
import type { CheckPorts } from "./ports.ts";
import type { Finding, Scene, Step } from "./step.ts";

interface CheckOptions {
  readonly region: string;
  /** Where machines are launched; none are without it. */
  readonly subnet: string | undefined;
  /** Does not ask. */
  readonly yes: boolean;
  readonly dryRun: boolean;
}

/** How a step ended. "skipped" and "failed" say nothing about AWS. */
type Outcome = "as expected" | "differs" | "undecided" | "skipped" | "failed";

interface StepReport extends Pick<Step, "name" | "question" | "expected" | "place"> {
  readonly outcome: Outcome;
  readonly seen: string;
  readonly figures: Readonly<Record<string, number | string>>;
}

/** What account-check writes as JSON. */
export interface CheckReport {
  readonly version: string;
  readonly run: string;
  readonly region: string;
  readonly account: string;
  /** RFC 3339. */
  readonly began: string;
  readonly ended: string;
  readonly mostUsd: number;
  readonly steps: readonly StepReport[];
  /** What could not be removed. */
  readonly left: readonly string[];
}

/**
 * Asks an account what only AWS answers, and removes what it made for that. `report` is undefined where nothing was
 * done. Throws InputError where the person has not agreed.
 */
export async function accountCheck(
  { region, subnet, yes, dryRun }: CheckOptions,
  ports: CheckPorts,
  print: Print,
): Promise<{ readonly answer: Answer; readonly report?: CheckReport }> {
  const plan = planOf(subnet);
  const { account, arn } = dryRun ? { account: "", arn: "" } : await knownCaller(ports);
  for (const line of planLines(plan, dryRun ? region : `account ${account}, ${region}`)) print(line);
  if (dryRun) return { answer: { output: "nothing was asked and nothing made: --dry-run\n" } };
  if (!yes) await agree(ports);
  const began = new Date(ports.now()).toISOString();
  const runId = ports.newId().slice(0, 8);
  const scene: Scene = { ...ports, runId, callerArn: arn, subnet, made: {} };
  const steps: StepReport[] = [];
  for (const step of plan.steps) {
    const ended = await runStep(step, scene);
    steps.push(ended);
    print(`${ended.outcome.padEnd(11)} ${step.name}: ${ended.seen}`);
  }
  for (const step of plan.leftOut) steps.push(reported(step, "skipped", { isExpected: undefined, seen: "No --subnet was given." }));
  const { left } = await clean(runId, ports);
  const report: CheckReport = {
    ...{ version: VERSION, run: runId, region, account, began, ended: new Date(ports.now()).toISOString(), mostUsd: plan.dollars },
    ...{ steps, left },
  };
  return { answer: answerOf(report), report };
}

/** Throws InputError where AWS does not accept the caller. */
async function knownCaller({ cloud }: Pick<CheckPorts, "cloud">): ReturnType<CheckPorts["cloud"]["caller"]> {
  try {
    return await cloud.caller();
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
    throw new InputError(`AWS does not accept your credentials (${why}); sign in with aws sso login, or set AWS_PROFILE`);
  }
}

async function agree({ confirm }: Pick<CheckPorts, "confirm">): Promise<void> {
  const agreed = await confirm("Make and remove these things in this account?");
  if (agreed === undefined) throw new InputError("there is no terminal to ask at; give --yes, or --dry-run for the plan alone");
  if (!agreed) throw new InputError("nothing was made: you did not agree");
}

const OUTCOMES = { true: "as expected", false: "differs", undefined: "undecided" } as const;

async function runStep(step: Step, scene: Scene): Promise<StepReport> {
  const { needs } = step;
  const say = (outcome: Outcome, seen: string): StepReport => reported(step, outcome, { isExpected: undefined, seen });
  if (needs !== undefined && scene.made[needs] === undefined)
    return say("skipped", `No ${needs === "machine" ? "machine" : "stack"} was made before it.`);
  try {
    const finding = await step.run(scene);
    return reported(step, OUTCOMES[`${finding.isExpected}`], finding);
  } catch (error) {
    const right = missingRight(error);
    if (right !== undefined) return say("skipped", `You have no right ${right}; --policy prints those that are needed.`);
    return say("failed", error instanceof Error ? error.message : String(error));
  }
}

const reported = ({ name, question, expected, place }: Step, outcome: Outcome, { seen, figures = {} }: Finding): StepReport => ({
  ...{ name, question, expected, place, outcome, seen, figures },
});

function answerOf({ steps, left, run }: CheckReport): Answer {
  const table = steps.flatMap(({ name, outcome, expected, seen, place }) => [
    `${outcome.padEnd(11)} ${name}`,
    ...labelled("wants", expected, 2),
    ...labelled("seen", seen, 2),
    ...labelled("place", `${place.file}, "${place.text}"`, 2),
  ]);
  const end =
    left.length === 0
      ? "all that was made is removed"
      : `not removed: ${left.join("; ")}; run karpenter-serverless account-check --clean --run ${run}`;
  const isUsable = left.length === 0 && steps.every(({ outcome }) => outcome === "as expected" || outcome === "undecided");
  return { output: `${[...table, end].join("\n")}\n`, isUsable };
}

/** Removes what runs have left, of one run or of all. */
export async function cleanAccount(runId: string | undefined, ports: Pick<CheckPorts, "cloud" | "now" | "sleep">): Promise<Answer> {
  await knownCaller(ports);
  const { removed, left } = await clean(runId, ports);
  const said = removed.length === 0 ? "nothing of account-check is there" : `removed: ${removed.join(", ")}`;
  return { output: `${[said, ...(left.length > 0 ? [`not removed: ${left.join("; ")}`] : [])].join("\n")}\n`, isUsable: left.length === 0 };
}
