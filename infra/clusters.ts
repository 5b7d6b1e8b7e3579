import { Aws, type Stack } from "aws-cdk-lib";
import { CfnAccessEntry } from "aws-cdk-lib/aws-eks";
import { CfnInstanceProfile, type IRole, ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSubscriptionFilter } from "aws-cdk-lib/aws-logs";
import { auditFilterPattern, USER_PREFIX } from "./audit-pattern.ts";
import { FUNCTIONS, type FunctionName } from "./functions.ts";
import { capital } from "./lambda.ts";
import { nodeRoleName } from "./role-names.ts";
import type { ClusterSettings } from "./settings.ts";

/** The constructs of each cluster. */

/**
 * Sends the relevant records of a cluster's audit log to the function. A log group allows two subscription filters;
 * this uses one.
 */
export function subscribeToAuditLog(stack: Stack, cluster: ClusterSettings, audit: LambdaFunction): void {
  const logGroupName = cluster.logGroup ?? `/aws/eks/${cluster.name}/cluster`;
  const permission = `AuditOf${idOf(cluster.name)}`;
  audit.addPermission(permission, {
    principal: new ServicePrincipal("logs.amazonaws.com"),
    sourceAccount: stack.account,
    sourceArn: `arn:${stack.partition}:logs:${stack.region}:${stack.account}:log-group:${logGroupName}:*`,
  });
  const filter = new CfnSubscriptionFilter(stack, `AuditFilterOf${idOf(cluster.name)}`, {
    logGroupName,
    filterName: stack.stackName,
    destinationArn: audit.functionArn,
    filterPattern: auditFilterPattern(cluster.auditPattern),
  });
  // CloudWatch Logs invokes the function when the filter is created.
  filter.node.addDependency(audit.node.findChild(permission));
}

/** Gives a function access to a cluster by its role, as the group that infra/rbac gives rights to. */
export function letIn(stack: Stack, cluster: string, name: FunctionName, { roleArn }: IRole): void {
  letRoleIn(stack, cluster, name, roleArn);
}

/** The same by the ARN of a role. */
export function letRoleIn(stack: Stack, cluster: string, name: FunctionName, principalArn: string): void {
  new CfnAccessEntry(stack, `${capital(name)}In${idOf(cluster)}`, {
    clusterName: cluster,
    principalArn,
    type: "STANDARD",
    username: `${USER_PREFIX}${name}`,
    kubernetesGroups: [`karpenter-serverless:${name}`],
  });
}

/** Gives all functions that talk to clusters access to one. */
export function letFunctionsIn(stack: Stack, cluster: string, functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
  for (const [name, { role }] of functions) {
    if (FUNCTIONS[name].inClusters && role !== undefined) letIn(stack, cluster, name, role);
  }
}

type Os = "linux" | "windows";

/** The construct id of a cluster's node role, when the stack creates it. */
export function nodeRoleId(cluster: string, os: Os = "linux"): string {
  return `${os === "windows" ? "Windows" : ""}NodeRoleOf${idOf(cluster)}`;
}

/**
 * Creates the role of a cluster's nodes, with an instance profile for classes that name one. `letIn` gives the nodes
 * access to the cluster.
 */
export function makeNodeRole(stack: Stack, cluster: string, letIn: boolean, os: Os): void {
  const role = new Role(stack, nodeRoleId(cluster, os), {
    roleName: nodeRoleName(cluster, os),
    // In China IAM knows the principal with the suffix .cn only.
    assumedBy: new ServicePrincipal(`ec2.${Aws.URL_SUFFIX}`),
    managedPolicies: [
      ...["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
      ...["AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"],
    ].map((policy) => ManagedPolicy.fromAwsManagedPolicyName(policy)),
  });
  const windows = os === "windows" ? "Windows" : "";
  new CfnInstanceProfile(stack, `${windows}NodeProfileOf${idOf(cluster)}`, {
    instanceProfileName: `KarpenterNodeInstanceProfile-${cluster}${windows && "-windows"}`,
    roles: [role.roleName],
  });
  if (letIn) {
    const type = windows ? "EC2_WINDOWS" : "EC2_LINUX";
    new CfnAccessEntry(stack, `${windows}NodesIn${idOf(cluster)}`, { clusterName: cluster, principalArn: role.roleArn, type });
  }
}

/** A part of a logical id. CDK drops everything but letters and digits, which could make two names equal. */
function idOf(cluster: string): string {
  return cluster.replace(/[^A-Za-z0-9]/g, (character) => `x${character.codePointAt(0)?.toString(16)}`);
}
