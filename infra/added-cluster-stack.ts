import { CfnOutput, Stack, type StackProps, Tags } from "aws-cdk-lib";
import { AccountRootPrincipal } from "aws-cdk-lib/aws-iam";
import { CfnPermission } from "aws-cdk-lib/aws-lambda";
import { CfnSubscriptionFilter } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { VERSION } from "#settings/version.ts";
import { auditFilterPattern } from "./audit-pattern.ts";
import { letRoleIn, makeNodeRole } from "./clusters.ts";
import { DEPLOYED } from "./deployed.ts";
import { FUNCTION_NAMES, FUNCTIONS, type FunctionName } from "./functions.ts";
import { applyHouseRules } from "./house-rules.ts";
import { capital } from "./lambda.ts";
import { cloudStatements, WITH_ADDED_ROLES } from "./policies.ts";
import { roleWith } from "./policy-size.ts";
import { accessPath } from "./role-names.ts";
import type { ClusterSettings, DeploymentSettings } from "./settings.ts";

/** A cluster that is added to a stack that runs. */
export interface AddedCluster {
  /** Those of the functions' stack; its clusters are not asked for. */
  readonly settings: DeploymentSettings;
  readonly cluster: ClusterSettings;
  readonly createNodeRoles: boolean;
  /** ARNs of the functions' roles, as the outputs of their stack say. */
  readonly functionRoles: Readonly<Partial<Record<FunctionName, string>>>;
  /** The ARN of the audit function, if the stack has one. */
  readonly auditArn?: string;
}

interface AddedClusterStackProps extends StackProps {
  readonly added: AddedCluster;
}

/**
 * What a cluster that is added to a stack needs in the account of both: access entries for the functions, a role for
 * what lifecycle and catalog do to its instances and instance profiles, its node role, and the subscription of its
 * audit log. The functions' own stack stays as it is.
 */
export class AddedClusterStack extends Stack {
  constructor(scope: Construct, id: string, { added, ...props }: AddedClusterStackProps) {
    const { settings, cluster, createNodeRoles, functionRoles, auditArn } = added;
    super(scope, id, {
      description: `karpenter-serverless: lets the functions of ${settings.stackName} serve cluster ${cluster.name}`,
      ...props,
    });
    this.templateOptions.metadata = { [DEPLOYED]: { version: VERSION, cluster, createNodeRoles } };
    Tags.of(this).add("app.kubernetes.io/name", "karpenter-serverless");
    // The path of roles says whose they are, and begins with the organization's.
    applyHouseRules(this, { ...settings, rolePath: "/" });
    for (const name of FUNCTION_NAMES) {
      const role = functionRoles[name];
      if (FUNCTIONS[name].inClusters && role !== undefined && settings.accessEntries) letRoleIn(this, cluster.name, name, role);
    }
    for (const name of WITH_ADDED_ROLES) this.#makeRole(name, added);
    if (createNodeRoles) makeNodeRole(this, cluster.name, settings.accessEntries, "linux");
    if (settings.createWindowsNodeRoles) makeNodeRole(this, cluster.name, settings.accessEntries, "windows");
    if (auditArn !== undefined && cluster.sources.includes("audit")) this.#subscribe(cluster, auditArn, settings.stackName);
    new CfnOutput(this, "Version", { value: VERSION });
    new CfnOutput(this, "ServedBy", { value: settings.stackName });
    new CfnOutput(this, "Cluster", { value: cluster.name });
    if (createNodeRoles) new CfnOutput(this, "ClustersWithNodeRole", { value: cluster.name });
  }

  /** Only the function of this name may assume it. CloudFormation names it: IAM takes no name beyond 64 characters. */
  #makeRole(name: (typeof WITH_ADDED_ROLES)[number], { settings, cluster, functionRoles }: AddedCluster): void {
    const owner = functionRoles[name];
    if (owner === undefined) throw new Error(`stack ${settings.stackName} does not say the role of its function ${name}`);
    const role = roleWith(this, `${capital(name)}Role`, cloudStatements(name, [cluster], settings.settings, []), {
      path: `${accessPath(settings)}${name}/`,
      description: `What ${settings.stackName}-${name} may do to ${cluster.name}`,
      assumedBy: new AccountRootPrincipal().withConditions({ ArnEquals: { "aws:PrincipalArn": owner } }),
    });
    new CfnOutput(this, `${capital(name)}RoleArn`, { value: role.roleArn });
  }

  #subscribe(cluster: ClusterSettings, auditArn: string, filterName: string): void {
    const logGroupName = cluster.logGroup ?? `/aws/eks/${cluster.name}/cluster`;
    const permission = new CfnPermission(this, "AuditPermission", {
      ...{ action: "lambda:InvokeFunction", functionName: auditArn, principal: "logs.amazonaws.com", sourceAccount: this.account },
      sourceArn: `arn:${this.partition}:logs:${this.region}:${this.account}:log-group:${logGroupName}:*`,
    });
    const filterPattern = auditFilterPattern(cluster.auditPattern);
    const filter = new CfnSubscriptionFilter(this, "AuditFilter", { logGroupName, filterName, destinationArn: auditArn, filterPattern });
    // CloudWatch Logs invokes the function when the filter is created.
    filter.node.addDependency(permission);
  }
}
