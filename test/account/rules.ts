import { evaluate, type Question, type Statement } from "../e2e/iam/policy.ts";

// What a real account refuses when CloudFormation makes a resource, each rule with the document that it is from.
// MiniStack refuses none of it.

/** An account as a test wants it. */
export interface AccountSettings {
  readonly region: string;
  readonly account: string;
  /** Concurrent executions of Lambda. */
  readonly lambdaLimit: number;
  /** Types that a proactive control refuses, with the control's name. */
  readonly hooks: Readonly<Record<string, string>>;
  /** The person's own policies. */
  readonly identity: readonly Statement[];
  /** Service control policies of the organization. */
  readonly scp: readonly Statement[];
  /** Clusters that EKS knows, and their authentication mode. */
  readonly clusters: Readonly<Record<string, string>>;
  /** What EKS says of a cluster, where it is not as the fake has it: fields of DescribeCluster's answer. */
  readonly described?: Readonly<Record<string, unknown>>;
  /** The person's credentials have run out. */
  readonly isSignedOut?: boolean;
  /** Log groups that are there, with the number of their subscription filters. */
  readonly logGroups: Readonly<Record<string, number>>;
  /** Roles that are there. */
  readonly roles: readonly string[];
  /** ARNs of access entries by "CLUSTER ROLE-ARN". */
  readonly accessEntries: readonly string[];
  /** Services that the policy of each key admits. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** Types of resources that the region does not have. */
  readonly missingTypes: readonly string[];
  /** Ids of subnets that are there. */
  readonly subnets: readonly string[];
}

export interface Made {
  readonly type: string;
  readonly logicalId: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Rule {
  /** Where AWS says so. */
  readonly document: string;
  readonly types: readonly string[];
  /** AWS's message when it refuses; undefined when it makes the resource. */
  readonly refuse: (made: Made, account: AccountSettings, made_before: readonly Made[]) => string | undefined;
}

/** Lambda keeps so many executions unreserved; a new account has no more than 10 in all. */
const UNRESERVED = 100;

export const RULES: Readonly<Record<string, Rule>> = {
  "reserved concurrency": {
    document: "AWS Lambda Developer Guide, Configuring reserved concurrency",
    types: ["AWS::Lambda::Function"],
    refuse: (made, { lambdaLimit }, before) => {
      const reserved = (one: Made): number => Number(one.properties["ReservedConcurrentExecutions"] ?? 0);
      if (reserved(made) === 0) return undefined;
      const minimum = Math.min(UNRESERVED, lambdaLimit);
      const left = lambdaLimit - [...before, made].reduce((sum, one) => sum + reserved(one), 0);
      return left < minimum
        ? `Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below its minimum value of [${minimum}].`
        : undefined;
    },
  },
  "proactive controls": {
    document: "AWS Control Tower Controls Reference, CT.LAMBDA.PR.2 and CT.LAMBDA.PR.5; CloudFormation User Guide, Hooks",
    types: ["AWS::Lambda::Url", "AWS::Lambda::Permission", "AWS::ApiGatewayV2::Api", "AWS::ApiGateway::RestApi"],
    refuse: ({ type, properties }, { hooks }) => {
      const hook = hooks[type];
      // A permission is public when it names everybody without saying whose resource calls.
      const isPublic = type !== "AWS::Lambda::Permission" || (properties["Principal"] === "*" && properties["SourceArn"] === undefined);
      return hook !== undefined && isPublic ? `The following hook(s) failed: [${hook}]` : undefined;
    },
  },
  "access entries": {
    document: "Amazon EKS API Reference, CreateAccessEntry, Errors; EKS User Guide, Change authentication mode",
    types: ["AWS::EKS::AccessEntry"],
    refuse: ({ properties }, { clusters, accessEntries }) => {
      const cluster = String(properties["ClusterName"]);
      const mode = clusters[cluster];
      if (mode === undefined) return `No cluster found for name: ${cluster}. (Service: Eks, Status Code: 404)`;
      if (mode === "CONFIG_MAP")
        return "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation. (Service: Eks, Status Code: 400)";
      return accessEntries.includes(`${cluster} ${String(properties["PrincipalArn"])}`)
        ? "The specified access entry resource is already in use on this cluster. (Service: Eks, Status Code: 409)"
        : undefined;
    },
  },
  "subscription filters": {
    document: "Amazon CloudWatch Logs User Guide, CloudWatch Logs quotas (2 subscription filters for each log group)",
    types: ["AWS::Logs::SubscriptionFilter"],
    refuse: ({ properties }, { logGroups }) => {
      const filters = logGroups[String(properties["LogGroupName"])];
      if (filters === undefined) return "The specified log group does not exist. (Service: CloudWatchLogs, Status Code: 400)";
      return filters >= 2 ? "Resource limit exceeded. (Service: CloudWatchLogs, Status Code: 400)" : undefined;
    },
  },
  "named roles": {
    document: "AWS CloudFormation Template Reference, AWS::IAM::Role, RoleName (names must be unique within the account)",
    types: ["AWS::IAM::Role"],
    refuse: ({ properties }, { roles, account }) => {
      const name = properties["RoleName"];
      return typeof name === "string" && roles.includes(name)
        ? `Resource of type 'AWS::IAM::Role' with identifier '${name}' already exists in account ${account}.`
        : undefined;
    },
  },
  "keys of logs": {
    document: "Amazon CloudWatch Logs User Guide, Encrypt log data using AWS KMS, Step 2: Set permissions on the KMS key",
    types: ["AWS::Logs::LogGroup"],
    refuse: ({ properties }, { keys, region, account }) => {
      const key = properties["KmsKeyId"];
      if (typeof key !== "string" || keys[key]?.includes(`logs.${region}.amazonaws.com`)) return undefined;
      return `The specified KMS key does not exist or is not allowed to be used with Arn 'arn:aws:logs:${region}:${account}:log-group:${String(properties["LogGroupName"])}'`;
    },
  },
  "subnets of functions": {
    document: "AWS Lambda API Reference, CreateFunction, Errors (InvalidParameterValueException)",
    types: ["AWS::Lambda::Function"],
    refuse: ({ properties }, { subnets }) => {
      const { SubnetIds = [] } = (properties["VpcConfig"] ?? {}) as { readonly SubnetIds?: readonly string[] };
      const missing = SubnetIds.find((id) => !subnets.includes(id));
      return missing === undefined ? undefined : `The subnet ID '${missing}' does not exist (Service: Ec2, Status Code: 400)`;
    },
  },
  "policies of the person and of the organization": {
    document: "AWS IAM User Guide, Policy evaluation logic; AWS Organizations User Guide, SCP evaluation",
    types: ["*"],
    refuse: (made, account) => {
      for (const question of questionsOf(made, account)) {
        const refusal = refusalOf(question, account);
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  },
};

/** Why the account does not make a resource, with the rule's name; undefined when it does. */
export function judgeResource(
  made: Made,
  account: AccountSettings,
  before: readonly Made[],
): { readonly rule: string; readonly message: string } | undefined {
  for (const [rule, { types, refuse }] of Object.entries(RULES)) {
    if (!types.includes("*") && !types.includes(made.type)) continue;
    const message = refuse(made, account, before);
    if (message !== undefined) return { rule, message };
  }
  return undefined;
}

/** Why IAM refuses a call of the person, in AWS's words; undefined when it is allowed. */
export function refusalOf(question: Question, { identity, scp, account }: AccountSettings): string | undefined {
  const who = `User: arn:aws:sts::${account}:assumed-role/Installer/me is not authorized to perform: ${question.action} on resource: ${question.resource}`;
  const denied = scp.filter(({ Effect }) => Effect === "Deny");
  const asked = evaluate([{ Effect: "Allow", Action: ["*"], Resource: ["*"] }, ...denied], question);
  if (!asked.allowed) return `${who} with an explicit deny in a service control policy`;
  return evaluate(identity, question).allowed ? undefined : `${who} because no identity-based policy allows the ${question.action} action`;
}

/**
 * What CloudFormation asks in the person's name to make a resource, with the condition keys of the Service
 * Authorization Reference.
 */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGateway::Deployment": ["apigateway:POST"],
  "AWS::ApiGateway::Method": ["apigateway:PUT"],
  "AWS::ApiGateway::Resource": ["apigateway:POST"],
  "AWS::ApiGateway::RestApi": ["apigateway:POST", "apigateway:UpdateRestApiPolicy"],
  "AWS::ApiGateway::Stage": ["apigateway:POST"],
  "AWS::ApiGatewayV2::Api": ["apigateway:POST"],
  "AWS::ApiGatewayV2::Integration": ["apigateway:POST"],
  "AWS::ApiGatewayV2::Route": ["apigateway:POST"],
  "AWS::ApiGatewayV2::Stage": ["apigateway:POST"],
  "AWS::CloudWatch::Alarm": ["cloudwatch:PutMetricAlarm"],
  "AWS::CloudWatch::Dashboard": ["cloudwatch:PutDashboard"],
  "AWS::DynamoDB::Table": [
    "dynamodb:CreateTable",
    "dynamodb:DescribeTable",
    "dynamodb:UpdateTimeToLive",
    "dynamodb:UpdateContinuousBackups",
  ],
  "AWS::EKS::AccessEntry": ["eks:CreateAccessEntry"],
  "AWS::Events::Rule": ["events:PutRule", "events:PutTargets"],
  "AWS::IAM::InstanceProfile": ["iam:CreateInstanceProfile", "iam:AddRoleToInstanceProfile"],
  "AWS::IAM::ManagedPolicy": ["iam:CreatePolicy", "iam:AttachRolePolicy"],
  "AWS::IAM::Policy": ["iam:PutRolePolicy"],
  "AWS::IAM::Role": ["iam:CreateRole", "iam:PutRolePolicy"],
  "AWS::Lambda::EventInvokeConfig": ["lambda:PutFunctionEventInvokeConfig"],
  "AWS::Lambda::EventSourceMapping": ["lambda:CreateEventSourceMapping"],
  "AWS::Lambda::Function": ["lambda:CreateFunction", "lambda:PutFunctionRecursionConfig", "iam:PassRole"],
  "AWS::Lambda::Permission": ["lambda:AddPermission"],
  "AWS::Lambda::Url": ["lambda:CreateFunctionUrlConfig"],
  "AWS::Logs::LogGroup": ["logs:CreateLogGroup", "logs:PutRetentionPolicy"],
  "AWS::Logs::SubscriptionFilter": ["logs:PutSubscriptionFilter"],
  "AWS::SQS::Queue": ["sqs:CreateQueue"],
  "AWS::SQS::QueuePolicy": ["sqs:SetQueueAttributes"],
  "AWS::Scheduler::Schedule": ["scheduler:CreateSchedule", "iam:PassRole"],
  "AWS::SecretsManager::Secret": ["secretsmanager:CreateSecret", "secretsmanager:GetRandomPassword"],
};

function questionsOf({ type, logicalId, properties }: Made, { region, account }: AccountSettings): readonly Question[] {
  const actions = ACTIONS[type];
  if (actions === undefined) return [{ action: "nothing:known", resource: type, context: {} }];
  const tags = properties["Tags"] ?? [];
  const list = Array.isArray(tags)
    ? (tags as readonly { readonly Key: string; readonly Value: string }[])
    : Object.entries(tags).map(([Key, Value]) => ({ Key, Value: String(Value) }));
  const service = (type.split("::")[1] ?? "").toLowerCase();
  return actions.map((action) => ({
    action,
    resource:
      action.startsWith("iam:") && type !== "AWS::IAM::Role"
        ? `arn:aws:iam::${account}:role/karpenter-serverless-x`
        : type === "AWS::IAM::Role"
          ? `arn:aws:iam::${account}:role${String(properties["Path"] ?? "/")}${String(properties["RoleName"] ?? `karpenter-serverless-${logicalId}`)}`
          : `arn:aws:${service}:${region}:${account}:${String(properties["FunctionName"] ?? logicalId)}`,
    context: {
      "aws:RequestedRegion": region,
      "aws:CalledVia": ["cloudformation.amazonaws.com"],
      "aws:TagKeys": list.map(({ Key }) => Key),
      ...Object.fromEntries(list.map(({ Key, Value }) => [`aws:RequestTag/${Key}`, Value])),
      ...(typeof properties["PermissionsBoundary"] === "string" && { "iam:PermissionsBoundary": properties["PermissionsBoundary"] }),
      ...(typeof properties["AuthType"] === "string" && { "lambda:FunctionUrlAuthType": properties["AuthType"] }),
      ...(action === "iam:PassRole" && {
        "iam:PassedToService": type === "AWS::Lambda::Function" ? "lambda.amazonaws.com" : "scheduler.amazonaws.com",
      }),
    },
  }));
}
