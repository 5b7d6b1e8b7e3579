// Checks before an installation: the account, the cluster and its network.
// In: what was observed, and what is wanted. Out: a verdict with the fix where something is missing. Nothing is read or
// changed here.

import { hasFunctionUrls, hasPublicUrl } from "#infra/settings.ts";
import { partitionOf } from "#settings/partitions.ts";
import { isOurs, namesOf, type StackState } from "../account/stack-state.ts";
import { type AuditGroup, type Facts, listensTo, nodeRoleOf, type Wanted } from "./facts.ts";
import { fault, note, of, ok, type Verdict } from "./verdict.ts";

/** What is known before an installation, and what the person wants. */
export type PreFlight = Facts & { readonly wanted: Wanted };

type Check = (seen: PreFlight) => Verdict;

/** FlowSchemas are served as v1 from this version on. */
const OLDEST_MINOR = 29;

const EVERYBODY = "0.0.0.0/0";

const tagged =
  (kind: "subnets" | "securityGroups", words: string): Check =>
  ({ cluster, ...facts }) =>
    of(facts[kind], (count) => {
      const tag = `karpenter.sh/discovery=${cluster}`;
      if (count > 0) return ok(`${count} with the tag ${tag}`);
      return note(
        `no ${words} has the tag ${tag}, which an EC2NodeClass usually selects by; give --tag-network, which tags those of the cluster, or add it: aws ec2 create-tags --tags Key=karpenter.sh/discovery,Value=${cluster} --resources IDS`,
      );
    });

/** Whether the stack has made the cluster's node role, or may have: one that is half made does not say. */
const mayOwnRole = (cluster: string, stack: StackState | undefined): boolean =>
  stack !== undefined && (namesOf(stack, "ClustersWithNodeRole").includes(cluster) || !stack.status.endsWith("_COMPLETE"));

/** An access entry names a role, also of a person who has assumed it; the name of a session has no path. */
function entryOf(caller: string, cluster: string): string {
  const [, partition = "aws", account = "", role] = /^arn:([\w-]+):sts::(\d+):assumed-role\/([^/]+)\//.exec(caller) ?? [];
  const principal = role === undefined ? caller : `arn:${partition}:iam::${account}:role/${role}`;
  const policy = `arn:${caller.split(":")[1] ?? "aws"}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`;
  const path = role?.startsWith("AWSReservedSSO_") ? ` (for its path: aws iam get-role --role-name ${role})` : "";
  return `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${principal} && aws eks associate-access-policy --cluster-name ${cluster} --principal-arn ${principal} --access-scope type=cluster --policy-arn ${policy}${path}`;
}

export const region = ({ region }: Facts): Verdict => {
  if (region === "") return fault("no region is known; give --region us-west-2, or set AWS_REGION");
  return partitionOf(region) === undefined
    ? fault(`${region} is of no partition of AWS whose endpoints are known; choose another`)
    : ok(region);
};

export const credentials = ({ caller }: Facts): Verdict =>
  "value" in caller
    ? ok(caller.value.arn)
    : fault(`AWS does not accept your credentials (${caller.error}); sign in with aws sso login, or set AWS_PROFILE`);

export const cluster = ({ cluster, region, eks }: Facts): Verdict => {
  if (!("value" in eks))
    return fault(
      `cluster ${cluster} in ${region || "no region"} cannot be read (${eks.error}); check --cluster, --region and the right eks:DescribeCluster`,
    );
  const { status } = eks.value;
  return status === "ACTIVE" ? ok(cluster) : fault(`cluster ${cluster} is ${status}; wait until it is ACTIVE`);
};

export const authenticationMode = ({ cluster, eks }: Facts): Verdict =>
  of(eks, ({ authenticationMode: mode }) =>
    mode === "API" || mode === "API_AND_CONFIG_MAP"
      ? ok(mode)
      : fault(
          `the cluster's authentication mode is ${mode}, so the functions could get no access entries; change it, which keeps aws-auth: aws eks update-cluster-config --name ${cluster} --access-config authenticationMode=API_AND_CONFIG_MAP`,
        ),
  );

export const kubernetesVersion = ({ cluster, eks }: Facts): Verdict =>
  of(eks, ({ version }) => {
    const [major = 0, minor = 0] = version.split(".").map(Number);
    return major > 1 || (major === 1 && minor >= OLDEST_MINOR)
      ? ok(version)
      : fault(
          `Kubernetes ${version} is older than 1.${OLDEST_MINOR}; upgrade first: aws eks update-cluster-version --name ${cluster} --kubernetes-version 1.${minor + 1}`,
        );
  });

export const endpoint: Check = ({ eks, wanted: { vpc } }) =>
  of(eks, ({ isPublic, publicCidrs }) => {
    if (vpc !== undefined) return ok("the functions run in the VPC of the settings");
    const mend = 'give the functions subnets that reach it, by "vpc" in a settings file (--config)';
    if (!isPublic) return fault(`the API server's endpoint is private, which functions outside of its VPC cannot reach; ${mend}`);
    return publicCidrs.includes(EVERYBODY)
      ? ok("public")
      : fault(`the API server's endpoint admits ${publicCidrs.join(", ")} only, and functions have no fixed addresses; ${mend}`);
  });

export const access = ({ cluster, caller, inCluster }: Facts): Verdict => {
  const mend = `let yourself in: ${entryOf("value" in caller ? caller.value.arn : "arn:aws:iam::ACCOUNT:role/NAME", cluster)}`;
  if (!("value" in inCluster)) return fault(`the API server does not answer you (${inCluster.error}); check the network, or ${mend}`);
  return inCluster.value.mayInstall
    ? ok("you may create CustomResourceDefinitions")
    : fault(`you may not create CustomResourceDefinitions; ${mend}`);
};

export const lambdaLimit: Check = ({ lambda, wanted: { notifyConcurrency, admissionConcurrency } }) =>
  of(lambda, ({ limit, unreserved }) => {
    const asked = notifyConcurrency + admissionConcurrency;
    // Lambda keeps 100 unreserved.
    if (asked > 0 && unreserved - asked < 100)
      return fault(
        `a concurrency of ${asked} cannot be reserved, because ${unreserved} of the account's ${limit} are left and Lambda keeps 100 of them; set notifyConcurrency and admissionConcurrency to 0, or ask Service Quotas for more`,
      );
    return limit < 100
      ? note(`the account runs ${limit} functions at once, enough for a trial; ask Service Quotas for 1,000 before production`)
      : ok(`${limit}`);
  });

export const publicUrl: Check = ({ region, eks, wanted }) => {
  if (!hasPublicUrl(wanted)) return ok("none is needed");
  if (wanted.publicUrl === "functionUrl" && !hasFunctionUrls(region))
    return fault(`${region} has no Lambda function URLs; give --public-url apiGateway, or --sources sweep`);
  const egress = "value" in eks ? eks.value.egress : "AWS_MANAGED";
  if (egress !== "AWS_MANAGED" && wanted.callerVpcEndpointIds === undefined)
    return note(
      `the API server calls webhooks through the cluster's VPC (${egress}), so the URL is reached only by a NAT; without one give publicUrl restApi and callerVpcEndpointIds in a settings file (--config), or --sources sweep`,
    );
  return ok(wanted.publicUrl === "functionUrl" ? "a Lambda function URL" : "API Gateway");
};

export const wantedStack: Check = ({ cluster, stack, wanted: { stackName, clusters } }) =>
  of(stack, (found) => {
    if (found === undefined) return ok(`${stackName} will be made`);
    if (!isOurs(found)) return fault(`${stackName} is another product's stack, which this would replace; give --stack another name`);
    const lost = namesOf(found, "Clusters").filter((name) => clusters.every((wanted) => wanted.name !== name));
    return lost.length === 0
      ? ok(`${stackName} is ${found.status} and serves ${namesOf(found, "Clusters").join(", ") || "no cluster yet"}`)
      : fault(
          `${stackName} also serves ${lost.join(", ")}, which this would take from it; ${
            namesOf(found, "Clusters").includes(cluster)
              ? `name ${lost.join(", ")} and ${cluster} in a settings file (--config), or change it with upgrade`
              : `upgrade it first (upgrade --cluster ${lost[0]}), and ${cluster} can be added to it, or give --stack another name`
          }`,
        );
  });

export const nodeRole: Check = ({ cluster, nodeRole, stack, wanted: { createNodeRoles, clusters } }) =>
  of(nodeRole, (arn) => {
    const name = nodeRoleOf(cluster, { clusters });
    if (arn !== undefined && createNodeRoles && "value" in stack && !mayOwnRole(cluster, stack.value))
      return fault(`role ${name} exists already, so the stack cannot make it; leave --create-node-role out, or delete the role`);
    if (arn !== undefined) return ok(arn);
    return createNodeRoles
      ? ok("the stack makes it")
      : fault(
          `there is no role ${name}, which nodes need; give --create-node-role, or name your own in nodeRoles of a settings file (--config)`,
        );
  });

export const nodeRoleAccess = ({
  cluster,
  eks,
  nodeRole,
  nodeEntry,
  wanted,
}: Pick<Facts, "cluster" | "eks" | "nodeRole" | "nodeEntry"> & { readonly wanted: Pick<Wanted, "createNodeRoles"> }): Verdict =>
  of(nodeEntry, (type) => {
    const arn = "value" in nodeRole ? nodeRole.value : undefined;
    if (type !== undefined) return ok(type);
    if (arn === undefined) return wanted.createNodeRoles ? ok("the stack gives it") : note("there is no role yet");
    const mend = `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${arn} --type EC2_LINUX`;
    const isMapped = "value" in eks && eks.value.authenticationMode === "API_AND_CONFIG_MAP";
    return isMapped
      ? note(`${arn} has no access entry, so its nodes join only if the ConfigMap aws-auth maps it; otherwise ${mend}`)
      : fault(`${arn} has no access entry, so its nodes could not join; give it one: ${mend}`);
  });

export const subnets: Check = tagged("subnets", "subnet");

export const securityGroups: Check = tagged("securityGroups", "security group");

export const spot = ({ hasSpotRole }: Facts): Verdict =>
  of(hasSpotRole, (has) =>
    has
      ? ok("its service-linked role exists")
      : note(
          "the account has no service-linked role of spot, so only on-demand nodes are launched; make it: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
        ),
  );

export const runningKarpenter = ({ inCluster }: Pick<Facts, "inCluster">): Verdict =>
  of(inCluster, ({ karpenter }) =>
    karpenter === undefined
      ? ok("none runs in the cluster")
      : note(
          `Karpenter runs (Lease ${karpenter}), and until it ends the functions decide nothing; the command adopt ends it and takes its nodes over`,
        ),
  );

export const autoMode = ({ eks }: Facts): Verdict =>
  of(eks, ({ hasAutoMode }) =>
    hasAutoMode
      ? note("EKS Auto Mode makes nodes for pending pods too; keep the pods apart by taints or node selectors, as docs/deploy.md says")
      : ok("off"),
  );

/** The log group of an audit log that functions listen to, or are to listen to. */
export function listenedTo(group: AuditGroup): Verdict {
  if (group.class === "STANDARD") return ok(`${group.group} is of class Standard`);
  return fault(
    group.class === undefined
      ? `there is no log group ${group.group}; have EKS write the audit log (EKS console, the cluster, Observability, Manage logging)`
      : `${group.group} is of class ${group.class}, which takes no subscription filter, and a log group keeps its class; use the source notify or sweep in the settings`,
  );
}

/** Before the source `audit` is deployed; where it is not asked for, whether it could be used in place of a URL. */
export const auditLog: Check = ({ cluster, auditGroup, wanted }) =>
  of(auditGroup, (group) => {
    if (listensTo(cluster, wanted)) return listenedTo(group);
    return group.class === "INFREQUENT_ACCESS"
      ? note(`${group.group} is of class ${group.class}, which takes no subscription filter, so audit cannot be a source`)
      : ok("no cluster's audit log is asked for");
  });
