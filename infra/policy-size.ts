import type { Stack } from "aws-cdk-lib";
import { ManagedPolicy, PolicyDocument, type PolicyStatement, Role, type RoleProps } from "aws-cdk-lib/aws-iam";
import { BadInput } from "./end-with.ts";

/**
 * IAM's limits for the inline policies of a role together, for one managed policy, without white space, and for the
 * number of managed policies of a role.
 */
export const MAX_INLINE_CHARACTERS = 10_240;
export const MAX_MANAGED_CHARACTERS = 6_144;
const MAX_MANAGED_POLICIES = 10;
/** What a policy has around its statements. */
const FRAME = '{"Statement":[],"Version":"2012-10-17"}'.length;

/** The longest values that CloudFormation's pseudo parameters have. */
const PSEUDO: ReadonlyMap<string, string> = new Map([
  ["AWS::Partition", "aws-us-gov"],
  ["AWS::Region", "ap-southeast-2"],
  ["AWS::AccountId", "111122223333"],
  ["AWS::URLSuffix", "amazonaws.com.cn"],
]);
/** In place of the ARN of a resource that CloudFormation names: a stack's name of 40 letters, an id, a suffix. */
const RESOURCE = `arn:aws-us-gov:dynamodb:ap-southeast-2:111122223333:table/${"x".repeat(90)}`;

/** The statements of a role: those in its own policy, and those of each managed policy beside it. */
interface PackedStatements {
  readonly inline: readonly PolicyStatement[];
  readonly managed: readonly (readonly PolicyStatement[])[];
}

/**
 * Divides statements so that each policy is within IAM's limit, with as many as possible in the role's own. Throws one
 * sentence when ten managed policies do not suffice: CloudFormation would find out only when it makes the role.
 */
export function packed(stack: Stack, id: string, statements: readonly PolicyStatement[]): PackedStatements {
  const size = (of: readonly PolicyStatement[]): number => of.reduce((sum, statement) => sum + sizeOf(stack, statement), FRAME);
  const inline: PolicyStatement[] = [];
  const managed: PolicyStatement[][] = [];
  // The largest statements first, when not all have room, because a managed policy takes less.
  const isTight = size(statements) > MAX_INLINE_CHARACTERS;
  for (const statement of isTight ? statements.toSorted((a, b) => sizeOf(stack, b) - sizeOf(stack, a)) : statements) {
    if (size([...inline, statement]) <= MAX_INLINE_CHARACTERS) {
      inline.push(statement);
      continue;
    }
    const bin = managed.find((some) => size([...some, statement]) <= MAX_MANAGED_CHARACTERS);
    if (bin === undefined) managed.push([statement]);
    else bin.push(statement);
  }
  if (managed.length > MAX_MANAGED_POLICIES || managed.some((some) => size(some) > MAX_MANAGED_CHARACTERS))
    throw new BadInput(
      `So many clusters and node roles make the policies of ${id} larger than IAM takes; deploy some clusters under another stackName.`,
    );
  return { inline, managed };
}

/** Makes a role with these statements. */
export function roleWith(stack: Stack, id: string, statements: readonly PolicyStatement[], props: RoleProps): Role {
  const { inline, managed } = packed(stack, id, statements);
  const role = new Role(stack, id, { ...props, inlinePolicies: { own: new PolicyDocument({ statements: [...inline] }) } });
  for (const [i, some] of managed.entries()) {
    new ManagedPolicy(role, `More${i}`, { description: props.description ?? id, statements: [...some], roles: [role] });
  }
  return role;
}

/** The characters of a statement as IAM counts them, at most, with its comma. */
export function sizeOf(stack: Stack, statement: PolicyStatement): number {
  return JSON.stringify(filled(stack.resolve(statement.toStatementJson()))).replaceAll(/\s/g, "").length + 1;
}

/** A resolved value with CloudFormation's functions replaced by the longest text that they can give. */
export function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== "object" || value === null) return value;
  if ("Ref" in value) return PSEUDO.get(String(value.Ref)) ?? RESOURCE;
  if ("Fn::GetAtt" in value) return RESOURCE;
  if ("Fn::Join" in value) {
    const [separator, parts] = value["Fn::Join"] as readonly [string, readonly unknown[]];
    return parts.map(filled).join(separator);
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part)]));
}
