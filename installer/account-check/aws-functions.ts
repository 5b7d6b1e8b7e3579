import { GetRoleCommand, SimulatePrincipalPolicyCommand } from "@aws-sdk/client-iam";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { CredentialSource } from "#adapters/aws/assume-role.ts";
import { iamClient } from "#adapters/aws/clients.ts";
import { isNotFound } from "#adapters/aws/errors.ts";
import { jsonCall } from "#adapters/aws/json-call.ts";
import { type SignedCaller, type SignedRequest, signedFetch } from "#adapters/aws/signed-fetch.ts";
import type { CheckCloud, FunctionCalls, Invocation, QueueCalls } from "./ports.ts";

type Caller = (service: string) => Omit<SignedCaller, "service">;

interface Received {
  readonly Messages?: readonly {
    readonly Body: string;
    readonly ReceiptHandle: string;
    readonly Attributes?: Readonly<Record<string, string>>;
  }[];
}

export function queuesOnAws(caller: Caller): QueueCalls {
  const ask = <Answer>(operation: string, input: object): Promise<Answer> =>
    jsonCall<Answer>({ ...caller("SQS"), service: "sqs" }, { target: `AmazonSQS.${operation}`, input, version: "1.0" });
  return {
    send: async (QueueUrl, { body, group }) => {
      await ask("SendMessage", { QueueUrl, MessageBody: body, ...(group !== undefined && { MessageGroupId: group }) });
    },
    take: async (QueueUrl) => {
      const input = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2, MessageSystemAttributeNames: ["MessageGroupId"] };
      const { Messages = [] } = await ask<Received>("ReceiveMessage", input);
      for (const { ReceiptHandle } of Messages) await ask("DeleteMessage", { QueueUrl, ReceiptHandle });
      return Messages.map(({ Body: body, Attributes }) => {
        const group = Attributes?.["MessageGroupId"];
        return { body, ...(group !== undefined && { group }) };
      });
    },
  };
}

/** The times in the last line of a log that Lambda returns with an answer. */
export function invocationOf(log: string): Invocation {
  const ms = (name: string): number | undefined => {
    const found = new RegExp(`(?:^|\\t)${name}: ([\\d.]+) ms`, "m").exec(log)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const initMs = ms("Init Duration");
  return { durationMs: ms("Duration") ?? 0, ...(initMs !== undefined && { initMs }) };
}

export function functionsOnAws(caller: Caller): FunctionCalls {
  const send = async (request: SignedRequest, doing: string): Promise<Response> => {
    const response = await signedFetch({ ...caller("LAMBDA"), service: "lambda" }, request);
    if (response.ok) return response;
    const { Message = "", message = Message } = (await response.json().catch(() => ({}))) as Readonly<Record<string, string>>;
    throw new Error(`${doing}: ${response.status} ${message}`.trimEnd());
  };
  const headers = { "content-type": "application/json" };
  return {
    replaceCode: async (name, zip) => {
      const body = JSON.stringify({ ZipFile: Buffer.from(zip).toString("base64") });
      await send({ method: "PUT", path: `/2015-03-31/functions/${name}/code`, headers, body }, `replacing the code of ${name}`);
    },
    renew: async (name, mark) => {
      const path = `/2015-03-31/functions/${name}/configuration`;
      const found = (await (await send({ method: "GET", path }, `reading ${name}`)).json()) as {
        readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
      };
      const Variables = { ...found.Environment?.Variables, CHECK: mark };
      await send({ method: "PUT", path, headers, body: JSON.stringify({ Environment: { Variables } }) }, `changing ${name}`);
    },
    invoke: async (name, event) => {
      const path = `/2015-03-31/functions/${name}/invocations`;
      const tailed = { ...headers, "x-amz-log-type": "Tail" };
      const response = await send({ method: "POST", path, headers: tailed, body: JSON.stringify(event) }, `invoking ${name}`);
      return invocationOf(Buffer.from(response.headers.get("x-amz-log-result") ?? "", "base64").toString());
    },
  };
}

export function callerOnAws(region: string, credentials: CredentialSource): Pick<CheckCloud, "caller" | "maySimplyPass" | "hasRole"> {
  const iam = iamClient(region, credentials);
  return {
    caller: async () => {
      const { Account: account = "", Arn: arn = "" } = await new STSClient({ region, credentials }).send(new GetCallerIdentityCommand({}));
      return { account, arn };
    },
    maySimplyPass: async (callerArn, roleArn) => {
      // A session of a role has the policies of the role.
      const [, partition, account, role] = /^arn:([\w-]+):sts::(\d+):assumed-role\/([^/]+)\//.exec(callerArn) ?? [];
      const PolicySourceArn = role === undefined ? callerArn : `arn:${partition}:iam::${account}:role/${role}`;
      const input = { PolicySourceArn, ActionNames: ["iam:PassRole"], ResourceArns: [roleArn] };
      const { EvaluationResults = [] } = await iam.send(new SimulatePrincipalPolicyCommand(input));
      return EvaluationResults.some(({ EvalDecision }) => EvalDecision === "allowed");
    },
    hasRole: async (RoleName) => {
      try {
        await iam.send(new GetRoleCommand({ RoleName }));
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
  };
}
