import type { Template } from "./deploy.ts";

const role = (statements: readonly object[]): { Type: string; Properties: Record<string, unknown> } => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        { Effect: "Allow", Principal: { Service: ["lambda.amazonaws.com", "scheduler.amazonaws.com"] }, Action: "sts:AssumeRole" },
      ],
    },
    Policies: [{ PolicyName: "inline", PolicyDocument: { Version: "2012-10-17", Statement: statements } }],
  },
});

const lambda = (roleId: string): { Type: string; Properties: Record<string, unknown> } => ({
  Type: "AWS::Lambda::Function",
  Properties: {
    Runtime: "nodejs24.x",
    Handler: "index.handler",
    Role: { "Fn::GetAtt": [roleId, "Arn"] },
    Code: { S3Bucket: "smoke-code", S3Key: { Ref: "CodeKey" } },
    Timeout: 20,
    Environment: { Variables: { SMOKE: "yes" } },
  },
});

const arn = (id: string): object => ({ "Fn::GetAtt": [id, "Arn"] });

/** A function with all event sources of the product: queues, schedules, a rule, log events, a URL. */
export const smokeTemplate: Template = {
  Parameters: { CodeKey: { Type: "String" }, ClusterName: { Type: "String" } },
  Resources: {
    Role: role([
      {
        Effect: "Allow",
        Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
        Resource: [arn("Fifo"), arn("Notices")],
      },
      { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arn("Notices")] },
    ]),
    OtherRole: role([{ Effect: "Allow", Action: ["sqs:GetQueueAttributes"], Resource: [arn("Fifo")] }]),
    Table: {
      Type: "AWS::DynamoDB::Table",
      Properties: {
        TableName: "smoke",
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: ["kind", "id", "function"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
        KeySchema: [
          { AttributeName: "kind", KeyType: "HASH" },
          { AttributeName: "id", KeyType: "RANGE" },
        ],
        GlobalSecondaryIndexes: [
          { IndexName: "byFunction", KeySchema: [{ AttributeName: "function", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } },
        ],
      },
    },
    Entry: {
      Type: "AWS::EKS::AccessEntry",
      Properties: { ClusterName: { Ref: "ClusterName" }, PrincipalArn: arn("Role"), KubernetesGroups: ["smoke"], Type: "STANDARD" },
    },
    Toy: lambda("Role"),
    Other: lambda("OtherRole"),
    Fifo: {
      Type: "AWS::SQS::Queue",
      Properties: { QueueName: "smoke.fifo", FifoQueue: true, ContentBasedDeduplication: true, VisibilityTimeout: 2 },
    },
    FifoSource: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: {
        FunctionName: { Ref: "Toy" },
        EventSourceArn: arn("Fifo"),
        BatchSize: 10,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
      },
    },
    Notices: { Type: "AWS::SQS::Queue", Properties: { QueueName: "smoke-notices", VisibilityTimeout: 30 } },
    NoticesPolicy: {
      Type: "AWS::SQS::QueuePolicy",
      Properties: {
        Queues: [{ Ref: "Notices" }],
        PolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            { Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage", Resource: arn("Notices") },
          ],
        },
      },
    },
    NoticesSource: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: { FunctionName: { Ref: "Toy" }, EventSourceArn: arn("Notices"), BatchSize: 10 },
    },
    SpotRule: {
      Type: "AWS::Events::Rule",
      Properties: {
        EventPattern: { source: ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] },
        Targets: [{ Id: "queue", Arn: arn("Notices") }],
      },
    },
    RateRule: {
      Type: "AWS::Events::Rule",
      Properties: { ScheduleExpression: "rate(1 minute)", Targets: [{ Id: "toy", Arn: arn("Toy"), Input: '{"from":"rule"}' }] },
    },
    RulePermission: {
      Type: "AWS::Lambda::Permission",
      Properties: {
        FunctionName: { Ref: "Toy" },
        Action: "lambda:InvokeFunction",
        Principal: "events.amazonaws.com",
        SourceArn: arn("RateRule"),
      },
    },
    SchedulerRole: role([{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource: arn("Toy") }]),
    Schedule: {
      Type: "AWS::Scheduler::Schedule",
      Properties: {
        ScheduleExpression: "rate(1 minute)",
        FlexibleTimeWindow: { Mode: "OFF" },
        Target: { Arn: arn("Toy"), RoleArn: arn("SchedulerRole"), Input: '{"from":"schedule"}' },
      },
    },
    LogPermission: {
      Type: "AWS::Lambda::Permission",
      Properties: { FunctionName: { Ref: "Toy" }, Action: "lambda:InvokeFunction", Principal: "logs.amazonaws.com" },
    },
    Subscription: {
      Type: "AWS::Logs::SubscriptionFilter",
      DependsOn: "LogPermission",
      Properties: {
        LogGroupName: { "Fn::Join": ["", ["/aws/eks/", { Ref: "ClusterName" }, "/cluster"]] },
        DestinationArn: arn("Toy"),
        FilterPattern:
          '{ ($.verb = "patch") && ($.objectRef.subresource = "status") && ($.requestObject.status.conditions[0].reason = "Unschedulable") }',
      },
    } as Template["Resources"][string],
    Url: { Type: "AWS::Lambda::Url", Properties: { TargetFunctionArn: arn("Toy"), AuthType: "NONE" } },
    UrlPermission: {
      Type: "AWS::Lambda::Permission",
      Properties: { FunctionName: { Ref: "Toy" }, Action: "lambda:InvokeFunctionUrl", Principal: "*", FunctionUrlAuthType: "NONE" },
    },
  },
  Outputs: {
    ToyName: { Value: { Ref: "Toy" } },
    OtherName: { Value: { Ref: "Other" } },
    FifoUrl: { Value: { Ref: "Fifo" } },
    NoticesUrl: { Value: { Ref: "Notices" } },
    Url: { Value: { "Fn::GetAtt": ["Url", "FunctionUrl"] } },
  },
};
