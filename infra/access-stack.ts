import { Aws, CfnOutput, CfnParameter, Fn, Stack, type StackProps, Tags } from "aws-cdk-lib";
import { CfnRule } from "aws-cdk-lib/aws-events";
import { ArnPrincipal, type IPrincipal, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { letIn, makeNodeRole } from "./clusters.ts";
import { FUNCTION_NAMES, FUNCTIONS, type FunctionName, isMade } from "./functions.ts";
import { applyHouseRules } from "./house-rules.ts";
import { INTERRUPTION_RULES } from "./interruption-rules.ts";
import { capital } from "./lambda.ts";
import { cloudStatements } from "./policies.ts";
import { roleWith } from "./policy-size.ts";
import { noticesRoleName, roleNameInAccount } from "./role-names.ts";
import type { ClusterSettings, DeploymentSettings } from "./settings.ts";

interface AccessStackProps extends StackProps {
  readonly settings: DeploymentSettings;
  /** A cluster in another account than the functions. */
  readonly cluster: ClusterSettings;
}

/**
 * What a cluster's own account holds when the functions run in another: a role for each function, which only that
 * function may assume, EKS access entries for these roles, and rules that forward EC2's notices. It is deployed in the
 * cluster's account, with the functions' interruption queue as a parameter.
 */
export class AccessStack extends Stack {
  readonly cluster: ClusterSettings;
  /** The account that the functions run in. */
  readonly #owner: string;
  readonly #queueArn: string;
  readonly #settings: DeploymentSettings;

  constructor(scope: Construct, id: string, { settings, cluster, ...props }: AccessStackProps) {
    super(scope, id, {
      description: `karpenter-serverless: lets the functions of another account reach cluster ${cluster.name}`,
      ...props,
    });
    this.cluster = cluster;
    this.#settings = settings;
    this.#queueArn = new CfnParameter(this, "InterruptionQueueArn", {
      description: "The output InterruptionQueueArn of the functions' stack, whose account the roles here trust",
      // CloudFormation begins the queue's name with that of its stack, and the roles here trust functions of this name.
      allowedPattern: `^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:${settings.stackName}-.+$`,
      constraintDescription: `It must be the output InterruptionQueueArn of a stack named ${settings.stackName}; for a stack of another name make this template with --stack NAME.`,
    }).valueAsString;
    this.#owner = Fn.select(4, Fn.split(":", this.#queueArn));
    Tags.of(this).add("app.kubernetes.io/name", "karpenter-serverless");
    // The boundary is a policy of the functions' account.
    applyHouseRules(this, { tags: settings.tags, rolePath: "/" });
    for (const name of FUNCTION_NAMES) {
      if (FUNCTIONS[name].inClusters && isMade(name, settings)) this.#makeRole(name);
    }
    if (settings.createNodeRoles) makeNodeRole(this, cluster.name, settings.accessEntries, "linux");
    if (settings.createWindowsNodeRoles) makeNodeRole(this, cluster.name, settings.accessEntries, "windows");
    this.#sendNotices();
  }

  #makeRole(name: FunctionName): void {
    const { cluster } = this;
    const statements = cloudStatements(name, [cluster], this.#settings.settings);
    const role = roleWith(this, `${capital(name)}Role`, statements, {
      roleName: roleNameInAccount(this.#settings.stackName, cluster.name, name),
      description: `What ${this.#settings.stackName}-${name} may do to ${cluster.name}`,
      assumedBy: this.#function(name),
    });
    if (this.#settings.accessEntries) letIn(this, cluster.name, name, role);
    new CfnOutput(this, `${capital(name)}RoleArn`, { value: role.roleArn });
  }

  /**
   * The function's role in its own account. CloudFormation ends the role's name with random characters, so the account
   * is trusted for roles whose name begins like it.
   */
  #function(name: FunctionName): IPrincipal {
    const { externalId } = this.cluster;
    const role = `arn:${Aws.PARTITION}:iam::${this.#owner}:role${this.#settings.rolePath}${this.#settings.stackName}-${capital(name)}Role*`;
    return new ArnPrincipal(`arn:${Aws.PARTITION}:iam::${this.#owner}:root`).withConditions({
      ArnLike: { "aws:PrincipalArn": role },
      ...(externalId !== undefined && { StringEquals: { "sts:ExternalId": externalId } }),
    });
  }

  /** EventBridge may put events into a queue of another account with a role that the queue's policy names. */
  #sendNotices(): void {
    const { stackName } = this.#settings;
    const send = new PolicyStatement({ sid: "SendNotices", actions: ["sqs:SendMessage"], resources: [this.#queueArn] });
    const role = new Role(this, "NoticesRole", {
      roleName: noticesRoleName(stackName, this.cluster.name),
      assumedBy: new ServicePrincipal("events.amazonaws.com", { conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } } }),
      inlinePolicies: { own: new PolicyDocument({ statements: [send] }) },
    });
    for (const [name, { source, detailType, detail }] of Object.entries(INTERRUPTION_RULES)) {
      new CfnRule(this, `${name}Rule`, {
        eventPattern: { source, "detail-type": detailType, ...(detail && { detail }) },
        targets: [{ id: "interruption", arn: this.#queueArn, roleArn: role.roleArn }],
      });
    }
  }
}
