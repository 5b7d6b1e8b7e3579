import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it, vi } from "vitest";
import { makeApp } from "#infra/app.ts";
import { auditFilterPattern } from "#infra/audit-pattern.ts";
import { eventSourceOf, FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { samTemplate } from "#infra/sam.ts";
import { parseSettings } from "#infra/settings.ts";
import { settingsFrom } from "#infra/synthesis.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const outDir = temporaryFolder("stack");

function synthesize(value: object, dir: string): Template {
  const { app, stack } = makeApp({
    settings: parseSettings(value, "test"),
    outDir: join(outDir, dir),
    code: () => Code.fromInline("exports.handler = async () => {};"),
    extraEnvironment: { AWS_ENDPOINT_URL_EC2: "http://127.0.0.1:1" },
  });
  // Synthesis runs cdk-nag and throws when it finds what is not acknowledged; the template is taken from what it wrote.
  app.synth();
  return Template.fromStack(stack);
}

const all = ["audit", "notify", "sweep"];
const template = synthesize(
  {
    clusters: [
      { name: "c1", sources: all },
      { name: "c2", sources: ["audit", "sweep"], auditPattern: "text" },
    ],
    createNodeRoles: true,
    admission: true,
    scrape: true,
    alarmTopicArn: "arn:aws:sns:us-west-2:111122223333:on-call",
  },
  "two",
);

interface Statement {
  readonly Sid?: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: object;
}

/** The statements of a function's role. */
function statementsOf(name: string): readonly Statement[] {
  const roles = template.findResources("AWS::IAM::Role");
  const role = Object.entries(roles).find(([id]) => id.toLowerCase().startsWith(`${name}role`))?.[1];
  return (role?.["Properties"].Policies ?? []).flatMap(
    (policy: { PolicyDocument: { Statement: Statement[] } }) => policy.PolicyDocument.Statement,
  );
}

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);
const actionsOf = (name: string): readonly string[] => statementsOf(name).flatMap(({ Action }) => list(Action));

describe("the stack", () => {
  it("the stack has every function", () => {
    template.resourceCountIs("AWS::Lambda::Function", FUNCTION_NAMES.length);
    for (const name of FUNCTION_NAMES) {
      template.hasResourceProperties("AWS::Lambda::Function", {
        FunctionName: `karpenter-serverless-${name}`,
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        Architectures: ["arm64"],
        MemorySize: FUNCTIONS[name].memory,
        Timeout: FUNCTIONS[name].timeoutSeconds,
        LoggingConfig: { LogGroup: Match.anyValue() },
        Environment: {
          Variables: Match.objectLike({
            AWS_ENDPOINT_URL_EC2: "http://127.0.0.1:1",
            CLUSTERS: '[{"name":"c1","sources":["audit","notify","sweep"]},{"name":"c2","sources":["audit","sweep"]}]',
          }),
        },
      });
    }
    template.allResourcesProperties("AWS::Logs::LogGroup", { RetentionInDays: 14 });
  });

  it("Lambda ends no chain of messages that leads back to its function: each function of a loop allows it", () => {
    const arnOf = (value: unknown): string => (value as { "Fn::GetAtt"?: [string] })["Fn::GetAtt"]?.[0] ?? "";
    const functions = Object.entries(template.findResources("AWS::Lambda::Function"));
    const startedBy = new Map(
      Object.values(template.findResources("AWS::Lambda::EventSourceMapping")).map(({ Properties }) => [
        arnOf(Properties.EventSourceArn),
        Properties.FunctionName.Ref as string,
      ]),
    );
    const next = new Map(
      functions.map(([id, { Properties }]) => {
        const sends = statementsOf(Properties.FunctionName.replace("karpenter-serverless-", "")).filter(({ Action }) =>
          list(Action).includes("sqs:SendMessage"),
        );
        return [id, sends.flatMap(({ Resource }) => list(Resource).flatMap((arn) => startedBy.get(arnOf(arn)) ?? []))];
      }),
    );
    const reached = (id: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const to of next.get(id) ?? []) if (!seen.has(to)) reached(to, seen.add(to));
      return seen;
    };
    const inLoops = functions.filter(([id]) => reached(id).has(id)).map(([, { Properties }]) => Properties.FunctionName);
    expect(inLoops.toSorted()).toEqual(["catalog", "disruption", "lifecycle", "provision"].map((name) => `karpenter-serverless-${name}`));
    const allowing = functions.filter(([, { Properties }]) => Properties.RecursiveLoop === "Allow");
    expect(allowing.map(([, { Properties }]) => Properties.FunctionName).toSorted()).toEqual(inLoops.toSorted());
  });

  it("the stack says its clusters and its version in outputs, the version on its functions too, and on nothing that an upgrade would not change anyway", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    template.hasOutput("Version", { Value: version });
    template.hasOutput("Clusters", { Value: "c1,c2" });
    template.hasOutput("ClustersWithNodeRole", { Value: "c1,c2" });
    const resources = Object.values(template.toJSON()["Resources"] as Readonly<Record<string, { readonly Type: string }>>);
    const tagged = resources.filter((resource) => JSON.stringify(resource).includes("app.kubernetes.io/version"));
    expect(new Set(tagged.map(({ Type }) => Type))).toEqual(new Set(["AWS::Lambda::Function"]));
    expect(tagged).toHaveLength(FUNCTION_NAMES.length);
  });

  it("the table outlives its stack, but not a creation that failed, and expired items are deleted", () => {
    template.hasResource("AWS::DynamoDB::Table", {
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        GlobalSecondaryIndexes: [Match.objectLike({ IndexName: "byInstance", Projection: { ProjectionType: "ALL" } })],
        TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        // A key that AWS owns, which costs nothing.
        SSESpecification: { SSEEnabled: false },
        // It would end the rollback of a failed creation in ROLLBACK_FAILED.
        DeletionProtectionEnabled: Match.absent(),
      },
    });
  });

  it("what keeps its name after it is deleted has no fixed name, so that a failed deployment can be repeated at once", () => {
    const kept = ["AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::SecretsManager::Secret", "AWS::S3::Bucket"];
    const resources = Object.entries(template.toJSON()["Resources"] as Record<string, { Type: string; Properties?: object }>);
    const named = resources.filter(
      ([, { Type, Properties = {} }]) =>
        kept.includes(Type) && Object.keys(Properties).some((key) => /^(Table|Queue|Bucket)?Name$/.test(key)),
    );
    expect(named.map(([id]) => id)).toEqual([]);
    expect(resources.filter(([, { Type }]) => kept.includes(Type)).length).toBeGreaterThan(10);
  });

  it("each queue has a dead-letter queue, and each of those an alarm where a topic is named", () => {
    const queues = Object.entries(template.findResources("AWS::SQS::Queue"));
    const isDead = ([id]: [string, object]): boolean => /^[A-Z][a-z]+DeadLetters/.test(id);
    expect(queues.filter((queue) => !isDead(queue) && queue[1]["Properties"].RedrivePolicy === undefined)).toEqual([]);
    expect(queues.filter((queue) => !isDead(queue)).length).toBe(5);
    const watched = Object.values(template.findResources("AWS::CloudWatch::Alarm")).filter(
      ({ Properties }) => Properties.Namespace === "AWS/SQS",
    );
    expect(watched.length).toBe(queues.filter(isDead).length);
    template.hasResourceProperties("AWS::Lambda::EventInvokeConfig", {
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
  });

  it("decisions of one cluster run one after another, and failures are reported per message", () => {
    const fifo = template.findResources("AWS::SQS::Queue", { Properties: { FifoQueue: true, DelaySeconds: 1 } });
    expect(Object.keys(fifo)).toEqual([expect.stringMatching(/^ProvisionQueue/)]);
    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 5);
    template.allResourcesProperties("AWS::Lambda::EventSourceMapping", { FunctionResponseTypes: ["ReportBatchItemFailures"] });
  });

  it.for([
    { clusters: 1, sources: ["provision 10 -", "lifecycle 10 20", "interruption 10 10", "disruption 10 10", "catalog 10 5"] },
    { clusters: 50, sources: ["provision 1 -", "lifecycle 10 100", "interruption 10 100", "disruption 1 100", "catalog 10 100"] },
    { clusters: 900, sources: ["provision 1 -", "lifecycle 10 1000", "interruption 10 1000", "disruption 1 1000", "catalog 10 1000"] },
  ])(
    "of $clusters cluster(s) each has its own share of concurrency, and decisions of several are never in one batch",
    ({ clusters, sources }) => {
      const found = FUNCTION_NAMES.flatMap((name) => {
        const { queue } = FUNCTIONS[name];
        if (queue === undefined) return [];
        const { batchSize, maxConcurrency = "-" } = eventSourceOf(queue, clusters);
        return [`${name} ${batchSize} ${maxConcurrency}`];
      });
      expect(found).toEqual(sources);
    },
  );

  it("a message is visible again only after its function has timed out, and long before it expires", () => {
    const queues = Object.entries(template.findResources("AWS::SQS::Queue"));
    for (const { queue, timeoutSeconds } of Object.values(FUNCTIONS)) {
      if (queue === undefined) continue;
      const fed = queues.find(([id]) => id.toLowerCase().startsWith(`${queue}queue`))?.[1]["Properties"];
      expect(fed?.VisibilityTimeout, queue).toBeGreaterThanOrEqual(2 * timeoutSeconds);
      // A message that kills each invocation becomes a dead letter before it expires.
      expect(fed?.MessageRetentionPeriod, queue).toBeGreaterThanOrEqual(fed?.RedrivePolicy.maxReceiveCount * fed?.VisibilityTimeout);
    }
  });

  it("interruption events reach the queue", () => {
    template.hasResourceProperties("AWS::SQS::Queue", {
      MessageRetentionPeriod: 300,
      VisibilityTimeout: 40,
      SqsManagedSseEnabled: true,
    });
    template.resourceCountIs("AWS::Events::Rule", 5);
    template.hasResourceProperties("AWS::Events::Rule", {
      EventPattern: { source: ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] },
    });
    template.hasResourceProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Principal: { Service: "events.amazonaws.com" }, Action: Match.arrayWith(["sqs:SendMessage"]) }),
        ]),
      },
    });
  });

  it("queues refuse calls without TLS", () => {
    template.allResourcesProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } })]),
      },
    });
  });

  it("sweeps run each minute", () => {
    const schedules = Object.values(template.findResources("AWS::Scheduler::Schedule")).map(
      ({ Properties }) => `${Properties.Name} ${Properties.ScheduleExpression} ${Properties.Target.Input}`,
    );
    expect(schedules.sort()).toEqual([
      'karpenter-serverless-catalog-prices rate(12 hours) {"kind":"prices"}',
      'karpenter-serverless-catalog-sweep rate(1 minute) {"kind":"sweep"}',
      'karpenter-serverless-disruption-sweep rate(1 minute) {"kind":"sweep"}',
      'karpenter-serverless-lifecycle-sweep rate(1 minute) {"kind":"sweep"}',
      'karpenter-serverless-provision-sweep rate(1 minute) {"kind":"sweep"}',
    ]);
  });

  it("each cluster's audit log has a subscription", () => {
    for (const [name, pattern] of [
      ["c1", "json"],
      ["c2", "text"],
    ] as const) {
      template.hasResource("AWS::Logs::SubscriptionFilter", {
        Properties: {
          LogGroupName: `/aws/eks/${name}/cluster`,
          FilterPattern: auditFilterPattern(pattern),
          DestinationArn: Match.anyValue(),
        },
        DependsOn: [Match.stringLikeRegexp(`AuditOf${name}`)],
      });
    }
    template.hasResourceProperties("AWS::Lambda::Permission", {
      Principal: "logs.amazonaws.com",
      SourceAccount: { Ref: "AWS::AccountId" },
      SourceArn: { "Fn::Join": ["", Match.arrayWith([":log-group:/aws/eks/c1/cluster:*"])] },
    });
  });

  it.for(["Notify", "Admission"])("the clusters' webhooks have a secret path: %s", (name) => {
    const [[secret = "", { Properties }] = ["", { Properties: {} }]] = Object.entries(
      template.findResources("AWS::SecretsManager::Secret"),
    ).filter(([id]) => id.startsWith(name));
    expect(Properties.GenerateSecretString).toEqual({ PasswordLength: 48, ExcludePunctuation: true, IncludeSpace: false });
    expect(statementsOf(name.toLowerCase())).toContainEqual(
      expect.objectContaining({ Action: "secretsmanager:GetSecretValue", Resource: { Ref: secret } }),
    );
    template.hasOutput(`${name}TokenArn`, { Value: { Ref: secret } });
    template.hasResourceProperties("AWS::Lambda::Url", {
      AuthType: "NONE",
      TargetFunctionArn: { "Fn::GetAtt": [Match.stringLikeRegexp(`^${name}`), "Arn"] },
    });
    template.hasResourceProperties("AWS::Lambda::Function", {
      FunctionName: `karpenter-serverless-${name.toLowerCase()}`,
      Environment: { Variables: Match.objectLike({ [`${name.toUpperCase()}_TOKEN`]: { Ref: secret } }) },
    });
    template.hasOutput(`${name}Url`, {});
  });

  it("each function has access to each cluster as its own group, and no function as more", () => {
    template.resourcePropertiesCountIs("AWS::EKS::AccessEntry", { Type: "STANDARD" }, 12);
    template.resourcePropertiesCountIs("AWS::EKS::AccessEntry", { Type: "EC2_LINUX" }, 2);
    template.hasResourceProperties("AWS::EKS::AccessEntry", {
      ClusterName: "c2",
      Username: "karpenter-serverless:disruption",
      KubernetesGroups: ["karpenter-serverless:disruption"],
    });
    for (const { Properties } of Object.values(template.findResources("AWS::EKS::AccessEntry")))
      expect(Properties.AccessPolicies).toBeUndefined();
  });
});

it("a resource waits for no other that its properties name already", () => {
  const repeated = Object.entries(
    template.toJSON()["Resources"] as Record<string, { Properties?: unknown; DependsOn?: string | string[] }>,
  ).flatMap(([id, { Properties, DependsOn = [] }]) =>
    list(DependsOn).flatMap((other) => (JSON.stringify(Properties).includes(`"Fn::GetAtt":["${other}"`) ? [`${id}: ${other}`] : [])),
  );
  expect(repeated).toEqual([]);
});

describe("least privilege", () => {
  it.for(FUNCTION_NAMES)("%s has no wildcard action, and all resources only for actions without resources", (name) => {
    expect(statementsOf(name).length).toBeGreaterThan(0);
    for (const { Action, Resource } of statementsOf(name)) {
      for (const action of list(Action)) expect(action).not.toContain("*");
      if (list(Resource).includes("*")) {
        for (const action of list(Action)) expect(action).toMatch(/^(ec2:Describe|pricing:GetProducts$)/);
      }
    }
  });

  it("admission may only write its log, read which clusters were added, and read its token", () => {
    expect(actionsOf("admission")).toEqual([
      "logs:CreateLogStream",
      "logs:PutLogEvents",
      "dynamodb:Query",
      "secretsmanager:GetSecretValue",
    ]);
  });

  it.for([
    { action: "ec2:CreateFleet", who: ["lifecycle"] },
    { action: "ec2:TerminateInstances", who: ["lifecycle"] },
    { action: "iam:PassRole", who: ["lifecycle", "catalog"] },
    { action: "iam:CreateInstanceProfile", who: ["catalog"] },
    { action: "dynamodb:PutItem", who: ["provision", "lifecycle", "interruption", "disruption", "catalog"] },
    { action: "eks:DescribeCluster", who: ["provision", "lifecycle", "interruption", "disruption", "catalog", "metrics"] },
    { action: "dynamodb:UpdateItem", who: ["provision", "lifecycle", "interruption", "disruption", "catalog", "metrics"] },
  ])("only $who may $action", ({ action, who }) => {
    expect(FUNCTION_NAMES.filter((name) => actionsOf(name).includes(action))).toEqual(who);
  });

  it("no function writes which clusters are served", () => {
    const writes = FUNCTION_NAMES.flatMap(statementsOf).filter(({ Action }) =>
      list(Action).some((action) => /^dynamodb:(Put|Update|Delete|BatchWrite)/.test(action)),
    );
    expect(writes.length).toBeGreaterThan(0);
    for (const { Sid, Condition } of writes)
      if (Sid !== "AddUpMetrics") expect(Condition).toEqual({ "ForAllValues:StringNotEquals": { "dynamodb:LeadingKeys": ["clusters"] } });
  });

  it("what is added up for scrapers is in the sums of metrics, and nothing is where no scraper is asked for", () => {
    const sums = FUNCTION_NAMES.flatMap((name) => statementsOf(name).filter(({ Sid }) => Sid === "AddUpMetrics"));
    expect(sums).toHaveLength(6);
    for (const { Condition } of sums) expect(Condition).toEqual({ "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["metrics#*"] } });
    const without = JSON.stringify(synthesize({ clusters: [{ name: "c1" }] }, "unscraped").toJSON());
    for (const part of ["AddUpMetrics", "SUM_METRICS", "MetricsToken", "karpenter-serverless-metrics"]) expect(without).not.toContain(part);
  });

  it("all writes to EC2 and IAM are limited to the clusters' tags, roles or path", () => {
    const changes = [...statementsOf("lifecycle"), ...statementsOf("catalog")].filter(({ Action }) =>
      list(Action).some((action) => /^(ec2:(?!Describe)|iam:(?!Get|List))/.test(action)),
    );
    const untied = changes.filter(({ Condition }) => Condition === undefined).map(({ Sid }) => Sid);
    // What a launch only points to: images, subnets and so on. What it makes is in the other statements.
    expect(untied).toEqual(["LaunchFrom"]);
    expect(JSON.stringify(changes)).toContain('"aws:ResourceTag/eks:eks-cluster-name":["c1","c2"]');
  });

  it("instance profiles are tagged only under the paths of these clusters, and not over the tags of another cluster", () => {
    const [tag, ...others] = statementsOf("catalog").filter(({ Action }) => list(Action).includes("iam:TagInstanceProfile"));
    expect(others).toEqual([]);
    expect(list(tag?.Action ?? [])).toEqual(["iam:TagInstanceProfile"]);
    const paths = list(tag?.Resource).map((resource) => /\{"Ref":"AWS::Region"\},"([^"]*)"/.exec(JSON.stringify(resource))?.[1]);
    expect(paths).toEqual(["/c1/*", "/c2/*"]);
    expect(tag?.Condition).toMatchObject({
      StringEquals: { "aws:RequestTag/eks:eks-cluster-name": ["c1", "c2"] },
      StringEqualsIfExists: { "aws:ResourceTag/eks:eks-cluster-name": ["c1", "c2"] },
    });
  });

  it("node roles are those that the settings name, with their paths", () => {
    const named = synthesize({ clusters: [{ name: "c1", nodeRoles: ["team-a/nodes", "Karpenter-c1"] }] }, "node-roles");
    const roles = JSON.stringify(named.findResources("AWS::IAM::Role"));
    for (const role of [":role/team-a/nodes", ":role/Karpenter-c1"]) expect(roles).toContain(role);
    expect(roles).not.toContain("KarpenterNodeRole-");
  });

  it("only the nodes' roles may be passed", () => {
    const [pass] = statementsOf("lifecycle").filter(({ Action }) => list(Action).includes("iam:PassRole"));
    const roles = list(pass?.Resource).map((resource) => /role\/[\w-]+/.exec(JSON.stringify(resource))?.[0]);
    expect(roles).toEqual(["role/KarpenterNodeRole-c1", "role/KarpenterNodeRole-c2"]);
  });

  it("each function may send only to the queues that it wakes", () => {
    for (const name of FUNCTION_NAMES) {
      const wake = statementsOf(name).filter(({ Action }) => list(Action).includes("sqs:SendMessage"));
      const dead = name === "audit" ? 1 : 0;
      expect(wake.flatMap(({ Resource }) => list(Resource)).length, name).toBe(FUNCTIONS[name].sends.length + dead);
    }
  });
});

describe("settings", () => {
  it("a stack of fifty clusters passes cdk-nag and IAM's limits, and has its concurrency", { timeout: 120_000 }, () => {
    const many = synthesize(
      { clusters: Array.from({ length: 50 }, (_, i) => ({ name: `production-${i}` })), accessEntries: false },
      "fifty",
    );
    expect(Object.keys(many.findResources("AWS::IAM::ManagedPolicy")).length).toBeGreaterThan(0);
    many.hasResource("AWS::Lambda::Function", { DependsOn: Match.arrayWith([Match.stringLikeRegexp("^LifecycleRoleMore0")]) });
    many.hasResourceProperties("AWS::Lambda::EventSourceMapping", { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 100 } });
  });

  it("every role has the boundary, the path and the tags that an organization asks for", () => {
    const permissionsBoundary = "arn:aws:iam::111122223333:policy/platform/boundary";
    const house = { permissionsBoundary, rolePath: "/platform/", tags: { "cost-centre": "42" } };
    const made = synthesize({ clusters: [{ name: "c1" }], createNodeRoles: true, ...house }, "house");
    const roles = Object.values(made.findResources("AWS::IAM::Role")).map(({ Properties }) => Properties);
    expect(roles.length).toBeGreaterThan(7);
    for (const role of roles) {
      expect(role.PermissionsBoundary).toBe(permissionsBoundary);
      // Node roles are passed by their name without a path.
      expect(role.Path).toBe(role.RoleName === undefined ? "/platform/" : undefined);
      expect(role.Tags).toContainEqual({ Key: "cost-centre", Value: "42" });
    }
    made.hasResourceProperties("AWS::DynamoDB::Table", { Tags: Match.arrayWith([{ Key: "cost-centre", Value: "42" }]) });
  });

  it("nodes of Windows get a role with an access entry of their type, which the functions may pass beside the others", () => {
    const made = synthesize(
      { clusters: [{ name: "c1" }, { name: "c2", nodeRoles: ["mine"] }], createNodeRoles: true, createWindowsNodeRoles: true },
      "windows",
    );
    const entries = Object.values(made.findResources("AWS::EKS::AccessEntry")).map(({ Properties }) => Properties);
    for (const ClusterName of ["c1", "c2"]) {
      const types = entries.filter((entry) => entry.ClusterName === ClusterName).map(({ Type }) => Type);
      expect(types.filter((type) => type !== "STANDARD").sort()).toEqual(["EC2_LINUX", "EC2_WINDOWS"]);
      made.hasResourceProperties("AWS::IAM::Role", { RoleName: `KarpenterNodeRole-${ClusterName}-windows` });
    }
    const passed = JSON.stringify(made.toJSON());
    for (const role of ["KarpenterNodeRole-c1", "KarpenterNodeRole-c1-windows", "mine", "KarpenterNodeRole-c2-windows"])
      expect(passed, role).toContain(`:role/${role}"`);
  });

  it("API servers reach the functions by API Gateway where the settings say so, with the same token", () => {
    const made = synthesize({ clusters: [{ name: "c1" }], admission: true, scrape: true, publicUrl: "apiGateway" }, "api");
    made.resourceCountIs("AWS::Lambda::Url", 0);
    made.resourceCountIs("AWS::ApiGatewayV2::Api", 3);
    // The version whose events have the form of a function URL's.
    made.allResourcesProperties("AWS::ApiGatewayV2::Integration", { PayloadFormatVersion: "2.0" });
    made.hasOutput("NotifyUrl", {});
    for (const { Properties } of Object.values(made.findResources("AWS::Lambda::Permission"))) expect(Properties.Principal).not.toBe("*");
    const none = synthesize({ clusters: [{ name: "c1" }], publicUrl: "none" }, "no-url");
    for (const type of ["AWS::Lambda::Url", "AWS::ApiGatewayV2::Api"]) none.resourceCountIs(type, 0);
    expect(none.findOutputs("NotifyUrl")).toEqual({});
  });

  it("a REST API is called at one method by whom its policy admits, and another policy is another deployment", () => {
    const api = (more: object, dir: string): Template => synthesize({ clusters: [{ name: "c1" }], publicUrl: "restApi", ...more }, dir);
    const open = api({}, "rest");
    open.resourceCountIs("AWS::Lambda::Url", 0);
    open.hasResourceProperties("AWS::ApiGateway::RestApi", { EndpointConfiguration: { Types: ["REGIONAL"] } });
    open.allResourcesProperties("AWS::ApiGateway::Method", { HttpMethod: "POST", Integration: { Type: "AWS_PROXY" } });
    open.hasOutput("UrlKind", { Value: "restApi" });
    const closed = api({ callerCidrs: ["198.51.100.7/32"] }, "rest-cidr");
    closed.hasResourceProperties("AWS::ApiGateway::RestApi", {
      Policy: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: "Deny", Condition: { NotIpAddress: { "aws:SourceIp": ["198.51.100.7/32"] } } }),
        ]),
      },
    });
    const deploymentOf = (made: Template) => Object.keys(made.findResources("AWS::ApiGateway::Deployment"));
    expect(deploymentOf(closed)).not.toEqual(deploymentOf(open));
    const inside = api({ callerVpcEndpointIds: ["vpce-0a1b"] }, "rest-private");
    inside.hasResourceProperties("AWS::ApiGateway::RestApi", {
      EndpointConfiguration: { Types: ["PRIVATE"], VpcEndpointIds: ["vpce-0a1b"] },
      Policy: { Statement: Match.arrayWith([Match.objectLike({ Condition: { StringNotEquals: { "aws:SourceVpce": ["vpce-0a1b"] } } })]) },
    });
    expect(JSON.stringify(inside.findOutputs("NotifyUrl"))).toContain("-vpce-0a1b.execute-api.");
  });

  it("who calls is said of a REST API only", () => {
    expect(() => parseSettings({ clusters: [{ name: "a" }], callerCidrs: ["198.51.100.7/32"] }, "test")).toThrow(
      'test: callerCidrs is the policy of a REST API; set publicUrl to "restApi", or leave callerCidrs out.',
    );
    expect(() => parseSettings({ clusters: [{ name: "a" }], publicUrl: "restApi", callerCidrs: ["anybody"] }, "test")).toThrow(
      "callerCidrs.0 is no CIDR",
    );
  });

  it("a key of the customer's own encrypts table, queues, secrets, logs and environments, and functions use it by way of these services", () => {
    const kmsKeyArn = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const made = synthesize({ clusters: [{ name: "c1", sources: all }], admission: true, scrape: true, kmsKeyArn }, "key");
    made.allResourcesProperties("AWS::DynamoDB::Table", { SSESpecification: { SSEType: "KMS", KMSMasterKeyId: kmsKeyArn } });
    made.allResourcesProperties("AWS::SQS::Queue", { KmsMasterKeyId: kmsKeyArn, SqsManagedSseEnabled: Match.absent() });
    made.allResourcesProperties("AWS::SecretsManager::Secret", { KmsKeyId: kmsKeyArn });
    made.allResourcesProperties("AWS::Logs::LogGroup", { KmsKeyId: kmsKeyArn });
    made.allResourcesProperties("AWS::Lambda::Function", { KmsKeyArn: kmsKeyArn });
    const roles = Object.entries(made.findResources("AWS::IAM::Role")).filter(([id]) => !id.startsWith("Scheduler"));
    expect(roles).toHaveLength(FUNCTION_NAMES.length);
    for (const [id, { Properties }] of roles) {
      const own = (Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]).flatMap(
        (policy) => policy.PolicyDocument.Statement,
      );
      const use = own.find(({ Sid }) => Sid === "UseKey");
      expect(use?.Condition, id).toHaveProperty(["StringEquals", "kms:ViaService"]);
    }
  });

  it.for([
    { region: "eu-central-2", more: {}, refused: true },
    { region: "us-east-1", more: {}, refused: false },
    { region: "eu-central-2", more: { publicUrl: "apiGateway" }, refused: false },
    { region: "eu-central-2", more: { clusters: [{ name: "a", sources: ["sweep"] }] }, refused: false },
    { region: "eu-central-2", more: { clusters: [{ name: "a", sources: ["sweep"] }], admission: true }, refused: true },
  ])("a region without function URLs is refused where one is needed: $region $more", ({ region, more, refused }) => {
    const parse = () => parseSettings({ clusters: [{ name: "a" }], region, ...more }, "test");
    if (refused) expect(parse).toThrow("test: eu-central-2 has no Lambda function URLs; set publicUrl to");
    else expect(parse).not.toThrow();
  });

  it("what no cluster uses is left out, on another architecture too", () => {
    const small = synthesize(
      {
        clusters: [{ name: "c1", sources: ["sweep"] }],
        architecture: "x86_64",
        ephemeral: true,
        accessEntries: false,
      },
      "small",
    );
    small.resourceCountIs("AWS::Lambda::Function", 5);
    small.allResourcesProperties("AWS::Lambda::Function", { Architectures: ["x86_64"] });
    small.resourceCountIs("AWS::Lambda::Url", 0);
    small.resourceCountIs("AWS::SecretsManager::Secret", 0);
    small.resourceCountIs("AWS::EKS::AccessEntry", 0);
    small.hasResource("AWS::DynamoDB::Table", { DeletionPolicy: "Delete" });
  });

  it("no concurrency is reserved unless the settings ask for it, because new accounts have none to reserve", () => {
    const reserved = (settings: object): readonly unknown[] =>
      Object.values(
        synthesize({ clusters: [{ name: "c1" }], admission: true, ...settings }, "reserved").findResources("AWS::Lambda::Function"),
      )
        .map(({ Properties }) => [Properties.FunctionName.replace("karpenter-serverless-", ""), Properties.ReservedConcurrentExecutions])
        .filter(([, concurrency]) => concurrency !== undefined);
    expect(reserved({})).toEqual([]);
    expect(reserved({ notifyConcurrency: 20, admissionConcurrency: 5 })).toEqual([
      ["notify", 20],
      ["admission", 5],
    ]);
  });

  it("what the queues start at once is bounded, and so is what a flood of wake-ups can use", () => {
    const sources = Object.entries(template.findResources("AWS::Lambda::EventSourceMapping"));
    const bounded = sources.map(([id, { Properties }]) => [id.replace(/Source.*$/, ""), Properties.ScalingConfig?.MaximumConcurrency]);
    // Provision's queue is FIFO: one invocation at a time for each cluster.
    expect(Object.fromEntries(bounded)).toEqual({ Provision: undefined, Lifecycle: 20, Disruption: 10, Catalog: 5, Interruption: 10 });
  });

  it("only functions that talk to clusters are in the VPC", () => {
    const vpc = { subnetIds: ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"], securityGroupIds: ["sg-0123456789abcdef0"] };
    const inVpc = synthesize({ clusters: [{ name: "c1", sources: all }], scrape: true, vpc }, "vpc");
    const names = Object.values(inVpc.findResources("AWS::Lambda::Function", { Properties: { VpcConfig: { SubnetIds: vpc.subnetIds } } }));
    expect(names.map(({ Properties }) => Properties.FunctionName)).toEqual(
      FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters).map((name) => `karpenter-serverless-${name}`),
    );
  });

  it("only the functions that announce may put events, and only on the configured bus", () => {
    const put = (made: Template) =>
      Object.entries(made.findResources("AWS::IAM::Role")).flatMap(([id, { Properties }]) =>
        ((Properties.Policies ?? []) as readonly { PolicyDocument: { Statement: readonly Statement[] } }[])
          .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
          .filter(({ Action }) => list(Action).includes("events:PutEvents"))
          .map(({ Resource }) => ({ role: id.replace(/Role.*$/, "").toLowerCase(), resource: JSON.stringify(Resource) })),
      );
    const named = (made: Template) =>
      Object.values(made.findResources("AWS::Lambda::Function"))
        .filter(({ Properties }) => Properties.Environment.Variables.EVENT_BUS_NAME === "decisions")
        .map(({ Properties }) => Properties.FunctionName.replace("karpenter-serverless-", ""));
    const withAnnouncements = synthesize({ clusters: [{ name: "c1", sources: all }], eventBus: "decisions" }, "bus");
    const who = ["provision", "lifecycle", "interruption", "disruption"];
    expect(put(withAnnouncements).map(({ role }) => role)).toEqual(who);
    for (const { resource } of put(withAnnouncements)) expect(resource).toMatch(/:event-bus\/decisions"\]\]}$/);
    expect(named(withAnnouncements)).toEqual(who);
    expect(put(template)).toEqual([]);
    expect(JSON.stringify(template.toJSON())).not.toContain("EVENT_BUS_NAME");
  });

  it("settings are read from the CDK's context", () => {
    vi.stubEnv("CDK_CONTEXT_JSON", '{"clusters":"a,b"}');
    expect(settingsFrom([]).settings.clusters.map(({ name }) => name)).toEqual(["a", "b"]);
    vi.unstubAllEnvs();
  });

  it.for([
    { name: "no clusters", value: { clusters: [] }, says: "test: clusters names no cluster" },
    { name: "a bad name", value: { clusters: [{ name: "a/b" }] }, says: "test: clusters.0.name is no EKS cluster name" },
    { name: "a cluster twice", value: { clusters: [{ name: "a" }, { name: "a" }] }, says: "cluster a is named twice" },
    {
      name: "a retention that CloudWatch Logs does not offer",
      value: { clusters: [{ name: "a" }], logRetentionDays: 20 },
      says: "test: logRetentionDays must be one of 1, 3, 5, 7, 14, 30,",
    },
    { name: "a bad node role", value: { clusters: [{ name: "a", nodeRoles: ["/x"] }] }, says: "clusters.0.nodeRoles.0 is no role name" },
    {
      name: "a bad log group",
      value: { clusters: [{ name: "a", logGroup: "a b" }] },
      says: "clusters.0.logGroup is no name of a log group",
    },
    { name: "a bad bus", value: { clusters: [{ name: "a" }], eventBus: "arn:aws:events:x" }, says: "test: eventBus is no event bus name" },
    {
      name: "a bad level",
      value: { clusters: [{ name: "a" }], settings: { LOG_LEVEL: "loud" } },
      says: "test: settings.LOG_LEVEL: set it to",
    },
    {
      name: "a bad gate",
      value: { clusters: [{ name: "a" }], settings: { FEATURE_GATES: "Foo=1" } },
      says: "test: settings.FEATURE_GATES: set it to",
    },
    {
      name: "a scheduler's configuration that is neither YAML nor JSON",
      value: { clusters: [{ name: "a" }], settings: { SCHEDULER_CONFIG: "podTopologySpread: {" } },
      says: "test: settings.SCHEDULER_CONFIG: is neither YAML nor JSON: Flow map",
    },
    {
      name: "default constraints that kube-scheduler would refuse",
      value: {
        clusters: [{ name: "a" }],
        settings: {
          SCHEDULER_CONFIG: "podTopologySpread: { defaultConstraints: [{ topologyKey: zone, whenUnsatisfiable: DoNotSchedule }] }",
        },
      },
      says: "test: settings.SCHEDULER_CONFIG: podTopologySpread.defaultConstraints[0].maxSkew must be a whole number above 0",
    },
    {
      name: "a setting of no function",
      value: { clusters: [{ name: "a" }], settings: { NOPE: "1" } },
      says: "settings has NOPE, which is none",
    },
    { name: "a missing name", value: { clusters: [{ nam: "a" }] }, says: "test: clusters.0.name is missing; it must be text" },
    { name: "a bad source", value: { clusters: [{ name: "a", sources: ["x"] }] }, says: "sources.0 must be one of audit, notify, sweep" },
    { name: "an unknown key", value: { clusters: [{ name: "a" }], cluster: 1 }, says: "cluster" },
  ])("$name is refused in one sentence", ({ value, says }) => {
    expect(() => parseSettings(value, "test")).toThrow(says);
  });

  it("the scheduler's configuration may be YAML, and reaches the functions as JSON", () => {
    const SCHEDULER_CONFIG = `
podTopologySpread:
  defaultConstraints:
    - { maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway }
`;
    const { settings } = parseSettings({ clusters: [{ name: "a" }], settings: { SCHEDULER_CONFIG } }, "test");
    expect(JSON.parse(settings["SCHEDULER_CONFIG"] ?? "")).toEqual({
      podTopologySpread: {
        defaultConstraints: [{ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" }],
      },
    });
  });

  it("the code goes to the bucket that the settings name, so that no bootstrap is needed", () => {
    const bucketOf = (args: readonly string[]): string => {
      const { settings } = settingsFrom(["--clusters", "a", ...args]);
      const { app } = makeApp({ settings, outDir: join(outDir, `bucket${args.length}`), code: () => Code.fromAsset(import.meta.dirname) });
      app.synth();
      return readFileSync(join(outDir, `bucket${args.length}`, "karpenter-serverless.assets.json"), "utf8");
    };
    expect(bucketOf([])).toContain("cdk-hnb659fds-assets-");
    const own = bucketOf(["--assets-bucket", "my-own-bucket"]);
    expect(own).toContain('"bucketName": "my-own-bucket"');
    expect(own).not.toContain("cdk-hnb659fds");
  });

  it("the node roles can be asked for on the command line", () => {
    expect(settingsFrom(["--clusters", "a", "--create-node-roles"]).settings.createNodeRoles).toBe(true);
  });

  it("settings are read from the command line", () => {
    const { settings, outDir: out } = settingsFrom([
      "--clusters",
      "a,b",
      "--sources",
      "audit,sweep",
      "--architecture",
      "x86_64",
      "--stack",
      "s",
      "--out",
      "o",
    ]);
    expect(settings).toMatchObject({
      stackName: "s",
      architecture: "x86_64",
      clusters: [{ name: "a", sources: ["audit", "sweep"] }, { name: "b" }],
    });
    expect(out).toBe("o");
  });
});

describe("the SAM template", () => {
  const sam = samTemplate(parseSettings({ clusters: [{ name: "c1", sources: all }], admission: true, scrape: true }, "test")) as {
    readonly Transform: string;
    readonly Parameters?: object;
    readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }>>;
  };
  const cdk = synthesize({ clusters: [{ name: "c1", sources: all }], admission: true, scrape: true }, "one").toJSON()[
    "Resources"
  ] as Readonly<Record<string, { readonly Type: string }>>;

  it("the SAM template has the CDK's resources, with the functions' code next to it", () => {
    expect(sam.Transform).toBe("AWS::Serverless-2016-10-31");
    // The stack asks nothing: it makes its secrets itself.
    expect(sam.Parameters).toBeUndefined();
    const typeOf = (type: string): string => (type === "AWS::Lambda::Function" ? "AWS::Serverless::Function" : type);
    expect(Object.entries(sam.Resources).map(([id, { Type }]) => [id, Type])).toEqual(
      Object.entries(cdk).map(([id, { Type }]) => [id, typeOf(Type)]),
    );
    const functions = Object.values(sam.Resources).filter(({ Type }) => Type === "AWS::Serverless::Function");
    expect(functions.map(({ Properties }) => Properties["CodeUri"])).toEqual(FUNCTION_NAMES.map((name) => `./${name}`));
    for (const { Properties } of functions) expect(Properties).not.toHaveProperty("Code");
  });

  it("the SAM template names everything by the stack that it is deployed as, and nothing otherwise", () => {
    const settings = (stackName: string) =>
      parseSettings(
        {
          stackName,
          clusters: [
            { name: "c1", sources: all },
            { name: "theirs", account: "222233334444" },
          ],
        },
        "test",
      );
    const { Resources, Outputs, Metadata } = samTemplate(settings("spare")) as Readonly<
      Record<"Resources" | "Outputs" | "Metadata", object>
    >;
    const deployed = JSON.stringify({ Resources, Outputs });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
    expect(deployed).toContain('"FunctionName":{"Fn::Sub":"${AWS::StackName}-provision"}');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
    expect(deployed).toContain('{"Fn::Sub":":iam::222233334444:role/${AWS::StackName}-theirs-provision"}');
    expect(deployed).not.toMatch(/spare|AwsStackName/);
    expect(JSON.stringify(Metadata)).toContain('"stackName":"spare"');
  });

  it("a cluster's account takes the functions of no stack of another name", () => {
    const settings = parseSettings({ stackName: "spare", clusters: [{ name: "c1" }, { name: "theirs", account: "222233334444" }] }, "test");
    const { access } = makeApp({ settings, outDir: join(outDir, "spare"), code: () => Code.fromInline("0") });
    const { AllowedPattern } = Template.fromStack(access[0] as Stack).toJSON()["Parameters"]["InterruptionQueueArn"];
    const queue = (stack: string): string => `arn:aws:sqs:us-west-2:111122223333:${stack}-InterruptionQueue1A2B-3C4D`;
    expect(queue("spare")).toMatch(new RegExp(AllowedPattern));
    expect(queue("karpenter-serverless")).not.toMatch(new RegExp(AllowedPattern));
  });
});

it("an audit pattern is within the limit of CloudWatch Logs", () => {
  expect(auditFilterPattern("json").length).toBeLessThanOrEqual(1024);
});
