import { Aws } from "aws-cdk-lib";
import { PolicyStatement, type PolicyStatementProps } from "aws-cdk-lib/aws-iam";
import { FUNCTIONS, type FunctionName, type StoreUse } from "./functions.ts";
import { nodeRoleName, roleNameInAccount } from "./role-names.ts";
import type { ClusterSettings } from "./settings.ts";

/**
 * What the functions may do in EC2, IAM, SSM, Pricing and EKS. Every write is limited to resources with the tags that
 * every launch carries (core/model/tags.ts). The cluster is named by the value of eks:eks-cluster-name, not by the key
 * kubernetes.io/cluster/NAME: values can be listed, so one statement serves any number of clusters and the policies
 * stay below IAM's size limit.
 */

const CLUSTER = "eks:eks-cluster-name";
const NODE_POOL = "karpenter.sh/nodepool";

const arn = (service: string, resource: string, account: string = Aws.ACCOUNT_ID): string =>
  `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${account}:${resource}`;
const global = (resource: string): string => `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:${resource}`;
const ec2 = (...types: readonly string[]): string[] => types.map((type) => arn("ec2", `${type}/*`, "*"));
/** Images and snapshots may belong to any account, so their ARNs have none. */
const shared = (...types: readonly string[]): string[] => types.map((type) => arn("ec2", `${type}/*`, ""));

const allow = (sid: string, props: PolicyStatementProps): PolicyStatement => new PolicyStatement({ sid, ...props });

const tagged = (where: "RequestTag" | "ResourceTag", clusters: readonly ClusterSettings[]) => ({
  StringEquals: { [`aws:${where}/${CLUSTER}`]: clusters.map(({ name }) => name) },
  StringLike: { [`aws:${where}/${NODE_POOL}`]: "*" },
});

const MADE_BY_A_LAUNCH = ["fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request"];
const LAUNCHES = ["ec2:RunInstances", "ec2:CreateFleet"];

/** The tags of a NodeClaim, which instances that were launched together get one by one (core/model/tags.ts). */
const OWN_TAGS = ["Name", "karpenter.sh/nodeclaim", "karpenter-serverless/claim-uid"];

/** The gate RebootForRepair, as FEATURE_GATES turns it on. */
const REBOOTS = /(^|,)\s*RebootForRepair\s*=\s*true\s*(,|$)/;

/** Launch, tag and terminate instances of these clusters only. No tag of the cluster or of the NodePool is changed. */
function launchStatements(clusters: readonly ClusterSettings[], settings: Readonly<Record<string, string>>): readonly PolicyStatement[] {
  const own = tagged("ResourceTag", clusters);
  const request = tagged("RequestTag", clusters);
  return [
    allow("LaunchFrom", {
      actions: LAUNCHES,
      resources: [...shared("image", "snapshot"), ...ec2("security-group", "subnet", "capacity-reservation", "placement-group")],
    }),
    allow("LaunchByOwnTemplates", { actions: LAUNCHES, resources: ec2("launch-template"), conditions: own }),
    allow("LaunchTagged", {
      actions: [...LAUNCHES, "ec2:CreateLaunchTemplate"],
      resources: ec2(...MADE_BY_A_LAUNCH),
      conditions: request,
    }),
    allow("TagWhatIsLaunched", {
      actions: ["ec2:CreateTags"],
      resources: ec2(...MADE_BY_A_LAUNCH),
      conditions: {
        ...request,
        StringEquals: { ...request.StringEquals, "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"] },
      },
    }),
    allow("TagOwn", {
      actions: ["ec2:CreateTags"],
      resources: ec2("instance"),
      conditions: { ...own, "ForAllValues:StringEquals": { "aws:TagKeys": OWN_TAGS } },
    }),
    allow("EndOwn", {
      actions: ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
      resources: ec2("instance", "launch-template"),
      conditions: own,
    }),
    ...(REBOOTS.test(settings["FEATURE_GATES"] ?? "")
      ? [allow("RebootOwn", { actions: ["ec2:RebootInstances"], resources: ec2("instance"), conditions: own })]
      : []),
  ];
}

/** Describe calls have no resources; only the region can be a condition. */
function describeStatement(...names: readonly string[]): PolicyStatement {
  return allow("Describe", {
    actions: names.map((name) => `ec2:Describe${name}`),
    resources: ["*"],
    conditions: { StringEquals: { "aws:RequestedRegion": Aws.REGION } },
  });
}

/** What is read of an account whose commitments are counted (functions/catalog/paid-capacity.ts). */
function commitmentReads(settings: Readonly<Record<string, string>>): readonly string[] {
  if (settings["RESERVED_INSTANCES"] === "true") return ["Instances", "ReservedInstances"];
  return ["", "none"].includes(settings["SAVINGS_PLANS"] ?? "") ? [] : ["Instances"];
}

/** Pass the nodes' roles to instances, and no other role. */
function passNodeRoleStatement(clusters: readonly ClusterSettings[]): PolicyStatement {
  const roles = new Set(clusters.flatMap(({ name, nodeRoles }) => nodeRoles ?? [nodeRoleName(name, "linux")]));
  return allow("PassNodeRole", {
    actions: ["iam:PassRole"],
    resources: [...roles].map((role) => global(`role/${role}`)),
    conditions: { StringEquals: { "iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } },
  });
}

/**
 * Create, fill and remove the instance profiles of these clusters' EC2NodeClasses, under the product's own path. Their
 * tags tie them to these clusters, so tags are written under the paths of these clusters only
 * (core/node-class/instance-profile.ts), and never over those of another cluster.
 */
function instanceProfileStatements(clusters: readonly ClusterSettings[]): readonly PolicyStatement[] {
  const path = `instance-profile/karpenter/${Aws.REGION}`;
  const resources = [global(`${path}/*`)];
  const conditions = (where: "RequestTag" | "ResourceTag") => ({
    StringEquals: {
      [`aws:${where}/${CLUSTER}`]: clusters.map(({ name }) => name),
      [`aws:${where}/topology.kubernetes.io/region`]: Aws.REGION,
    },
    StringLike: { [`aws:${where}/karpenter.k8s.aws/ec2nodeclass`]: "*" },
  });
  return [
    allow("MakeProfiles", { actions: ["iam:CreateInstanceProfile"], resources, conditions: conditions("RequestTag") }),
    allow("TagProfiles", {
      actions: ["iam:TagInstanceProfile"],
      resources: clusters.map(({ name }) => global(`${path}/${name}/*`)),
      conditions: {
        ...conditions("RequestTag"),
        // A profile that is being created has no tags yet.
        StringEqualsIfExists: { [`aws:ResourceTag/${CLUSTER}`]: clusters.map(({ name }) => name) },
      },
    }),
    allow("KeepProfiles", {
      actions: ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
      resources,
      conditions: conditions("ResourceTag"),
    }),
    allow("ReadProfiles", { actions: ["iam:GetInstanceProfile"], resources: [global("instance-profile/*")] }),
    allow("ListProfiles", { actions: ["iam:ListInstanceProfiles"], resources }),
  ];
}

/** AWS's public SSM parameters name the images of each Kubernetes version. */
function parameterStatement(): PolicyStatement {
  return allow("ReadImageParameters", { actions: ["ssm:GetParameter"], resources: [arn("ssm", "parameter/aws/service/*", "")] });
}

/** The Price List API has endpoints in few regions and no resources. */
function pricingStatement(): PolicyStatement {
  return allow("ReadPrices", { actions: ["pricing:GetProducts"], resources: ["*"] });
}

/** Read from ARC which zones a cluster is shifted away from. */
function zonalShiftStatement(clusters: readonly ClusterSettings[]): PolicyStatement {
  return allow("ReadZonalShifts", {
    actions: ["arc-zonal-shift:GetManagedResource"],
    resources: ["*"],
    conditions: { StringEquals: { "arc-zonal-shift:ResourceIdentifier": clusters.map(({ name }) => arn("eks", `cluster/${name}`)) } },
  });
}

/** Describe the clusters in EKS. */
function clusterStatement(clusters: readonly ClusterSettings[]): PolicyStatement {
  return allow("FindClusters", { actions: ["eks:DescribeCluster"], resources: clusters.map(({ name }) => arn("eks", `cluster/${name}`)) });
}

/** Describe any cluster of the account and region, because clusters are added to a stack without a change of it. */
export function anyClusterStatement(): PolicyStatement {
  return allow("FindClusters", { actions: ["eks:DescribeCluster"], resources: [arn("eks", "cluster/*")] });
}

/** Read which clusters were added to the stack, and nothing else of the table. */
export function readClustersStatement(tableArn: string): PolicyStatement {
  return allow("ReadClusters", {
    actions: ["dynamodb:Query"],
    resources: [tableArn],
    conditions: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["clusters"] } },
  });
}

/**
 * Assume the roles that were made for this function with clusters that were added to the stack. IAM knows them by their
 * path, which no other role of the account has.
 */
export function assumeAddedStatement(accessPath: string, name: FunctionName): PolicyStatement {
  return allow("ActForAddedClusters", { actions: ["sts:AssumeRole"], resources: [global(`role${accessPath}${name}/*`)] });
}

/** The functions that have a role of their own for each cluster that was added: those that change things in AWS. */
export const WITH_ADDED_ROLES = ["lifecycle", "catalog"] as const satisfies readonly FunctionName[];

/** What Lambda does in the function's name to reach a VPC; these actions have no resources. */
export function networkInterfaceStatement(): PolicyStatement {
  return allow("ReachIntoVpc", {
    actions: ["CreateNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "DeleteNetworkInterface"]
      .concat("AssignPrivateIpAddresses", "UnassignPrivateIpAddresses")
      .map((name) => `ec2:${name}`),
    resources: ["*"],
  });
}

/** Use the customer's key by way of the services whose data it encrypts, and no other way. */
export function keyStatement(key: string): PolicyStatement {
  const services = ["dynamodb", "lambda", "secretsmanager", "sqs"];
  return allow("UseKey", {
    actions: ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"],
    resources: [key],
    conditions: { StringEquals: { "kms:ViaService": services.map((name) => `${name}.${Aws.REGION}.${Aws.URL_SUFFIX}`) } },
  });
}

/** Put events on one event bus. */
export function announceStatement(eventBus: string): PolicyStatement {
  return allow("Announce", { actions: ["events:PutEvents"], resources: [arn("events", `event-bus/${eventBus}`)] });
}

const STORE_ACTIONS: Readonly<Record<Exclude<StoreUse, "find">, readonly string[]>> = {
  read: ["GetItem", "BatchGetItem", "Query"],
  write: ["PutItem"],
  "write-many": ["BatchWriteItem"],
  remove: ["DeleteItem"],
  join: ["UpdateItem"],
  decide: ["UpdateItem", "ConditionCheckItem"],
};

const STORE_READS: ReadonlySet<string> = new Set(STORE_ACTIONS.read);

/**
 * What a function needs of the table. No function writes the partition that says which clusters the stack serves, and
 * by which roles: that is done by who runs `install`.
 */
export function storeStatements(uses: readonly StoreUse[], tableArn: string): readonly PolicyStatement[] {
  const names = uses.flatMap((use) => (use === "find" ? [] : STORE_ACTIONS[use]));
  const [reads, writes] = [names.filter((name) => STORE_READS.has(name)), names.filter((name) => !STORE_READS.has(name))];
  const ofTable = (sid: string, actions: readonly string[], props: PolicyStatementProps = {}): readonly PolicyStatement[] =>
    actions.length === 0 ? [] : [allow(sid, { actions: actions.map((name) => `dynamodb:${name}`), resources: [tableArn], ...props })];
  return [
    ...(uses.includes("find")
      ? [allow("FindByInstance", { actions: ["dynamodb:Query"], resources: [`${tableArn}/index/byInstance`] })]
      : []),
    ...ofTable("ReadIntents", reads),
    ...ofTable("KeepIntents", writes, { conditions: { "ForAllValues:StringNotEquals": { "dynamodb:LeadingKeys": ["clusters"] } } }),
  ];
}

/** Add up what the function counts, for scrapers: in the sums of metrics and in no record of intent. */
export function sumStatement(tableArn: string): PolicyStatement {
  return allow("AddUpMetrics", {
    actions: ["dynamodb:UpdateItem"],
    resources: [tableArn],
    conditions: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["metrics#*"] } },
  });
}

/** The role in another account that a function assumes to reach a cluster there (access-stack.ts creates it). */
export function roleInAccount(stackName: string, cluster: ClusterSettings, name: FunctionName): string {
  return `arn:${Aws.PARTITION}:iam::${cluster.account}:role/${roleNameInAccount(stackName, cluster.name, name)}`;
}

/** Assume the roles in other accounts that are meant for this function, and no others. */
export function assumeStatements(stackName: string, clusters: readonly ClusterSettings[], name: FunctionName): readonly PolicyStatement[] {
  const resources = clusters.filter(({ account }) => account !== undefined).map((cluster) => roleInAccount(stackName, cluster, name));
  return resources.length > 0 ? [allow("ActInOtherAccounts", { actions: ["sts:AssumeRole"], resources })] : [];
}

/**
 * What a function may do in an account to the clusters there; empty when there are none. `settings` are Karpenter's,
 * some of which need more or fewer rights. `find` lets it describe them.
 */
export function cloudStatements(
  name: FunctionName,
  clusters: readonly ClusterSettings[],
  settings: Readonly<Record<string, string>>,
  find: readonly PolicyStatement[] = clusters.length === 0 ? [] : [clusterStatement(clusters)],
): readonly PolicyStatement[] {
  if (!FUNCTIONS[name].inClusters) return [];
  if (clusters.length === 0) return find;
  switch (name) {
    case "lifecycle":
      return [
        ...find,
        ...launchStatements(clusters, settings),
        passNodeRoleStatement(clusters),
        describeStatement("Instances", "InstanceStatus", "LaunchTemplates"),
      ];
    case "catalog":
      return [
        ...find,
        ...instanceProfileStatements(clusters),
        passNodeRoleStatement(clusters),
        describeStatement(
          ...["AvailabilityZones", "CapacityReservations", "Images", "InstanceTypeOfferings", "InstanceTypes"],
          ...["PlacementGroups", "SecurityGroups", "SpotPriceHistory", "Subnets"],
          ...commitmentReads(settings),
        ),
        parameterStatement(),
        ...(settings["ISOLATED_VPC"] === "true" ? [] : [pricingStatement()]),
        ...(settings["ENABLE_ZONAL_SHIFT"] === "true" ? [zonalShiftStatement(clusters)] : []),
      ];
    default:
      return find;
  }
}
