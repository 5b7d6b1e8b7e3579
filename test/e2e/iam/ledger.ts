import { keysOf } from "./conditions.ts";
import { type Decision, evaluate, type Grant, grantsOf, type Question, type Statement } from "./policy.ts";

/** A question that the policies of a role deny. */
export interface Refusal {
  readonly function: string;
  readonly question: Question;
  readonly because: string;
}

/** A grant of a function's role, and how many calls it allowed. */
export interface Use extends Grant {
  readonly function: string;
  readonly times: number;
  /** The condition keys of its statement. */
  readonly keys: readonly string[];
}

/** Authorizes the calls of functions by the policies of their roles, and counts the uses of each grant. */
export interface Ledger {
  /**
   * Registers the functions with their access keys and policies. Other keys belong to the harness and to AWS itself.
   */
  know(functions: readonly KnownFunction[]): void;
  /** The function behind an access key. */
  nameOf(accessKey: string): string | undefined;
  /** The first refusal of a call; undefined when all questions are allowed, or when the key belongs to no function. */
  judge(accessKey: string, questions: readonly Question[]): Refusal | undefined;
  /** Distinct refusals in order of time. */
  refusals(): readonly Refusal[];
  /** Every grant of every function, used or not. */
  uses(): readonly Use[];
}

export interface KnownFunction {
  readonly name: string;
  readonly accessKey: string;
  readonly statements: readonly Statement[];
}

export function ledger(): Ledger {
  const byKey = new Map<string, KnownFunction>();
  const counts = new Map<string, number>();
  const refused = new Map<string, Refusal>();
  // A sweep repeats the same questions, so decisions are cached as long as the policies do not change.
  const decided = new Map<string, Decision>();

  const decide = ({ name, statements }: KnownFunction, question: Question): Decision => {
    const key = JSON.stringify([name, question]);
    const decision = decided.get(key) ?? evaluate(statements, question);
    decided.set(key, decision);
    return decision;
  };

  return {
    know(functions) {
      for (const known of functions) byKey.set(known.accessKey, known);
    },
    nameOf: (accessKey) => byKey.get(accessKey)?.name,
    judge(accessKey, questions) {
      const caller = byKey.get(accessKey);
      if (caller === undefined) return undefined;
      let first: Refusal | undefined;
      for (const question of questions) {
        const decision = decide(caller, question);
        if (decision.allowed) {
          for (const grant of decision.by) {
            const key = grantKey(caller.name, grant);
            counts.set(key, (counts.get(key) ?? 0) + 1);
          }
        } else {
          const refusal: Refusal = { function: caller.name, question, because: decision.because };
          refused.set(`${caller.name} ${question.action} ${question.resource} ${decision.because}`, refusal);
          first ??= refusal;
        }
      }
      return first;
    },
    refusals: () => [...refused.values()],
    uses: () =>
      [...byKey.values()].flatMap(({ name, statements }) =>
        statements.flatMap((statement) =>
          grantsOf(statement).map((grant) => ({
            ...{ function: name, ...grant, times: counts.get(grantKey(name, grant)) ?? 0, keys: keysOf(statement.Condition) },
          })),
        ),
      ),
  };
}

const grantKey = (name: string, { sid, action, resource }: Grant): string => `${name} ${sid} ${action} ${resource}`;

/** A refusal in AWS's words, with the action and the resource that would have to be allowed. */
export function wordRefusal({ function: name, question, because }: Refusal): string {
  const context = Object.entries(question.context).map(([key, value]) => `${key}=${String(value)}`);
  return `${name} is not authorized to perform: ${question.action} on resource: ${question.resource} because ${because} (${context.join(", ") || "no condition keys"})`;
}
