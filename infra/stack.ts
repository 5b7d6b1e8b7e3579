// The CDK stack: functions, queues, schedules, rules, roles and the table. In: the deployment's settings (settings.ts)
// and the table of functions (functions.ts). Out: CloudFormation, synthesised offline by app.ts. Nothing here runs in
// Lambda, and nothing in functions/ or core/ imports it.

import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Tags } from "aws-cdk-lib";
import { AttributeType, BillingMode, CfnTable, ProjectionType, Table, TableEncryption } from "aws-cdk-lib/aws-dynamodb";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { AccountPrincipal, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import { type Code, EventSourceMapping, type Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue, QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { SETTINGS } from "#settings/setting-table.ts";
import { VERSION } from "#settings/version.ts";
import { makeAlarms, watchDeadLetters } from "./alarms.ts";
import { letFunctionsIn, makeNodeRole, subscribeToAuditLog } from "./clusters.ts";
import { makeDashboard } from "./dashboard.ts";
import { DEPLOYED, deployedOf } from "./deployed.ts";
import { eventSourceOf, FUNCTION_NAMES, FUNCTIONS, type FunctionName, isMade, QUEUES, type QueueName } from "./functions.ts";
import { applyHouseRules } from "./house-rules.ts";
import { INTERRUPTION_RULES } from "./interruption-rules.ts";
import { capital, makeFunction, type Surroundings } from "./lambda.ts";
import { makePublicUrl } from "./public-url.ts";
import { accessPath, noticesRoleName } from "./role-names.ts";
import type { ClusterSettings, DeploymentSettings } from "./settings.ts";

interface AutoscalerStackProps extends StackProps {
  readonly settings: DeploymentSettings;
  /** The code of a function: its bundle, or a stand-in in tests. */
  readonly code: (name: FunctionName) => Code;
  /** Variables of every function beside its own, such as AWS_ENDPOINT_URL_EC2. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
}

/** CloudFormation's limit for the value of an output, in bytes. */
const MAX_OUTPUT_LENGTH = 1_024;

/** One autoscaler for any number of clusters of a region, in this account and in others. */
export class AutoscalerStack extends Stack {
  readonly settings: DeploymentSettings;
  readonly #deadLetters: Queue[] = [];
  /** Of every queue. */
  readonly #encryption: Pick<QueueProps, "encryption" | "encryptionMasterKey">;

  constructor(scope: Construct, id: string, { settings, code, extraEnvironment = {}, ...props }: AutoscalerStackProps) {
    super(scope, id, { description: "karpenter-serverless: makes and removes nodes of EKS clusters", ...props });
    this.settings = settings;
    this.templateOptions.metadata = { [DEPLOYED]: deployedOf(settings) };
    Tags.of(this).add("app.kubernetes.io/name", "karpenter-serverless");
    applyHouseRules(this, settings);
    const key = settings.kmsKeyArn === undefined ? undefined : Key.fromKeyArn(this, "Key", settings.kmsKeyArn);
    this.#encryption = key === undefined ? { encryption: QueueEncryption.SQS_MANAGED } : { encryptionMasterKey: key };
    const table = this.#makeTable(key);
    const queues = {
      provision: this.#makeQueue("provision"),
      claims: this.#makeQueue("claims"),
      disruption: this.#makeQueue("disruption"),
      catalog: this.#makeQueue("catalog"),
      interruption: this.#makeQueue("interruption"),
    };
    const functions = this.#makeFunctions({ stack: this, settings, table, queues, code, extraEnvironment, ...(key && { key }) });
    this.#feed(functions, queues);
    this.#sweep(functions);
    this.#listenToInterruptions(queues.interruption);
    this.#listenToClusters(functions);
    const withRoles = settings.createNodeRoles ? this.#ownClusters() : [];
    for (const { name } of withRoles) makeNodeRole(this, name, settings.accessEntries, "linux");
    if (settings.createWindowsNodeRoles)
      for (const { name } of this.#ownClusters()) makeNodeRole(this, name, settings.accessEntries, "windows");
    this.#watch(functions);
    if (settings.dashboard) this.#show(functions);
    new CfnOutput(this, "Version", { value: VERSION });
    // What a person who installs again without saying it keeps.
    new CfnOutput(this, "UrlKind", { value: settings.publicUrl });
    const [only, ...others] = settings.clusters;
    if (only !== undefined && others.length === 0) new CfnOutput(this, "Sources", { value: only.sources.join(",") });
    this.#tellNames("Clusters", settings.clusters);
    this.#tellNames("ClustersWithNodeRole", withRoles);
    new CfnOutput(this, "TableName", { value: table.tableName });
    // That clusters can be added to the stack, and where the functions look for their roles.
    new CfnOutput(this, "AccessPath", { value: accessPath(settings) });
    const audit = functions.get("audit");
    if (audit !== undefined) new CfnOutput(this, "AuditArn", { value: audit.functionArn });
    new CfnOutput(this, "InterruptionQueueUrl", { value: queues.interruption.queueUrl });
    new CfnOutput(this, "InterruptionQueueArn", { value: queues.interruption.queueArn });
  }

  /**
   * Without a fixed name, and kept by deletions and replacements but not by a creation that is rolled back: what a
   * failed deployment leaves must not be in the way of the next one. Deletion protection would end such a rollback in
   * ROLLBACK_FAILED.
   */
  #makeTable(key: IKey | undefined): Table {
    const { ephemeral } = this.settings;
    const table = new Table(this, "Intents", {
      partitionKey: { name: "pk", type: AttributeType.STRING },
      sortKey: { name: "sk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "ttl",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A key that AWS owns: calls of KMS for the key that AWS manages in the account would be billed.
      ...(key === undefined ? { encryption: TableEncryption.DEFAULT } : { encryptionKey: key }),
      removalPolicy: ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    // Said, so that a table of an older release is changed: in place, and while it is read and written.
    if (key === undefined && table.node.defaultChild instanceof CfnTable) table.node.defaultChild.sseSpecification = { sseEnabled: false };
    // Whole records: docs/decisions/0030-the-index-keeps-whole-records.md.
    table.addGlobalSecondaryIndex({
      indexName: "byInstance",
      partitionKey: { name: "instanceId", type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    return table;
  }

  /** CloudFormation names the queues, because SQS refuses the name of a queue that was deleted in the last minute. */
  #makeQueue(name: QueueName): Queue {
    const { fifo, retentionSeconds, visibilitySeconds, maxReceives } = QUEUES[name];
    return new Queue(this, `${capital(name)}Queue`, {
      // CloudFormation refuses `fifo: false`.
      ...(fifo && { fifo }),
      deliveryDelay: Duration.seconds(QUEUES[name].delaySeconds),
      retentionPeriod: Duration.seconds(retentionSeconds),
      visibilityTimeout: Duration.seconds(visibilitySeconds),
      ...this.#encryption,
      enforceSSL: this.settings.enforceTls,
      deadLetterQueue: { queue: this.#makeDeadLetterQueue(name, fifo), maxReceiveCount: maxReceives },
    });
  }

  #makeDeadLetterQueue(name: string, fifo = false): Queue {
    const queue = new Queue(this, `${capital(name)}DeadLetters`, {
      ...(fifo && { fifo }),
      retentionPeriod: Duration.days(14),
      ...this.#encryption,
      enforceSSL: this.settings.enforceTls,
    });
    this.#deadLetters.push(queue);
    return queue;
  }

  #makeFunctions(surroundings: Surroundings): ReadonlyMap<FunctionName, LambdaFunction> {
    const wanted = FUNCTION_NAMES.filter((name) => isMade(name, this.settings));
    return new Map(
      wanted.map((name) => [name, makeFunction(name, surroundings, name === "audit" ? this.#makeDeadLetterQueue("audit") : undefined)]),
    );
  }

  #feed(functions: ReadonlyMap<FunctionName, LambdaFunction>, queues: Surroundings["queues"]): void {
    for (const [name, target] of functions) {
      const { queue } = FUNCTIONS[name];
      if (queue === undefined) continue;
      new EventSourceMapping(this, `${capital(name)}Source`, {
        target,
        eventSourceArn: queues[queue].queueArn,
        reportBatchItemFailures: true,
        ...eventSourceOf(queue, this.settings.clusters.length),
      });
    }
  }

  #sweep(functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
    const swept = [...functions].filter(([name]) => FUNCTIONS[name].schedules.length > 0);
    const invoke = new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: swept.map(([, { functionArn }]) => functionArn) });
    const role = new Role(this, "SchedulerRole", {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", { conditions: { StringEquals: { "aws:SourceAccount": this.account } } }),
      inlinePolicies: { invoke: new PolicyDocument({ statements: [invoke] }) },
    });
    for (const [name, target] of swept) {
      for (const schedule of FUNCTIONS[name].schedules) {
        new CfnSchedule(this, `${capital(name)}${capital(schedule.name)}`, {
          name: `${this.stackName}-${name}-${schedule.name}`,
          scheduleExpression: schedule.rate,
          flexibleTimeWindow: { mode: "OFF" },
          target: {
            arn: target.functionArn,
            roleArn: role.roleArn,
            input: JSON.stringify(schedule.input),
            retryPolicy: { maximumRetryAttempts: 1, maximumEventAgeInSeconds: 60 },
          },
        });
      }
    }
  }

  /** Names of clusters as an output, which install and uninstall read; none where they are too many for one. */
  #tellNames(output: string, clusters: readonly { readonly name: string }[]): void {
    const value = clusters.map(({ name }) => name).join(",");
    if (value !== "" && value.length <= MAX_OUTPUT_LENGTH) new CfnOutput(this, output, { value });
  }

  /** Clusters in the stack's own account; clusters in other accounts have stacks there (access-stack.ts). */
  #ownClusters(): readonly ClusterSettings[] {
    return this.settings.clusters.filter(({ account }) => account === undefined);
  }

  #listenToInterruptions(queue: Queue): void {
    for (const { name, account } of this.settings.clusters) {
      if (account === undefined) continue;
      const role = `arn:${this.partition}:iam::${account}:role/${noticesRoleName(this.stackName, name)}`;
      // The principal is the account with a condition, because a queue's policy may not name a role that does not exist
      // yet.
      const principals = [new AccountPrincipal(account)];
      const conditions = { ArnEquals: { "aws:PrincipalArn": role } };
      queue.addToResourcePolicy(new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn], principals, conditions }));
    }
    for (const [name, eventPattern] of Object.entries(INTERRUPTION_RULES)) {
      new Rule(this, `${name}Rule`, { eventPattern, targets: [new SqsQueue(queue)] });
    }
  }

  #listenToClusters(functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
    const audit = functions.get("audit");
    if (audit !== undefined) {
      for (const cluster of this.settings.clusters.filter(({ sources }) => sources.includes("audit")))
        subscribeToAuditLog(this, cluster, audit);
    }
    for (const name of ["notify", "admission", "metrics"] as const) {
      const target = functions.get(name);
      const url = target && makePublicUrl(this, name, target, this.settings);
      if (url !== undefined) new CfnOutput(this, `${capital(name)}Url`, { value: url });
    }
    for (const { name } of this.settings.accessEntries ? this.#ownClusters() : []) letFunctionsIn(this, name, functions);
  }

  #show(functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
    const sent = this.#sentMetrics();
    const clusters = this.settings.clusters.map(({ name }) => name);
    makeDashboard(this, { clusters, sent, functions, deadLetters: this.#deadLetters });
  }

  #sentMetrics(): string {
    return this.settings.settings["CLOUDWATCH_METRICS"] ?? SETTINGS.CLOUDWATCH_METRICS.fallback;
  }

  /** Alarms where a topic is given: each costs money, and `status` looks at the queues, too. */
  #watch(functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
    const { alarmTopicArn } = this.settings;
    if (alarmTopicArn === undefined) return;
    const topic = Topic.fromTopicArn(this, "AlarmTopic", alarmTopicArn);
    watchDeadLetters(this.#deadLetters, topic);
    makeAlarms(this, { functions, topic, sent: this.#sentMetrics(), clusters: this.settings.clusters.length });
  }
}
