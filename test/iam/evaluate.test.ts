import { describe, expect, it } from "vitest";
import { evaluate, type Statement } from "../e2e/iam/policy.ts";

const statement = (more: Partial<Statement> = {}): Statement => ({
  ...{ Sid: "One", Effect: "Allow", Action: ["ec2:CreateFleet"], Resource: ["arn:aws:ec2:us-west-2:*:fleet/*"], ...more },
});
const question = (context: Readonly<Record<string, string | readonly string[]>> = {}, more = {}) => ({
  ...{ action: "ec2:CreateFleet", resource: "arn:aws:ec2:us-west-2:111122223333:fleet/*", context, ...more },
});

describe("evaluate", () => {
  it("a call that no statement allows is denied, with the reason", () => {
    expect(evaluate([], question())).toEqual({ allowed: false, because: "no statement allows it" });
  });

  it("the decision names the grant that allows the call", () => {
    const { Action, Resource } = statement();
    expect(evaluate([statement()], question())).toEqual({
      allowed: true,
      by: [{ sid: "One", action: Action[0], resource: Resource[0] }],
    });
  });

  it("a Deny overrides any Allow", () => {
    expect(evaluate([statement(), statement({ Effect: "Deny", Sid: "Two" })], question())).toEqual({
      allowed: false,
      because: "Two denies it",
    });
  });

  it.for([
    { name: "another action", action: "ec2:RunInstances" },
    { name: "another resource", resource: "arn:aws:ec2:us-west-2:111122223333:instance/*" },
    { name: "another region", resource: "arn:aws:ec2:eu-west-1:111122223333:fleet/*" },
  ])("refuses $name", ({ name: _, ...more }) => {
    expect(evaluate([statement()], question({}, more)).allowed).toBe(false);
  });

  it("action names match in any case, resource names only exactly", () => {
    expect(evaluate([statement({ Action: ["EC2:createfleet"] })], question()).allowed).toBe(true);
    expect(evaluate([statement({ Resource: ["arn:aws:ec2:us-west-2:*:FLEET/*"] })], question()).allowed).toBe(false);
  });

  it("the decision names the statement whose condition does not hold", () => {
    const tied = statement({ Condition: { StringEquals: { "aws:RequestTag/a": "b" } } });
    expect(evaluate([tied], question())).toEqual({ allowed: false, because: "the conditions of One do not hold" });
  });

  it("an unknown condition operator is an error", () => {
    const odd = statement({ Condition: { DateLessThan: { "aws:CurrentTime": "2030-01-01" } } });
    expect(() => evaluate([odd], question())).toThrow(/DateLessThan/);
  });
});

describe("conditions", () => {
  const KEY = "aws:RequestTag/team";
  it.for([
    { name: "equal", operator: "StringEquals", wanted: ["a", "b"], found: "b", holds: true },
    { name: "not equal", operator: "StringEquals", wanted: "a", found: "b", holds: false },
    { name: "no value to be equal", operator: "StringEquals", wanted: "a", found: undefined, holds: false },
    { name: "no value, if it exists", operator: "StringEqualsIfExists", wanted: "a", found: undefined, holds: true },
    { name: "another value, if it exists", operator: "StringEqualsIfExists", wanted: "a", found: "b", holds: false },
    { name: "unlike all", operator: "StringNotEquals", wanted: ["a", "b"], found: "c", holds: true },
    { name: "unlike one only", operator: "StringNotEquals", wanted: ["a", "b"], found: "b", holds: false },
    { name: "no value is unlike", operator: "StringNotEquals", wanted: "a", found: undefined, holds: true },
    { name: "any text, the empty one too", operator: "StringLike", wanted: "*", found: "", holds: true },
    { name: "any text, but no value", operator: "StringLike", wanted: "*", found: undefined, holds: false },
    { name: "a dot is a dot", operator: "StringLike", wanted: "a.c*", found: "abcd", holds: false },
    { name: "all of a set", operator: "ForAllValues:StringEquals", wanted: ["a", "b"], found: ["a"], holds: true },
    { name: "one too many in a set", operator: "ForAllValues:StringEquals", wanted: ["a", "b"], found: ["a", "c"], holds: false },
    { name: "all of nothing", operator: "ForAllValues:StringEquals", wanted: ["a"], found: undefined, holds: true },
    { name: "any of a set", operator: "ForAnyValue:StringEquals", wanted: ["a"], found: ["c", "a"], holds: true },
    { name: "any of nothing", operator: "ForAnyValue:StringEquals", wanted: ["a"], found: undefined, holds: false },
    { name: "absent, as asked", operator: "Null", wanted: "true", found: undefined, holds: true },
    { name: "there, though asked to be absent", operator: "Null", wanted: "true", found: "a", holds: false },
    { name: "there, as asked", operator: "Null", wanted: "false", found: "a", holds: true },
    { name: "a truth", operator: "Bool", wanted: "false", found: "false", holds: true },
    { name: "an ARN with a wildcard", operator: "ArnLike", wanted: "arn:aws:sqs:*:1:q", found: "arn:aws:sqs:r:1:q", holds: true },
  ])("$operator: $name", ({ operator, wanted, found, holds }) => {
    const tied = statement({ Condition: { [operator]: { [KEY]: wanted } } });
    expect(evaluate([tied], question(found === undefined ? {} : { [KEY]: found })).allowed).toBe(holds);
  });

  it("all conditions of a statement must hold", () => {
    const tied = statement({ Condition: { StringEquals: { [KEY]: "a" }, StringLike: { "aws:RequestTag/pool": "*" } } });
    expect(evaluate([tied], question({ [KEY]: "a" })).allowed).toBe(false);
    expect(evaluate([tied], question({ [KEY]: "a", "AWS:requesttag/pool": "p" })).allowed).toBe(true);
  });
});
