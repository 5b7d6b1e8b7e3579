import type { Stack } from "aws-cdk-lib";
import { CfnAccessEntry } from "aws-cdk-lib/aws-eks";
import { CfnInstanceProfile, type IRole, ManagedPolicy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSubscriptionFilter } from "aws-cdk-lib/aws-logs";
import { auditFilterPattern, USER_PREFIX } from "./audit-pattern.ts";
import { FUNCTIONS, type FunctionName } from "./functions.ts";
import { capital } from "./lambda.ts";
import type { ClusterSettings } from "./settings.ts";

/** What the stack makes for each cluster. */

/** Sends what matters of a cluster's audit log to the function. A log group has room for two filters, this takes one. */
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
  // CloudWatch Logs tries the function when the filter is made.
  filter.node.addDependency(audit.node.findChild(permission));
}

/** Lets a function into a cluster by its role, as the group that infra/rbac gives its rights. */
export function letIn(stack: Stack, cluster: string, name: FunctionName, role: IRole): void {
  new CfnAccessEntry(stack, `${capital(name)}In${idOf(cluster)}`, {
    clusterName: cluster,
    principalArn: role.roleArn,
    type: "STANDARD",
    username: `${USER_PREFIX}${name}`,
    kubernetesGroups: [`karpenter-serverless:${name}`],
  });
}

/** Lets all functions that talk to clusters into one. */
export function letFunctionsIn(stack: Stack, cluster: string, functions: ReadonlyMap<FunctionName, LambdaFunction>): void {
  for (const [name, { role }] of functions) {
    if (FUNCTIONS[name].inClusters && role !== undefined) letIn(stack, cluster, name, role);
  }
}

/** The construct of a cluster's node role, when the stack makes it. */
export function nodeRoleId(cluster: string): string {
  return `NodeRoleOf${idOf(cluster)}`;
}

/** The role of a cluster's nodes, with a profile for those who name profiles. `letIn` lets the nodes into the cluster. */
export function makeNodeRole(stack: Stack, cluster: string, letIn: boolean): void {
  const role = new Role(stack, nodeRoleId(cluster), {
    roleName: `KarpenterNodeRole-${cluster}`,
    assumedBy: new ServicePrincipal("ec2.amazonaws.com"),
    managedPolicies: [
      ...["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
      ...["AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"],
    ].map((policy) => ManagedPolicy.fromAwsManagedPolicyName(policy)),
  });
  new CfnInstanceProfile(stack, `NodeProfileOf${idOf(cluster)}`, {
    instanceProfileName: `KarpenterNodeInstanceProfile-${cluster}`,
    roles: [role.roleName],
  });
  if (letIn) {
    new CfnAccessEntry(stack, `NodesIn${idOf(cluster)}`, { clusterName: cluster, principalArn: role.roleArn, type: "EC2_LINUX" });
  }
}

/** A part of a logical id; CDK drops what is neither letter nor digit, which could make two names one. */
function idOf(cluster: string): string {
  return cluster.replace(/[^A-Za-z0-9]/g, (character) => `x${character.codePointAt(0)?.toString(16)}`);
}
