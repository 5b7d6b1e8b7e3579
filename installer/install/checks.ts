// Pre-flight checks of an installation.
// In: what was observed of an account and a cluster, and what is wanted. Out: for each check a verdict, one sentence
// with the mend where something is missing. No check asks anybody or changes anything.

import { hasFunctionUrls, hasPublicUrl } from "#infra/settings.ts";
import { type Facts, nodeRoleOf, type Observed, type Wanted } from "./facts.ts";
import { isOurs, namesOf, type StackState } from "./stack-state.ts";

/** "fault" stops the installation, "note" is something to know; `text` is one sentence. */
export interface Verdict {
  readonly level: "ok" | "note" | "fault";
  readonly text: string;
}

type Check = (facts: Facts, wanted: Wanted) => Verdict;

export const ok = (text: string): Verdict => ({ level: "ok", text });
export const note = (text: string): Verdict => ({ level: "note", text });
export const fault = (text: string): Verdict => ({ level: "fault", text });

/** The judgement of an answer. Without one the check cannot speak, which stops only where nothing works without it. */
export function of<T>(observed: Observed<T>, judge: (value: T) => Verdict): Verdict {
  return "value" in observed ? judge(observed.value) : note(`not checked: ${observed.error}`);
}

/** FlowSchemas are served as v1 from this version on. */
const OLDEST_MINOR = 29;

const EVERYBODY = "0.0.0.0/0";

const tagged =
  (kind: "subnets" | "securityGroups", words: string): Check =>
  (facts) =>
    of(facts[kind], (count) => {
      const tag = `karpenter.sh/discovery=${facts.cluster}`;
      if (count > 0) return ok(`${count} with the tag ${tag}`);
      return note(
        `no ${words} has the tag ${tag}, which an EC2NodeClass usually selects by; give --tag-network, which tags those of the cluster, or add it: aws ec2 create-tags --tags Key=karpenter.sh/discovery,Value=${facts.cluster} --resources IDS`,
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

/** All checks by name, in the order in which they are told. */
export const CHECKS = {
  region: ({ region }) => (region === "" ? fault("no region is known; give --region us-west-2, or set AWS_REGION") : ok(region)),
  credentials: ({ caller }) =>
    "value" in caller
      ? ok(caller.value.arn)
      : fault(`AWS does not accept your credentials (${caller.error}); sign in with aws sso login, or set AWS_PROFILE`),
  cluster: ({ cluster, region, eks }) => {
    if (!("value" in eks))
      return fault(
        `cluster ${cluster} in ${region || "no region"} cannot be read (${eks.error}); check --cluster, --region and the right eks:DescribeCluster`,
      );
    const { status } = eks.value;
    return status === "ACTIVE" ? ok(cluster) : fault(`cluster ${cluster} is ${status}; wait until it is ACTIVE`);
  },
  "authentication mode": ({ cluster, eks }) =>
    of(eks, ({ authenticationMode: mode }) =>
      mode === "API" || mode === "API_AND_CONFIG_MAP"
        ? ok(mode)
        : fault(
            `the cluster's authentication mode is ${mode}, so the functions could get no access entries; change it, which keeps aws-auth: aws eks update-cluster-config --name ${cluster} --access-config authenticationMode=API_AND_CONFIG_MAP`,
          ),
    ),
  "Kubernetes version": ({ cluster, eks }) =>
    of(eks, ({ version }) => {
      const [major = 0, minor = 0] = version.split(".").map(Number);
      return major > 1 || (major === 1 && minor >= OLDEST_MINOR)
        ? ok(version)
        : fault(
            `Kubernetes ${version} is older than 1.${OLDEST_MINOR}; upgrade first: aws eks update-cluster-version --name ${cluster} --kubernetes-version 1.${minor + 1}`,
          );
    }),
  endpoint: ({ eks }, { vpc }) =>
    of(eks, ({ isPublic, publicCidrs }) => {
      if (vpc !== undefined) return ok("the functions run in the VPC of the settings");
      const mend = 'give the functions subnets that reach it, by "vpc" in a settings file (--config)';
      if (!isPublic) return fault(`the API server's endpoint is private, which functions outside of its VPC cannot reach; ${mend}`);
      return publicCidrs.includes(EVERYBODY)
        ? ok("public")
        : fault(`the API server's endpoint admits ${publicCidrs.join(", ")} only, and functions have no fixed addresses; ${mend}`);
    }),
  access: ({ cluster, caller, inCluster }) => {
    const mend = `let yourself in: ${entryOf("value" in caller ? caller.value.arn : "arn:aws:iam::ACCOUNT:role/NAME", cluster)}`;
    if (!("value" in inCluster)) return fault(`the API server does not answer you (${inCluster.error}); check the network, or ${mend}`);
    return inCluster.value.mayInstall
      ? ok("you may create CustomResourceDefinitions")
      : fault(`you may not create CustomResourceDefinitions; ${mend}`);
  },
  "Lambda's limit": ({ lambda }, { notifyConcurrency, admissionConcurrency }) =>
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
    }),
  "public URL": ({ region, eks }, wanted) => {
    if (!hasPublicUrl(wanted)) return ok("none is needed");
    if (wanted.publicUrl === "functionUrl" && !hasFunctionUrls(region))
      return fault(`${region} has no Lambda function URLs; give --public-url apiGateway, or --sources sweep`);
    const egress = "value" in eks ? eks.value.egress : "AWS_MANAGED";
    if (egress !== "AWS_MANAGED" && wanted.callerVpcEndpointIds === undefined)
      return note(
        `the API server calls webhooks through the cluster's VPC (${egress}), so the URL is reached only by a NAT; without one give publicUrl restApi and callerVpcEndpointIds in a settings file (--config), or --sources sweep`,
      );
    return ok(wanted.publicUrl === "functionUrl" ? "a Lambda function URL" : "API Gateway");
  },
  stack: ({ cluster, stack }, { stackName, clusters }) =>
    of(stack, (found) => {
      if (found === undefined) return ok(`${stackName} will be made`);
      if (!isOurs(found)) return fault(`${stackName} is another product's stack, which this would replace; give --stack another name`);
      const lost = namesOf(found, "Clusters").filter((name) => clusters.every((wanted) => wanted.name !== name));
      return lost.length === 0
        ? ok(`${stackName} is ${found.status} and serves ${namesOf(found, "Clusters").join(", ") || "nobody yet"}`)
        : fault(
            `${stackName} also serves ${lost.join(", ")}, which this would take from it; ${
              namesOf(found, "Clusters").includes(cluster)
                ? `name ${lost.join(", ")} and ${cluster} in a settings file (--config), or change it with upgrade`
                : `upgrade it first (upgrade --cluster ${lost[0]}), and ${cluster} can be added to it, or give --stack another name`
            }`,
          );
    }),
  "node role": ({ cluster, nodeRole, stack }, { createNodeRoles, clusters }) =>
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
    }),
  "node role's access": ({ cluster, eks, nodeRole, nodeEntry }: Facts, { createNodeRoles }: Pick<Wanted, "createNodeRoles">) =>
    of(nodeEntry, (type) => {
      const arn = "value" in nodeRole ? nodeRole.value : undefined;
      if (type !== undefined) return ok(type);
      if (arn === undefined) return createNodeRoles ? ok("the stack gives it") : note("there is no role yet");
      const mend = `aws eks create-access-entry --cluster-name ${cluster} --principal-arn ${arn} --type EC2_LINUX`;
      const isMapped = "value" in eks && eks.value.authenticationMode === "API_AND_CONFIG_MAP";
      return isMapped
        ? note(`${arn} has no access entry, so its nodes join only if the ConfigMap aws-auth maps it; otherwise ${mend}`)
        : fault(`${arn} has no access entry, so its nodes could not join; give it one: ${mend}`);
    }),
  subnets: tagged("subnets", "subnet"),
  "security groups": tagged("securityGroups", "security group"),
  spot: ({ hasSpotRole }) =>
    of(hasSpotRole, (has) =>
      has
        ? ok("its service-linked role exists")
        : note(
            "the account has no service-linked role of spot, so only on-demand nodes are launched; make it: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
          ),
    ),
  Karpenter: ({ inCluster }: Pick<Facts, "inCluster">) =>
    of(inCluster, ({ karpenter }) =>
      karpenter === undefined
        ? ok("none runs in the cluster")
        : note(
            `Karpenter runs (Lease ${karpenter}), and until it ends the functions decide nothing; the command adopt ends it and takes its nodes over`,
          ),
    ),
  "Auto Mode": ({ eks }) =>
    of(eks, ({ hasAutoMode }) =>
      hasAutoMode
        ? note("EKS Auto Mode makes nodes for pending pods too; keep the pods apart by taints or node selectors, as docs/deploy.md says")
        : ok("off"),
    ),
} as const satisfies Readonly<Record<string, Check>>;

/** A verdict and what it is about. */
export interface CheckResult extends Verdict {
  readonly name: string;
}

/**
 * The verdicts of all checks. Where the region, the credentials or the cluster is at fault, nothing else could be
 * observed, so the rest is left out.
 */
export function judge(facts: Facts, wanted: Wanted): readonly CheckResult[] {
  const all = Object.entries(CHECKS).map(([name, check]) => ({ name, ...check(facts, wanted) }));
  const first = all.slice(0, 3).findIndex(({ level }) => level === "fault");
  return first < 0 ? all : all.slice(0, first + 1);
}

/** "ok     region: us-west-2" */
export function checkLines(results: readonly CheckResult[]): readonly string[] {
  const marks = { ok: "ok", note: "note", fault: "FAULT" } as const;
  return results.map(({ level, name, text }) => `${marks[level].padEnd(6)} ${name}: ${text}`);
}
