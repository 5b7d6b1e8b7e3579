import { accessKeyOfRole } from "../e2e/fake-aws/request.ts";
import type { FakeAwsState } from "../e2e/fake-aws/world.ts";
import { evaluate, type Question, type Statement } from "../e2e/iam/policy.ts";
import { questionsOf } from "../e2e/iam/questions.ts";
import { awsQuery } from "../e2e/support/aws-call.ts";
import { deployedFunctions } from "../e2e/support/deploy.ts";
import type { MiniStack } from "../e2e/support/ministack.ts";
import type { AwsCall } from "./request.ts";

// Roles that functions assume: STS asks the function's own policy and the trust of the role, and what is done with the
// session is asked of the role's policy (AWS IAM User Guide, Policy evaluation logic; AWS STS API Reference,
// AssumeRole).

const IAM = "2010-05-08";
const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

type Written = Omit<Statement, "Action" | "Resource"> & { readonly Action: string | string[]; readonly Resource?: string | string[] };

function statementsIn(document: string): readonly Statement[] {
  const text = document.replaceAll("&quot;", '"').replaceAll("&#34;", '"').replaceAll("&amp;", "&");
  const { Statement: all } = JSON.parse(text.startsWith("%") ? decodeURIComponent(text) : text) as {
    readonly Statement: Written | Written[];
  };
  return list(all).map((one) => ({ ...one, Action: list<string>(one.Action), Resource: list<string>(one.Resource ?? "*") }));
}

export interface Sessions {
  /** Why STS refuses to let the caller assume the role; undefined when it does not. */
  readonly refusedToAssume: (call: AwsCall) => Promise<string | undefined>;
  /** Why a call with the credentials of an assumed role is refused; undefined when it is not, or is no such call. */
  readonly refused: (call: AwsCall) => string | undefined;
  /** ARNs of the roles that were assumed so far. */
  readonly assumed: () => readonly string[];
}

export function startSessions(ministack: MiniStack, world: () => FakeAwsState | undefined): Sessions {
  /** By the access key of its sessions. */
  const roles = new Map<string, { readonly arn: string; readonly statements: readonly Statement[] }>();

  const policyOf = async (arn: string): Promise<readonly Statement[]> => {
    const RoleName = arn.slice(arn.lastIndexOf("/") + 1);
    const xml = await awsQuery(ministack, "iam", IAM, "GetRolePolicy", { RoleName, PolicyName: "own" });
    return statementsIn(/<PolicyDocument>([\s\S]*?)<\/PolicyDocument>/.exec(xml)?.[1] ?? '{"Statement":[]}');
  };

  return {
    assumed: () => [...roles.values()].map(({ arn }) => arn),
    async refusedToAssume({ accessKey, input }) {
      const { RoleArn: arn = "" } = input as { readonly RoleArn?: string };
      const caller = (await deployedFunctions(ministack)).find(({ credentials }) => credentials.accessKeyId === accessKey);
      const no = `is not authorized to perform: sts:AssumeRole on resource: ${arn}`;
      if (caller === undefined) return `User: ${accessKey} ${no}`;
      const asked: Question = { action: "sts:AssumeRole", resource: arn, context: {} };
      const own = evaluate(await policyOf(caller.roleArn), asked);
      if (!own.allowed) return `User: ${caller.roleArn} ${no} because ${own.because}`;
      const RoleName = arn.slice(arn.lastIndexOf("/") + 1);
      const xml = await awsQuery(ministack, "iam", IAM, "GetRole", { RoleName }).catch(() => "");
      const found = /<Arn>([^<]+)<\/Arn>/.exec(xml)?.[1];
      if (found !== arn) return `User: ${caller.roleArn} ${no}: there is ${found ?? "no such role"}`;
      const trust = statementsIn(/<AssumeRolePolicyDocument>([\s\S]*?)<\/AssumeRolePolicyDocument>/.exec(xml)?.[1] ?? '{"Statement":[]}');
      const trusted = evaluate(trust, { ...asked, context: { "aws:PrincipalArn": caller.roleArn } });
      if (!trusted.allowed) return `User: ${caller.roleArn} ${no}: the role does not trust it`;
      roles.set(accessKeyOfRole(arn), { arn, statements: await policyOf(arn) });
      return undefined;
    },
    refused({ accessKey, service, action, input }) {
      const role = roles.get(accessKey);
      const state = world();
      if (role === undefined || state === undefined || action === undefined) return undefined;
      const params = (input ?? {}) as Readonly<Record<string, unknown>>;
      for (const question of questionsOf(state, { service, action, params } as Parameters<typeof questionsOf>[1])) {
        const decision = evaluate(role.statements, question);
        if (!decision.allowed)
          return `User: ${role.arn} is not authorized to perform: ${question.action} on resource: ${question.resource} because ${decision.because}`;
      }
      return undefined;
    },
  };
}
