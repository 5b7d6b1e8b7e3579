import { VERSION } from "#settings/version.ts";
import { isOurs, namesOf, type StackState } from "../account/stack-state.ts";
import type { Observed } from "./facts.ts";
import type { ServedFacts } from "./served-line.ts";
import { fault, note, of, ok, type Verdict } from "./verdict.ts";

/** What is known of the stack that serves a cluster, or should. */
interface StackFacts {
  readonly cluster: string;
  readonly stackName: string;
  readonly stack: Observed<StackState | undefined>;
  readonly served: Observed<ServedFacts>;
  /** Known without the records of clusters: the cluster was added to the stack. */
  readonly isAdded?: boolean;
}

/** Statuses in which the functions run. */
const RUNS = /^(UPDATE_ROLLBACK_|UPDATE_|CREATE_)(COMPLETE|IN_PROGRESS|COMPLETE_CLEANUP_IN_PROGRESS)$/;
/** Statuses in which nothing changes any more. */
const SETTLED = /^(UPDATE_ROLLBACK_|UPDATE_|CREATE_)COMPLETE$/;

/** Whether the stack is there, is ours, serves the cluster and runs, and which version it has. */
export function stack({ cluster, stackName, stack: found, served, isAdded }: StackFacts, allowed = RUNS, more = ""): Verdict {
  const install = `karpenter-serverless install --cluster ${cluster} ${more}`.trimEnd();
  return of(found, (state) => {
    if (state === undefined) return fault(`there is no stack ${stackName}; run ${install}, or name the stack with --stack`);
    if (!isOurs(state)) return fault(`${stackName} is another product's stack; name ours with --stack`);
    const added = "value" in served ? served.value.serving.records.map(({ name }) => name) : [];
    const names = "value" in served ? served.value.serving.names : namesOf(state, "Clusters");
    if (isAdded !== true && names.length > 0 && ![...names, ...added].includes(cluster))
      return fault(
        `${stackName} serves ${names.join(", ")} and not ${cluster}; run ${install}, which adds it, or name the stack that does with --stack`,
      );
    if (!allowed.test(state.status))
      return fault(`${stackName} is ${state.status}; see its events in CloudFormation, then run ${install} again`);
    return version(state, stackName, install);
  });
}

/** A stack of which records are about to be written must be settled and have its table. */
export function settledStack(facts: StackFacts, more: string): Verdict {
  const verdict = stack(facts, SETTLED, more);
  const found = "value" in facts.stack ? facts.stack.value : undefined;
  return verdict.level === "fault" || found?.outputs["TableName"] !== undefined
    ? verdict
    : fault(`stack ${facts.stackName} has no output TableName; run karpenter-serverless install --cluster ${facts.cluster} again`);
}

function version({ status, outputs }: StackState, stackName: string, install: string): Verdict {
  const has = outputs["Version"];
  if (has === undefined) return note(`${stackName} does not say its version, this program has ${VERSION}`);
  const said = `${stackName} ${has} (${status})`;
  const order = compared(has, VERSION);
  if (order === 0) return ok(said);
  return order < 0
    ? note(`${said} is older than this program (${VERSION}); ${install} upgrades it`)
    : note(`${said} is newer than this program (${VERSION}); use the program of that version`);
}

/** Negative where `a` is the older version. A pre-release counts as its release. */
export function compared(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split("-")[0]?.split(".").map(Number) ?? []);
  const at = [0, 1, 2].find((i) => (left?.[i] ?? 0) !== (right?.[i] ?? 0));
  return at === undefined ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0);
}
