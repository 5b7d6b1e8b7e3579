import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { EC2_ACTIONS } from "./ec2/actions.ts";
import { describeCluster } from "./eks.ts";
import { AwsError } from "./errors.ts";
import type { ActiveFault, Call } from "./faults.ts";
import { IAM_ACTIONS } from "./iam.ts";
import { hexOf } from "./ids.ts";
import { getProducts } from "./pricing.ts";
import { SSM_ACTIONS } from "./ssm.ts";
import { decodeQuery, encodeXml, escapeXml, inputOf, outputOf } from "./wire/schema.ts";
import type { FakeAwsState } from "./world.ts";

/** A decoded request: how to perform it, and how to encode its result or refusal. */
export type Understood = {
  readonly call: Call;
  readonly perform: (world: FakeAwsState, faults: readonly ActiveFault[]) => Reply;
  readonly refuse: (error: AwsError) => Reply;
};

export type Reply = {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: Record<string, string>;
  readonly body: string;
};

const EC2_VERSION = "2016-11-15";
const STS = "https://sts.amazonaws.com/doc/2011-06-15/";
const MAX_LOGGED_TEXT = 200;

/**
 * Determines the service and action of a request. Signatures are not checked: the access key only identifies the
 * caller.
 */
export function understand(world: FakeAwsState, request: IncomingMessage, body: string): Understood {
  const url = new URL(request.url ?? "/", "http://localhost");
  const credential = /Credential=([^/,\s]+)\/[^/]*\/[^/]*\/([^/]+)\//.exec(
    request.headers.authorization ?? `Credential=${url.searchParams.get("X-Amz-Credential") ?? ""}`,
  );
  const caller: Caller = { world, accessKey: credential?.[1] ?? "", wantsJson: String(request.headers.accept ?? "").includes("json") };
  const target = request.headers["x-amz-target"];
  if (typeof target === "string") return json(caller, target, body);
  const cluster = /^\/clusters\/([^/]+)$/.exec(url.pathname)?.[1];
  if (cluster !== undefined) return eks(caller, decodeURIComponent(cluster));
  const form = new URLSearchParams(body.length > 0 ? body : url.search);
  const action = form.get("Action") ?? "";
  if (action === "") throw new AwsError("MissingAction", `${request.method} ${url.pathname} names no action that this stand-in knows.`);
  if (form.get("Version") === EC2_VERSION) return ec2(caller, action, form);
  if (action in IAM_ACTIONS || credential?.[2] === "iam") return iam(caller, action, form);
  return sts(caller, action, Object.fromEntries(form));
}

type Caller = { readonly world: FakeAwsState; readonly accessKey: string; readonly wantsJson: boolean };

function logged({ world, accessKey }: Caller, service: string, action: string, params: unknown): Call {
  const call: Call = {
    number: (world.calls.at(-1)?.number ?? 0) + 1,
    time: world.clock.now(),
    service,
    action,
    accessKey,
    role: world.options.identify?.(accessKey) ?? accessKey,
    params: JSON.parse(
      JSON.stringify(params ?? {}, (_, value) =>
        typeof value === "string" && value.length > MAX_LOGGED_TEXT ? `${value.slice(0, MAX_LOGGED_TEXT)}…` : value,
      ),
    ) as Record<string, unknown>,
    requestId: randomUUID(),
    outcome: "pending",
  };
  world.calls.push(call);
  return call;
}

function ec2(caller: Caller, action: string, form: URLSearchParams): Understood {
  const known = EC2_ACTIONS[action];
  const params = known ? decodeQuery(form, inputOf(known.operation), "ec2") : Object.fromEntries(form);
  const call = logged(caller, "ec2", action, params);
  return {
    call,
    perform(world, faults) {
      if (!known) throw new AwsError("InvalidAction", `The action ${action} is not valid for this web service.`);
      const answer = encodeXml(known.handle(world, params, { call, faults }), outputOf(known.operation)) || "<return>true</return>";
      const open = `<${action}Response xmlns="http://ec2.amazonaws.com/doc/${EC2_VERSION}/">`;
      return xml(200, `${open}<requestId>${call.requestId}</requestId>${answer}</${action}Response>`);
    },
    refuse: ({ code, message, status }) =>
      xml(
        status,
        `<Response><Errors><Error><Code>${escapeXml(code)}</Code><Message>${escapeXml(message)}</Message></Error></Errors><RequestID>${call.requestId}</RequestID></Response>`,
      ),
  };
}

const queryError =
  ({ requestId }: Call) =>
  ({ code, message, status }: AwsError): Reply =>
    xml(
      status,
      `<ErrorResponse><Error><Type>Sender</Type><Code>${escapeXml(code)}</Code><Message>${escapeXml(message)}</Message></Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
    );

function iam(caller: Caller, action: string, form: URLSearchParams): Understood {
  const known = IAM_ACTIONS[action];
  const params = known ? decodeQuery(form, inputOf(known.operation), "aws") : Object.fromEntries(form);
  const call = logged(caller, "iam", action, params);
  return {
    call,
    perform(world) {
      if (!known) throw new AwsError("InvalidAction", `Could not find operation ${action} for version 2010-05-08`);
      const answer = encodeXml(known.handle(world, params), outputOf(known.operation));
      return xml(200, queryAnswer(action, answer, call.requestId, "https://iam.amazonaws.com/doc/2010-05-08/"));
    },
    refuse: queryError(call),
  };
}

const queryAnswer = (action: string, answer: string, requestId: string, namespace: string): string =>
  `<${action}Response xmlns="${namespace}"><${action}Result>${answer}</${action}Result><ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></${action}Response>`;

function sts(caller: Caller, action: string, params: Readonly<Record<string, string>>): Understood {
  const call = logged(caller, "sts", action, params);
  return {
    call,
    perform(world) {
      if (action === "AssumeRole") return xml(200, queryAnswer(action, sessionOf(world, params["RoleArn"] ?? ""), call.requestId, STS));
      if (action !== "GetCallerIdentity") throw new AwsError("InvalidAction", `Could not find operation ${action} for version 2011-06-15`);
      const Arn = `arn:aws:sts::${world.account}:assumed-role/${call.role || "nobody"}/fake`;
      const UserId = `${call.accessKey}:fake`;
      if (caller.wantsJson) {
        const GetCallerIdentityResult = { Account: world.account, Arn, UserId };
        return jsonReply({ GetCallerIdentityResponse: { GetCallerIdentityResult, ResponseMetadata: { RequestId: call.requestId } } });
      }
      const answer = `<Arn>${escapeXml(Arn)}</Arn><UserId>${escapeXml(UserId)}</UserId><Account>${world.account}</Account>`;
      return xml(200, queryAnswer(action, answer, call.requestId, STS));
    },
    refuse: queryError(call),
  };
}

/** Credentials of a role, always the same, whose key identifies later calls. */
function sessionOf(world: FakeAwsState, roleArn: string): string {
  const expiration = new Date(world.clock.now() + 3_600_000).toISOString();
  const key = `<AccessKeyId>${accessKeyOfRole(roleArn)}</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>`;
  return `<Credentials>${key}<SessionToken>token</SessionToken><Expiration>${expiration}</Expiration></Credentials>`;
}

/** The access key of sessions of a role. */
export function accessKeyOfRole(roleArn: string): string {
  return `ASIA${hexOf(roleArn, 16).toUpperCase()}`;
}

function json(caller: Caller, target: string, body: string): Understood {
  const [prefix = "", action = ""] = target.split(".");
  const params = JSON.parse(body || "{}") as Record<string, unknown>;
  const service = prefix === "AmazonSSM" ? "ssm" : prefix === "AWSPriceListService" ? "pricing" : prefix;
  const call = logged(caller, service, action, params);
  const handle = service === "ssm" ? SSM_ACTIONS[action] : service === "pricing" && action === "GetProducts" ? getProducts : undefined;
  return {
    call,
    perform(world) {
      if (!handle) throw new AwsError("UnknownOperationException", `${target} is not an operation that this stand-in knows.`);
      return jsonReply(handle(world, params));
    },
    refuse: jsonError,
  };
}

function eks(caller: Caller, name: string): Understood {
  return {
    call: logged(caller, "eks", "DescribeCluster", { name }),
    perform: (world) => ({ ...jsonReply(describeCluster(world, name)), contentType: "application/json" }),
    refuse: jsonError,
  };
}

const xml = (status: number, body: string): Reply => ({
  status,
  contentType: "text/xml;charset=UTF-8",
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
});

const jsonReply = (answer: unknown): Reply => ({ status: 200, contentType: "application/x-amz-json-1.1", body: JSON.stringify(answer) });

const jsonError = ({ code, message, status }: AwsError): Reply => ({
  status,
  contentType: "application/x-amz-json-1.1",
  headers: { "x-amzn-errortype": code },
  body: JSON.stringify({ __type: code, message }),
});
