import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FakeAws } from "../e2e/fake-aws/fake-aws.ts";
import { type TokenBucket, tokenBucket } from "../e2e/fake-aws/faults.ts";
import { awsRequest } from "../e2e/support/aws-call.ts";
import { type MiniStack, startMiniStack } from "../e2e/support/ministack.ts";
import { personsQuestion } from "./persons-calls.ts";
import { type AwsCall, type RawRequest, understand } from "./request.ts";
import { type AccountSettings, judgeResource, type Made, refusalOf } from "./rules.ts";
import { inputFaults, modelOf } from "./service-models.ts";
import { startSessions } from "./sessions.ts";

/**
 * An AWS account: MiniStack and the fake EC2 behind one address, which judges every call by AWS's own service models,
 * the person's policies and the account's limits, before a stand-in that is kinder than AWS sees it.
 */
export interface Account {
  readonly url: string;
  readonly ministack: MiniStack;
  /** May be changed while it runs. */
  settings: AccountSettings;
  /** Calls in order: "cloudformation:CreateStack". */
  readonly calls: readonly string[];
  /** What calls have asked that the services' models do not know. */
  readonly shapeFaults: readonly string[];
  /** What the account has refused: the rule or "IAM", and AWS's words. */
  readonly refusals: readonly string[];
  /** What was ordered of CloudFormation, in order: "UpdateStack NAME". */
  readonly orders: readonly string[];
  /** ARNs of the roles that functions have assumed. */
  readonly assumedRoles: readonly string[];
  /** Actions of the person, also through CloudFormation. */
  readonly personsActions: ReadonlySet<string>;
  /**
   * Called before the call of a number is handed on, and after its answer; the numbers begin at 1 with each new hook.
   */
  onCall: ((number: number, when: "before" | "after") => void) | undefined;
  /** What was changed without the account's knowledge is seen by the next question. */
  settle(): void;
  stop(): Promise<void>;
}

export interface AccountOptions {
  readonly dataDir: string;
  readonly settings: AccountSettings;
  /** EC2, SSM, Pricing and instance profiles; without it these calls go to MiniStack. */
  readonly fake?: FakeAws;
  /** Where items of tables are, which functions and the person read and write; MiniStack's own tables without it. */
  readonly itemsUrl?: string;
  /** Variables of the functions. */
  readonly functionsEnv?: (url: string) => Readonly<Record<string, string>>;
  /** EC2's buckets by the kind of action: Amazon EC2 API Reference, Request throttling. */
  readonly ec2Buckets?: Readonly<Record<"describe" | "mutate", TokenBucket>>;
  /** How many times as fast schedules run. */
  readonly timeScale?: number;
  /** For so many ms after a change questions about stacks are answered as before. */
  readonly lagMs?: number;
}

export async function startAccount({
  dataDir,
  settings,
  fake,
  itemsUrl,
  functionsEnv,
  ec2Buckets,
  timeScale = 1,
  lagMs = 0,
}: AccountOptions): Promise<Account> {
  const calls: string[] = [];
  const orders: string[] = [];
  const shapeFaults = new Set<string>();
  const refusals: string[] = [];
  const personsActions = new Set<string>();
  const made = new Map<string, Made>();
  const buckets = ec2Buckets && {
    describe: tokenBucket(ec2Buckets.describe, Date.now()),
    mutate: tokenBucket(ec2Buckets.mutate, Date.now()),
  };
  let stackChangedAt = 0;
  /** The last answers to questions about stacks, by question: what AWS may still say right after a change. */
  const lastAnswers = new Map<string, Reply>();
  let numbered = 0;
  let hook: Account["onCall"];
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(`the account model failed: ${String(error)}`));
  });
  // An installation in the test's own process synthesises for seconds, in which no connection may end.
  server.keepAliveTimeout = 300_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ministack = await startMiniStack({
    ...{ dataDir, region: settings.region, accountId: settings.account, timeScale },
    env: { HARNESS_ACCOUNT: url, ...functionsEnv?.(url) },
  });
  const sessions = startSessions(ministack, () => fake?.state);
  const account: Account = {
    ...{ url, ministack, settings, calls, orders, refusals, personsActions },
    get assumedRoles() {
      return sessions.assumed();
    },
    get shapeFaults() {
      return [...shapeFaults];
    },
    get onCall() {
      return hook;
    },
    set onCall(next) {
      hook = next;
      numbered = 0;
    },
    settle() {
      stackChangedAt = 0;
      made.clear();
    },
    async stop() {
      await ministack.stop();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return account;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw: RawRequest = {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      headers: request.headers,
      body: Buffer.concat(chunks),
    };
    if (raw.url.startsWith("/_account/")) return send(response, ofCloudFormation(raw));
    const call = understand(raw);
    if (call === undefined) return forward(raw, response, ministack.url);
    calls.push(`${call.service}:${call.action ?? `${raw.method} ${raw.url.split("?")[0]}`}`);
    if (call.service === "cloudformation" && /^(Create|Update|Delete|Execute)(Stack|ChangeSet)$/.test(call.action ?? ""))
      orders.push(`${call.action} ${String((call.input as { readonly StackName?: string }).StackName)}`);
    numbered += 1;
    const number = numbered;
    hook?.(number, "before");
    const answer = judge(call, `${raw.method} ${raw.url}`) ?? (await missingTypes(call)) ?? (await ofSession(call));
    if (answer !== undefined) send(response, answer);
    else if (!isAboutStack(call)) await forward(raw, response, targetOf(call));
    else {
      const question = `${call.action} ${JSON.stringify(call.input)}`;
      const isStale = Date.now() < stackChangedAt + lagMs;
      if (!isStale) lastAnswers.set(question, await answerOf(raw, ministack.url));
      send(response, lastAnswers.get(question) ?? refused(call, "ValidationError", "Stack with that name does not exist", 400));
    }
    if (/Stack$|^ExecuteChangeSet$/.test(call.action ?? "") && call.service === "cloudformation") stackChangedAt = Date.now();
    hook?.(number, "after");
  }

  /** CloudFormation's own question, before it makes a resource, and its word that one is gone. */
  function ofCloudFormation({ url: path, body }: RawRequest): Reply {
    const one = JSON.parse(body.toString("utf8")) as Made;
    if (path === "/_account/gone") {
      made.delete(one.logicalId);
      return json(200, {});
    }
    const others = [...made.values()].filter(({ logicalId }) => logicalId !== one.logicalId);
    const refused = judgeResource(one, account.settings, others);
    if (refused === undefined) {
      made.set(one.logicalId, one);
      return json(200, {});
    }
    refusals.push(`${refused.rule}: ${one.type}: ${refused.message}`);
    return json(200, { refuse: refused.message });
  }

  /** The account's own answer; undefined where a stand-in answers. */
  function judge(call: AwsCall, what: string): Reply | undefined {
    const { service, action, input } = call;
    const model = modelOf(service);
    const operation = action === undefined ? undefined : model?.operations[action];
    if (model === undefined || operation === undefined) shapeFaults.add(`${service}: it has no operation of ${what}`);
    else for (const fault of inputFaults(model, operation, input)) shapeFaults.add(`${service}: ${fault}`);
    const isPerson = call.accessKey === account.settings.account;
    if (isPerson) {
      const question = personsQuestion(call, account.settings);
      const refusal = question && refusalOf(question, account.settings);
      if (question !== undefined) personsActions.add(question.action);
      if (refusal !== undefined) {
        refusals.push(`IAM: ${refusal}`);
        return refused(call, "AccessDenied", refusal, 403);
      }
    }
    if (service === "ec2" && buckets !== undefined) {
      const bucket = /^(Describe|Get)/.test(action ?? "") ? buckets.describe : buckets.mutate;
      if (!bucket(Date.now())) return refused(call, "RequestLimitExceeded", "Request limit exceeded.", 503);
    }
    return ownAnswer(call, account.settings, ministack, [...made.values()]);
  }

  function targetOf(call: AwsCall): string {
    if (itemsUrl !== undefined && isAboutItems(call)) return itemsUrl;
    return isForFake(call) && fake !== undefined ? fake.url : ministack.url;
  }

  /** What IAM says of a function that assumes a role, and of what it does with it. */
  async function ofSession(call: AwsCall): Promise<Reply | undefined> {
    const isAsked = call.service === "sts" && call.action === "AssumeRole";
    const refusal = isAsked ? await sessions.refusedToAssume(call) : sessions.refused(call);
    if (refusal === undefined) return undefined;
    refusals.push(`IAM: ${refusal}`);
    return refused(call, call.service === "ec2" ? "UnauthorizedOperation" : "AccessDenied", refusal, 403);
  }

  /** AWS CloudFormation User Guide, Troubleshooting, Template validation error: types that a region does not have. */
  async function missingTypes(call: AwsCall): Promise<Reply | undefined> {
    const { missingTypes: missing } = account.settings;
    if (!/^((Create|Update)Stack|CreateChangeSet)$/.test(call.action ?? "") || missing.length === 0) return undefined;
    const { TemplateURL = "" } = call.input as { readonly TemplateURL?: string };
    const template = await awsRequest(ministack, "s3", { method: "GET", path: new URL(TemplateURL).pathname });
    const found = missing.filter((type) => template.includes(`"${type}"`));
    if (found.length === 0) return undefined;
    refusals.push(`types of the region: ${found.join(", ")}`);
    return refused(call, "ValidationError", `Template format error: Unrecognized resource types: [${found.join(", ")}]`, 400);
  }
}

interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const json = (status: number, body: object, type?: string): Reply => ({
  ...{ status, contentType: "application/json", body: JSON.stringify(body) },
  ...(type !== undefined && { headers: { "x-amzn-errortype": type } }),
});
const xml = (body: string, status = 200): Reply => ({ status, contentType: "text/xml", body });

function send(response: ServerResponse, { status, contentType, headers, body }: Reply): void {
  response.writeHead(status, { "content-type": contentType, ...headers });
  response.end(body);
}

async function forward(raw: RawRequest, response: ServerResponse, target: string): Promise<void> {
  const { status, contentType, headers, bytes } = await answerOf(raw, target);
  response.writeHead(status, { "content-type": contentType, ...headers });
  response.end(bytes);
}

const isAboutStack = ({ service, action = "" }: AwsCall): boolean => service === "cloudformation" && action.startsWith("Describe");

async function answerOf(raw: RawRequest, target: string): Promise<Reply & { readonly bytes: Buffer }> {
  const {
    host: _host,
    connection: _connection,
    "content-length": _length,
    "transfer-encoding": _encoding,
    expect: _expect,
    ...headers
  } = raw.headers;
  const answer = await fetch(new URL(raw.url, target), {
    method: raw.method,
    headers: Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as [string, string]] : [])),
    ...(raw.body.length > 0 && raw.method !== "GET" && raw.method !== "HEAD" && { body: new Uint8Array(raw.body) }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const errorType = answer.headers.get("x-amzn-errortype");
  return {
    ...{ status: answer.status, contentType: answer.headers.get("content-type") ?? "text/plain", body: bytes.toString("utf8"), bytes },
    ...(errorType !== null && { headers: { "x-amzn-errortype": errorType } }),
  };
}

const isAboutItems = ({ service, action = "" }: AwsCall): boolean =>
  service === "dynamodb" && (/Item(s)?$/.test(action) || action === "Query" || action === "Scan");

/** Roles are CloudFormation's, so MiniStack's; instance profiles are of the fake EC2. */
const isForFake = ({ service, action = "" }: AwsCall): boolean =>
  ["ec2", "ssm", "pricing"].includes(service) ||
  (service === "sts" && action === "AssumeRole") ||
  (service === "eks" && action === "DescribeCluster") ||
  (service === "iam" && action.includes("InstanceProfile"));

/** A refusal in the form of the service's protocol. */
function refused({ service }: AwsCall, code: string, message: string, status: number): Reply {
  const protocol = modelOf(service)?.metadata.protocol;
  if (protocol === "json" || protocol === "rest-json") return json(status, { __type: code, message, Message: message }, code);
  const error = `<Error><Code>${code}</Code><Message>${message.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</Message></Error>`;
  if (protocol === "ec2") return xml(`<Response><Errors>${error}</Errors><RequestID>1</RequestID></Response>`, status);
  if (protocol === "rest-xml") return xml(error, status);
  return xml(`<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>`, status);
}

/** A cluster with everything, but for what the settings say. */
function describedAs(name: string, { clusters, described, region, account }: AccountSettings): object {
  return {
    ...{
      name,
      arn: `arn:aws:eks:${region}:${account}:cluster/${name}`,
      status: "ACTIVE",
      version: "1.33",
      endpoint: "https://127.0.0.1:1",
    },
    ...{ certificateAuthority: { data: "" }, kubernetesNetworkConfig: { serviceIpv4Cidr: "10.96.0.0/16", ipFamily: "ipv4" } },
    ...{ accessConfig: { authenticationMode: clusters[name] }, resourcesVpcConfig: { endpointPublicAccess: true } },
    ...described,
  };
}

/** What the account itself answers, because a stand-in does not know it or knows it otherwise. */
function ownAnswer(call: AwsCall, settings: AccountSettings, ministack: MiniStack, made: readonly Made[]): Reply | undefined {
  const { service, action } = call;
  const input = (call.input ?? {}) as Readonly<Record<string, unknown>>;
  switch (`${service}:${action}`) {
    case "sts:GetCallerIdentity": {
      if (call.accessKey !== settings.account) return undefined;
      if (settings.isSignedOut) return refused(call, "ExpiredToken", "The security token included in the request is expired", 403);
      const who = `<Arn>arn:aws:sts::${settings.account}:assumed-role/Installer/me</Arn><UserId>AROA:me</UserId><Account>${settings.account}</Account>`;
      return xml(`<GetCallerIdentityResponse><GetCallerIdentityResult>${who}</GetCallerIdentityResult></GetCallerIdentityResponse>`);
    }
    // AWS's default of both quotas of vCPUs for a new account; CloudWatch has nothing of a new account yet.
    case "servicequotas:GetServiceQuota":
      return json(200, { Quota: { ServiceCode: "ec2", QuotaCode: input["QuotaCode"], Value: 5 } });
    case "monitoring:GetMetricStatistics":
      return xml(
        `<GetMetricStatisticsResponse><GetMetricStatisticsResult><Label>x</Label><Datapoints/></GetMetricStatisticsResult></GetMetricStatisticsResponse>`,
      );
    case "lambda:GetAccountSettings": {
      const reserved = made.reduce((sum, { properties }) => sum + Number(properties["ReservedConcurrentExecutions"] ?? 0), 0);
      const { lambdaLimit } = settings;
      return json(200, { AccountLimit: { ConcurrentExecutions: lambdaLimit, UnreservedConcurrentExecutions: lambdaLimit - reserved } });
    }
    // MiniStack makes functions without the property.
    case "lambda:GetFunctionRecursionConfig": {
      const own = made.find(
        ({ type, properties }) => type === "AWS::Lambda::Function" && properties["FunctionName"] === input["FunctionName"],
      );
      return own && json(200, { RecursiveLoop: own.properties["RecursiveLoop"] ?? "Terminate" });
    }
    case "eks:DescribeCluster": {
      const name = String(input["name"]);
      if (settings.clusters[name] !== undefined) return settings.described && json(200, { cluster: describedAs(name, settings) });
      const message = `No cluster found for name: ${name}.`;
      return json(404, { __type: "ResourceNotFoundException", message }, "ResourceNotFoundException");
    }
    case "eks:DescribeAccessEntry": {
      const { clusterName, principalArn } = input as { readonly clusterName: string; readonly principalArn: string };
      const isThere =
        settings.accessEntries.includes(`${clusterName} ${principalArn}`) ||
        ministack.accessEntries().some((entry) => entry.clusterName === clusterName && entry.principalArn === principalArn);
      const message = `The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.`;
      return isThere
        ? json(200, { accessEntry: { clusterName, principalArn, type: principalArn.includes("NodeRole") ? "EC2_LINUX" : "STANDARD" } })
        : json(404, { __type: "ResourceNotFoundException", message }, "ResourceNotFoundException");
    }
    case "iam:GetRole": {
      const name = String(input["RoleName"]);
      if (!settings.roles.includes(name)) return undefined;
      const role = `<RoleName>${name}</RoleName><Arn>arn:aws:iam::${settings.account}:role/${name}</Arn>`;
      const rest = `<Path>/</Path><RoleId>AROA</RoleId><CreateDate>2026-01-01T00:00:00Z</CreateDate>`;
      return xml(`<GetRoleResponse><GetRoleResult><Role>${role}${rest}</Role></GetRoleResult></GetRoleResponse>`);
    }
    default:
      return undefined;
  }
}
