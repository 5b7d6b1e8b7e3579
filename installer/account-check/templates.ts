// The two stacks of account-check, as texts below CloudFormation's limit of 51,200 bytes for a template that is sent
// with the call, so that no bucket is needed.

import { tableName } from "./names.ts";

/** A chain that is not stopped ends here: well above the 16 invocations at which Lambda's guard stops one. */
export const MAX_HOPS = 24;
/** So that messages of several chains come in one batch. */
const BATCH_WINDOW_S = 2;

/** Sends each message on, one hop further; `together` is the largest batch that a message came in. */
const LOOP_CODE = `const { SQSClient, SendMessageCommand } = require("@aws-sdk/client-sqs");
const sqs = new SQSClient({});
exports.handler = async ({ Records = [] }) => {
  for (const { body } of Records) {
    const { chain, hop, together } = JSON.parse(body);
    const next = { chain, hop: hop + 1, together: Math.max(together, Records.length) };
    const QueueUrl = next.hop >= ${MAX_HOPS} ? process.env.END : process.env.LOOP;
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(next) }));
  }
};
`;
const EMPTY_CODE = "exports.handler = async () => ({});";

const ref = (name: string) => ({ Ref: name });
const arn = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });
const named = (suffix: string) => ({ "Fn::Sub": `\${AWS::StackName}-${suffix}` });

interface Made {
  readonly code: string;
  readonly environment: object;
  readonly more?: object;
}

function lambda(id: string, { code, environment, more = {} }: Made): object {
  return {
    [`${id}Log`]: {
      Type: "AWS::Logs::LogGroup",
      Properties: { LogGroupName: { "Fn::Sub": `/aws/lambda/\${AWS::StackName}-${id}` }, RetentionInDays: 1 },
    },
    [id]: {
      Type: "AWS::Lambda::Function",
      DependsOn: [`${id}Log`],
      Properties: {
        ...{ FunctionName: named(id), Runtime: "nodejs24.x", Architectures: ["arm64"], Handler: "index.handler" },
        ...{ MemorySize: 1024, Timeout: 10, Role: arn("Role"), Code: { ZipFile: code }, Environment: { Variables: environment } },
        ...more,
      },
    },
  };
}

/** A queue whose function sends each message back to it, and the queue of what has ended. */
function loop(id: "Allow" | "Terminate"): object {
  return {
    [`${id}Dead`]: { Type: "AWS::SQS::Queue", Properties: {} },
    [`${id}Queue`]: {
      Type: "AWS::SQS::Queue",
      Properties: { VisibilityTimeout: 30, RedrivePolicy: { deadLetterTargetArn: arn(`${id}Dead`), maxReceiveCount: 1 } },
    },
    ...lambda(id, { code: LOOP_CODE, environment: { LOOP: ref(`${id}Queue`), END: ref(`${id}Dead`) }, more: { RecursiveLoop: id } }),
    [`${id}Source`]: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: {
        ...{ FunctionName: ref(id), EventSourceArn: arn(`${id}Queue`) },
        ...{ BatchSize: 10, MaximumBatchingWindowInSeconds: BATCH_WINDOW_S },
      },
    },
  };
}

/** Variables that the code of notify demands, of things that are not there. */
const NOTIFY_ENVIRONMENT = {
  ...{ TABLE_NAME: "none", CLUSTERS: '[{"name":"check","sources":["notify","sweep"]}]', NOTIFY_TOKEN: "arn:aws:secretsmanager:none" },
  ...Object.fromEntries(["PROVISION", "CLAIM", "DISRUPTION", "CATALOG"].map((name) => [`${name}_QUEUE_URL`, "https://sqs.invalid/none"])),
};

/** Two loops, with Lambda's guard off and on, a function for cold starts, and a queue for message groups. */
export function loopTemplate(): string {
  const statement = (Action: readonly string[], Resource: unknown) => ({ Effect: "Allow", Action, Resource });
  const queues = ["Allow", "Terminate"].flatMap((id) => [arn(`${id}Queue`), arn(`${id}Dead`)]);
  const Role = {
    Type: "AWS::IAM::Role",
    Properties: {
      AssumeRolePolicyDocument: {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
      },
      Policies: [
        {
          PolicyName: "check",
          PolicyDocument: {
            Version: "2012-10-17",
            Statement: [
              statement(["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], queues),
              statement(["logs:CreateLogStream", "logs:PutLogEvents"], {
                "Fn::Sub": `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/\${AWS::StackName}-*`,
              }),
            ],
          },
        },
      ],
    },
  };
  const Outputs = {
    ...Object.fromEntries(["AllowQueue", "AllowDead", "TerminateQueue", "TerminateDead", "Groups"].map((id) => [id, { Value: ref(id) }])),
    ...{ Cold: { Value: ref("Cold") }, RoleArn: { Value: arn("Role") } },
  };
  return JSON.stringify({
    Resources: {
      ...{ Role, ...loop("Allow"), ...loop("Terminate"), Groups: { Type: "AWS::SQS::Queue", Properties: {} } },
      ...lambda("Cold", { code: EMPTY_CODE, environment: NOTIFY_ENVIRONMENT }),
    },
    Outputs,
  });
}

/**
 * A table as the stack has it, and a queue that SQS refuses once the table is there. CloudFormation itself finds
 * nothing wrong with it.
 */
export function rollbackTemplate(runId: string): string {
  const nowhere = { "Fn::Sub": `arn:\${AWS::Partition}:sqs:\${AWS::Region}:\${AWS::AccountId}:\${AWS::StackName}-none` };
  return JSON.stringify({
    Resources: {
      Table: {
        ...{ Type: "AWS::DynamoDB::Table", DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" },
        Properties: {
          ...{ TableName: tableName(runId), BillingMode: "PAY_PER_REQUEST" },
          ...{ AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }], KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }] },
        },
      },
      Refused: {
        ...{ Type: "AWS::SQS::Queue", DependsOn: ["Table"] },
        Properties: { RedrivePolicy: { deadLetterTargetArn: nowhere, maxReceiveCount: 1 } },
      },
    },
  });
}
