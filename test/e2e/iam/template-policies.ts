import type { Template } from "../support/deploy.ts";
import type { Statement } from "./policy.ts";

/** Where a stack is deployed. */
export interface Place {
  readonly account: string;
  readonly region: string;
}

/**
 * The policies of a template's functions by function name. `names` are those that CloudFormation gave, by logical id; a
 * resource without one is called by its logical id. Throws on a part of a policy that cannot be resolved.
 */
export function policiesByFunction(
  template: Template,
  place: Place,
  names: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, readonly Statement[]> {
  const Resources = named(template.Resources, names);
  const functions = Object.values(Resources).filter(({ Type }) => Type === "AWS::Lambda::Function");
  return new Map(
    functions.map(({ Properties = {} }) => {
      const [role] = getAtt(Properties["Role"]);
      const policies = (Resources[role]?.Properties?.["Policies"] ?? []) as readonly InlinePolicy[];
      return [
        String(Properties["FunctionName"]),
        policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map((statement) => filled(statement, Resources, place))),
      ];
    }),
  );
}

/** Tables, queues and secrets with the names that they have in the account. */
function named(resources: Template["Resources"], names: Readonly<Record<string, string>>): Template["Resources"] {
  const withName = ([id, resource]: [string, Template["Resources"][string]]): [string, Template["Resources"][string]] => {
    const name = names[id] ?? id;
    return [id, { ...resource, Properties: { TableName: name, QueueName: name, SecretArn: name, ...resource.Properties } }];
  };
  return Object.fromEntries(Object.entries(resources).map(withName));
}

interface InlinePolicy {
  readonly PolicyDocument: { readonly Statement: readonly Readonly<Record<string, unknown>>[] };
}

function filled(statement: Readonly<Record<string, unknown>>, resources: Template["Resources"], place: Place): Statement {
  const value = fill(statement, resources, place) as Readonly<Record<string, unknown>>;
  const list = (part: unknown): string[] => (Array.isArray(part) ? part : [part]).map(String);
  const { Sid, Effect, Condition } = value as Pick<Statement, "Sid" | "Effect" | "Condition">;
  return {
    ...(Sid !== undefined && { Sid }),
    ...{ Effect, Action: list(value["Action"]), Resource: list(value["Resource"]) },
    ...(Condition !== undefined && { Condition }),
  };
}

/** Resolves CloudFormation's functions: Ref of a pseudo parameter, Fn::Join, and Fn::GetAtt of an ARN. */
function fill(value: unknown, resources: Template["Resources"], place: Place): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, resources, place));
  if (typeof value !== "object" || value === null) return value;
  if ("Ref" in value) return reference(String(value.Ref), resources, place);
  if ("Fn::Join" in value) {
    const [separator, parts] = value["Fn::Join"] as readonly [string, unknown];
    return (fill(parts, resources, place) as readonly string[]).join(separator);
  }
  if ("Fn::GetAtt" in value) return arnOf(getAtt(value), resources, place);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fill(part, resources, place)]));
}

function reference(name: string, resources: Template["Resources"], { account, region }: Place): string {
  // A secret's name in the account is its ARN.
  const { Type, Properties = {} } = resources[name] ?? {};
  if (Type === "AWS::SecretsManager::Secret") return String(Properties["SecretArn"]);
  const known: Readonly<Record<string, string>> = {
    "AWS::Partition": "aws",
    "AWS::Region": region,
    "AWS::AccountId": account,
    "AWS::URLSuffix": "amazonaws.com",
  };
  const text = known[name];
  if (text === undefined) throw new Error(`A policy refers to ${name}, which test/e2e/iam/template-policies.ts cannot fill in.`);
  return text;
}

function getAtt(value: unknown): readonly [string, string] {
  const [resource = "", attribute = ""] = (value as { readonly "Fn::GetAtt": readonly string[] })["Fn::GetAtt"];
  return [resource, attribute];
}

function arnOf([id, attribute]: readonly [string, string], resources: Template["Resources"], { account, region }: Place): string {
  const { Type, Properties = {} } = resources[id] ?? { Type: "nothing" };
  const arn = (service: string, name: unknown): string => `arn:aws:${service}:${region}:${account}:${String(name)}`;
  const known: Readonly<Record<string, () => string>> = {
    "AWS::DynamoDB::Table": () => arn("dynamodb", `table/${String(Properties["TableName"])}`),
    "AWS::SQS::Queue": () => arn("sqs", Properties["QueueName"]),
    "AWS::Logs::LogGroup": () => arn("logs", `log-group:${String(Properties["LogGroupName"])}:*`),
    "AWS::Lambda::Function": () => arn("lambda", `function:${String(Properties["FunctionName"])}`),
  };
  const make = known[Type];
  if (make === undefined || attribute !== "Arn")
    throw new Error(`A policy names ${attribute} of ${id} (${Type}), which template-policies.ts cannot fill in.`);
  return make();
}
