import type { Question } from "./policy.ts";
import type { Place } from "./template-policies.ts";

/** The parts of a transaction, and the action that IAM checks for each. */
const PARTS = { Put: "PutItem", Update: "UpdateItem", Delete: "DeleteItem", ConditionCheck: "ConditionCheckItem", Get: "GetItem" } as const;

/** What IAM checks for a DynamoDB request: each part of a transaction; the table or index of a batch or query. */
export function dynamodbQuestions(
  action: string,
  body: Readonly<Record<string, unknown>>,
  { region, account }: Place,
): readonly Question[] {
  const ask = (name: string, table: unknown, index?: unknown): Question => ({
    action: `dynamodb:${name}`,
    resource: `arn:aws:dynamodb:${region}:${account}:table/${String(table)}${index === undefined ? "" : `/index/${String(index)}`}`,
    context: {},
  });
  if (action === "TransactWriteItems" || action === "TransactGetItems") {
    const items = (body["TransactItems"] ?? []) as readonly Readonly<Record<string, { readonly TableName: string }>>[];
    return items.flatMap((item) => Object.entries(item).map(([part, { TableName }]) => ask(PARTS[part as keyof typeof PARTS], TableName)));
  }
  if (action === "BatchGetItem" || action === "BatchWriteItem")
    return Object.keys(body["RequestItems"] ?? {}).map((table) => ask(action, table));
  const asked = ask(action, body["TableName"], body["IndexName"]);
  const partition = action === "Query" && body["IndexName"] === undefined ? partitionOf(body) : undefined;
  return [partition === undefined ? asked : { ...asked, context: { "dynamodb:LeadingKeys": [partition] } }];
}

/** The value of the partition key that a query names. */
function partitionOf({ KeyConditionExpression: condition, ExpressionAttributeValues: values }: Readonly<Record<string, unknown>>) {
  const [, name = ""] = /\bpk = (:\w+)/.exec(String(condition)) ?? [];
  return ((values ?? {}) as Readonly<Record<string, { readonly S?: string }>>)[name]?.S;
}
