import { type Condition, holds, type RequestContext } from "./conditions.ts";
import { matchesPattern } from "./pattern.ts";

/**
 * A statement of an identity policy. `Resource` has whole ARNs: template-policies.ts has resolved CloudFormation's
 * functions.
 */
export interface Statement {
  readonly Sid?: string;
  readonly Effect: "Allow" | "Deny";
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: Condition;
}

/** One authorization check of a call: an action on one resource with its request context. A call may need several. */
export interface Question {
  /** `ec2:CreateFleet`. */
  readonly action: string;
  readonly resource: string;
  readonly context: RequestContext;
}

/** The smallest unit of a permission: one action and one resource pattern of one statement. */
export interface Grant {
  readonly sid: string;
  readonly action: string;
  readonly resource: string;
}

export type Decision = { readonly allowed: true; readonly by: readonly Grant[] } | { readonly allowed: false; readonly because: string };

/**
 * The decision of IAM within one account, where only the caller's policies count: denied by default, allowed by any
 * Allow, denied by any Deny. `by` lists the grants that allow it; policies that overlap give several.
 */
export function evaluate(statements: readonly Statement[], question: Question): Decision {
  const meant = statements.filter((statement) => matchingGrants(statement, question).length > 0);
  const applies = meant.filter(({ Condition }) => holds(Condition, question.context));
  const denied = applies.find(({ Effect }) => Effect === "Deny");
  if (denied) return { allowed: false, because: `${denied.Sid ?? "a statement"} denies it` };
  const allowing = applies.filter(({ Effect }) => Effect === "Allow");
  if (allowing.length > 0) return { allowed: true, by: allowing.flatMap((statement) => matchingGrants(statement, question)) };
  const near = meant.flatMap(({ Effect, Sid = "a statement" }) => (Effect === "Allow" ? Sid : []));
  return { allowed: false, because: near.length === 0 ? "no statement allows it" : `the conditions of ${near.join(" and ")} do not hold` };
}

/** The grants of a statement. */
export function grantsOf({ Effect, Sid = "", Action, Resource }: Statement): readonly Grant[] {
  if (Effect === "Deny") return [];
  return Action.flatMap((action) => Resource.map((resource) => ({ sid: Sid, action, resource })));
}

function matchingGrants({ Sid = "", Action, Resource }: Statement, question: Question): readonly Grant[] {
  const actions = Action.filter((pattern) => matchesPattern(pattern.toLowerCase(), question.action.toLowerCase()));
  const resources = Resource.filter((pattern) => matchesPattern(pattern, question.resource));
  return actions.flatMap((action) => resources.map((resource) => ({ sid: Sid, action, resource })));
}
