import { type Stack, Validations } from "aws-cdk-lib";
import { nodeRoleId } from "./clusters.ts";
import { FUNCTION_NAMES, FUNCTIONS } from "./functions.ts";
import { capital } from "./lambda.ts";
import { WITH_ADDED_ROLES } from "./policies.ts";
import { accessPath } from "./role-names.ts";
import type { ClusterSettings, DeploymentSettings } from "./settings.ts";

/** Findings of cdk-nag that are intended: the construct, the findings, and the reason. */
interface Exception {
  readonly construct: string;
  readonly findings: readonly string[];
  readonly reason: string;
}

const wildcard = (resource: string): string => `AwsSolutions-IAM5[Resource::${resource}]`;
const ec2 = (type: string, account = "*"): string => wildcard(`arn:<AWS::Partition>:ec2:<AWS::Region>:${account}:${type}/*`);
const managed = (policy: string): string => `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`;

const EXCEPTIONS: readonly Exception[] = [
  {
    construct: "LifecycleRole",
    findings: ["security-group", "subnet", "capacity-reservation", "placement-group"]
      .map((type) => ec2(type))
      .concat(ec2("image", ""), ec2("snapshot", "")),
    reason: "A launch names what its EC2NodeClass selects, which people choose at run time; what is made must carry the cluster's tags.",
  },
  {
    construct: "LifecycleRole",
    findings: ["fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"].map((type) => ec2(type)),
    reason: "Ids are not known before they are made; each action is tied to the tags of these clusters.",
  },
  {
    construct: "LifecycleRole",
    findings: [wildcard("*")],
    reason: "EC2's Describe actions know no resources; they are tied to the region.",
  },
  {
    construct: "CatalogRole",
    findings: [wildcard("*")],
    reason: "EC2's Describe actions and the price list know no resources; the former are tied to the region.",
  },
  {
    construct: "CatalogRole",
    findings: [wildcard("arn:<AWS::Partition>:ssm:<AWS::Region>::parameter/aws/service/*")],
    reason: "AWS's own public parameters, which name the images of each Kubernetes version.",
  },
  {
    construct: "CatalogRole",
    findings: [wildcard("arn:<AWS::Partition>:iam::<AWS::AccountId>:instance-profile/karpenter/<AWS::Region>/*")],
    reason: "Profiles get a new name each time they are made; the path and these clusters' tags tie them.",
  },
  {
    construct: "CatalogRole",
    findings: [wildcard("arn:<AWS::Partition>:iam::<AWS::AccountId>:instance-profile/*")],
    reason: "Reading only: an EC2NodeClass may name any instance profile.",
  },
  {
    construct: "MetricsToken",
    findings: ["AwsSolutions-SMG4"],
    reason: "Scrapers hold the token too, so only who configures all of them can change it.",
  },
  ...["NotifyToken", "AdmissionToken"].map((construct) => ({
    construct,
    findings: ["AwsSolutions-SMG4"],
    reason: "The clusters' webhooks hold the token too, so only who can apply manifests to all of them can change it.",
  })),
  ...["NotifyApi", "AdmissionApi", "MetricsApi"].map((construct) => ({
    construct,
    findings: ["AwsSolutions-APIG1", "AwsSolutions-APIG4"],
    reason: "API servers cannot sign requests, so the path has a secret; an access log would hold that path.",
  })),
  ...["NotifyRestApi", "AdmissionRestApi", "MetricsRestApi"].map((construct) => ({
    construct,
    findings: ["AwsSolutions-APIG1", "AwsSolutions-APIG2", "AwsSolutions-APIG3", "AwsSolutions-APIG4", "AwsSolutions-APIG6"].concat(
      "AwsSolutions-COG4",
    ),
    reason:
      "API servers cannot sign requests, so the path has a secret, which a log would hold; the function judges bodies, and the API's policy can say who calls.",
  })),
  {
    construct: "AuditRole",
    findings: ["AwsSolutions-IAM5[Action::kms:ReEncrypt*]", "AwsSolutions-IAM5[Action::kms:GenerateDataKey*]"],
    reason: "The CDK writes these families of actions where a destination's queue has a key of the customer's own.",
  },
  {
    construct: "AuditDeadLetters",
    findings: ["AwsSolutions-SQS3"],
    reason: "It is the dead-letter queue of a function's failed invocations.",
  },
];

/** Of the functions' own stack: clusters are added without a change of it. */
const forAddedClusters = ({ rolePath, stackName }: DeploymentSettings): readonly Exception[] => [
  ...FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters).map((name) => ({
    construct: `${capital(name)}Role`,
    findings: [wildcard("arn:<AWS::Partition>:eks:<AWS::Region>:<AWS::AccountId>:cluster/*")],
    reason: "Clusters are added to a stack that runs; the action returns an endpoint and its certificate authority.",
  })),
  ...WITH_ADDED_ROLES.map((name) => ({
    construct: `${capital(name)}Role`,
    findings: [wildcard(`arn:<AWS::Partition>:iam::<AWS::AccountId>:role${accessPath({ rolePath, stackName })}${name}/*`)],
    reason: "The roles of clusters that are added; their path names the stack and the function, and each trusts this role alone.",
  })),
];

/**
 * Acknowledges the intended findings of cdk-nag in a stack of these clusters. Any other finding fails the synthesis.
 */
export function acknowledge(stack: Stack, settings: DeploymentSettings, clusters: readonly ClusterSettings[]): void {
  const own: readonly Exception[] = clusters.flatMap(({ name }) => [
    {
      construct: "CatalogRole",
      findings: [wildcard(`arn:<AWS::Partition>:iam::<AWS::AccountId>:instance-profile/karpenter/<AWS::Region>/${name}/*`)],
      reason: "Profiles get a new name each time they are made; the path and these clusters' tags tie them.",
    },
    ...(["linux", "windows"] as const).map((os) => ({
      construct: nodeRoleId(name, os),
      findings: [
        ...["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
        ...["AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"],
      ].map(managed),
      reason: "The policies that EKS documents for its nodes; AWS keeps them up to date with what kubelets need.",
    })),
  ]);
  if (!settings.enforceTls) {
    Validations.of(stack).acknowledge({ id: "AwsSolutions-SQS4", reason: "Deployed to a local stand-in of AWS, which speaks plain HTTP." });
  }
  const inVpc = (settings.vpc === undefined ? [] : FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters)).map(
    (name): Exception => ({
      construct: `${capital(name)}Role`,
      findings: [wildcard("*")],
      reason: "Lambda makes the network interfaces of a function in a VPC in its name, and asks for all resources.",
    }),
  );
  for (const { construct, findings, reason } of [...EXCEPTIONS, ...own, ...inVpc, ...forAddedClusters(settings)]) {
    const found = stack.node.tryFindChild(construct);
    // Optional parts of the stack may be missing.
    if (found === undefined) continue;
    for (const id of findings) Validations.of(found).acknowledge({ id, reason });
  }
}
