import { awsRequest } from "../e2e/support/aws-call.ts";
import type { Account } from "./account.ts";
import { accountWith } from "./account-of.ts";
import { clear, found, installer, type Ran } from "./installing.ts";
import type { AccountSettings } from "./rules.ts";

// By which way the clusters' events reach the functions in accounts that refuse some of them.

const HOOK = "AWS::ControlTower::Hook";
const NO_URL = { "AWS::Lambda::Url": HOOK, "AWS::Lambda::Permission": HOOK };

interface Case {
  readonly account: Partial<AccountSettings>;
  /** What the installer says about its choice. */
  readonly says: readonly string[];
  readonly has: { readonly apis: number; readonly functions: readonly string[]; readonly without?: readonly string[] };
}

export const WAYS: Readonly<Record<string, Case>> = {
  "an account without such rules has a function URL": { account: {}, says: [], has: { apis: 0, functions: ["notify"] } },
  "function URLs are refused by Control Tower": {
    account: { hooks: NO_URL },
    says: ["the account refuses function URLs", "API servers call API Gateway instead"],
    has: { apis: 1, functions: ["notify"] },
  },
  "function URLs are refused by a service control policy": {
    account: { scp: [{ Sid: "NoUrls", Effect: "Deny", Action: ["lambda:CreateFunctionUrlConfig"], Resource: ["*"] }] },
    says: ["explicit deny in a service control policy); API servers call API Gateway instead"],
    has: { apis: 1, functions: ["notify"] },
  },
  "the region has no function URLs, and nobody has said so before": {
    account: { missingTypes: ["AWS::Lambda::Url"] },
    says: ["the region does not have it); API servers call API Gateway instead"],
    has: { apis: 1, functions: ["notify"] },
  },
  "function URLs and API Gateway are refused, and the audit log is written": {
    account: { hooks: { ...NO_URL, "AWS::ApiGatewayV2::Api": HOOK } },
    says: ["the account refuses API Gateway", "the cluster's audit log brings events instead"],
    has: { apis: 0, functions: ["audit"], without: ["notify"] },
  },
  "nothing but the sweep is left": {
    account: { hooks: { ...NO_URL, "AWS::ApiGatewayV2::Api": HOOK }, logGroups: {} },
    says: ["the audit log cannot be subscribed to", "the sweep alone finds pods, within a minute instead"],
    has: { apis: 0, functions: ["provision"], without: ["notify", "audit"] },
  },
};

export async function playWay(account: Account, dir: string, { account: changed, says, has }: Case): Promise<string> {
  account.settings = accountWith(changed);
  await clear(account);
  const run = installer(dir);
  const first = await run();
  if (first.failed) throw new Error(first.end);
  for (const words of says) if (!first.text.includes(words)) throw new Error(`nothing says "${words}":\n${first.text}`);
  const { apis, functions } = await found(account);
  const names = functions.map((name) => name.split("-").at(-1) ?? "");
  if (apis.length !== has.apis || has.functions.some((name) => !names.includes(name)) || has.without?.some((name) => names.includes(name)))
    throw new Error(`it has ${apis.length} APIs and ${names.join(", ")}`);
  const second = await run();
  if (second.failed || second.text.includes("instead")) throw new Error(`run again, it chooses again: ${second.text}`);
  return chosen(first);
}

const chosen = ({ text }: Ran): string =>
  text
    .split("\n")
    .filter((line) => line.endsWith(" instead"))
    .join("\n        ");

/**
 * Calls the function through the REST API that CloudFormation has made: the event's path must come without the stage.
 */
export async function playRestApi(account: Account, dir: string): Promise<string> {
  account.settings = accountWith();
  await clear(account);
  const { failed, end } = await installer(dir)({ publicUrl: "restApi", callerCidrs: ["127.0.0.0/8"] }, true);
  if (failed) throw new Error(end);
  const [id] = (await found(account)).apis;
  const answer = await awsRequest({ ...account.ministack }, "execute-api", {
    method: "POST",
    path: `/_aws/execute-api/${id}/k8s/v1/c1/token`,
    body: "{}",
  });
  if (answer !== '{"path":"/v1/c1/token"}') throw new Error(`the function was called with ${answer}`);
  return "";
}
