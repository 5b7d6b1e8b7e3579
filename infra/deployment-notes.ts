import type { ClusterSettings, DeploymentSettings } from "./settings.ts";

/** What each key of the settings file means, for docs/settings.md. A key without its note does not compile. */

/** Every key of the settings file (infra/clusters.json). */
export const DEPLOYMENT: Readonly<Record<keyof DeploymentSettings, string>> = {
  accessEntries: "makes EKS access entries for the functions; without them an operator maps their roles (outputs `…RoleArn`)",
  admission: "makes the admission function, which refuses bad manifests when they are written and converts v1beta1",
  scrape:
    "makes the metrics function, which Prometheus and others scrape ([metrics](metrics-and-events.md#scraping)), and adds up what all functions count",
  admissionConcurrency: "concurrency that is reserved for admission and that it cannot exceed; 0 reserves none",
  alarmTopicArn: "the SNS topic that alarms go to; without it there are no alarms",
  architecture: "`arm64` or `x86_64`",
  assetsBucket: "an S3 bucket of this account and region for the functions' code, in place of the one that `cdk bootstrap` makes",
  callerCidrs: "the addresses from which a `restApi` may be called, such as `198.51.100.7/32`; all when absent",
  callerVpcEndpointIds: "the VPC endpoints of `execute-api` by which alone a `restApi`, then private, is called",
  clusters: "the clusters, at least one; see below",
  createNodeRoles: "makes the role `KarpenterNodeRole-NAME` and an instance profile of each cluster",
  createWindowsNodeRoles:
    "makes the role `KarpenterNodeRole-NAME-windows` of each cluster too, which an EC2NodeClass of Windows names: a role has one access entry, and that of Windows nodes has the type `EC2_WINDOWS`",
  dashboard:
    "makes a dashboard in CloudWatch of what `CLOUDWATCH_METRICS` sends ([dashboards](operate.md#dashboards)); $3 a month beyond the third of an account",
  enforceTls: "queues refuse plain HTTP; false only for local stand-ins of AWS",
  ephemeral: "the table is deleted with the stack: for trials",
  eventBus: "the EventBridge bus of this account and region that announcements are sent to: `default`, or another's name",
  kmsKeyArn:
    "ARN of a customer managed key for table, queues, secrets, logs and the functions' environment; [its policy](security.md#a-key-of-your-own) must admit the services",
  logRetentionDays: "how long the functions' logs are kept, one of the numbers that CloudWatch Logs offers",
  notifyConcurrency: "concurrency that is reserved for notify and that it cannot exceed; 0 reserves none",
  permissionsBoundary: "ARN of the managed policy that bounds every role of the stack; not those in other accounts",
  publicUrl:
    "how API servers reach notify and admission: `functionUrl`, `apiGateway` (an HTTP API, for regions or organizations without function URLs), `restApi` (a REST API, whose policy can say who calls) or `none` (by nothing that the stack makes)",
  region: "the region, so that the synthesis refuses what it does not have; AWS_REGION when absent",
  rolePath: "path of the roles that CloudFormation names, such as `/platform/`; not of node roles, nor of roles in other accounts",
  settings: "Karpenter's settings, by their names; see below",
  stackName: "name of the stack, and the beginning of the names of functions, log groups and schedules. SAM may be given another",
  tags: "tags of every resource of the stack",
  vpc: "`subnetIds` (two or more) and `securityGroupIds` of the functions that call API servers, for API servers that only a VPC reaches. The cluster's security group must admit them at port 443; the VPC needs a way to AWS's APIs: NAT, or endpoints (docs/deploy.md, \"Private API servers\")",
};

/** Every key of a cluster in the settings file. */
export const CLUSTER: Readonly<Record<keyof ClusterSettings, string>> = {
  account: "the cluster's AWS account, when it is not the stack's",
  auditPattern: "how the subscription selects audit records: `json` or, where JSON patterns are not available, `text`",
  caBundle: "authority of the API server's certificate, PEM in base64; EKS is asked when absent",
  endpoint: "URL of the API server; EKS is asked when absent",
  externalId: "the external id that the roles in the cluster's account require",
  logGroup: "log group of the cluster's audit records; `/aws/eks/NAME/cluster` when absent",
  name: "the EKS cluster's name",
  nodeRoles: "the roles that nodes may have, by name and, if a role has one, path; `KarpenterNodeRole-NAME` when absent",
  sources: "where wake-ups come from: `audit`, `notify`, `sweep`; the sweep is always on",
};
