import { CreateTagsCommand, DescribeSecurityGroupsCommand, DescribeSubnetsCommand } from "@aws-sdk/client-ec2";
import { DescribeAccessEntryCommand, DescribeClusterCommand, EKSClient } from "@aws-sdk/client-eks";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { CredentialSource } from "#adapters/aws/assume-role.ts";
import { ec2Client, iamClient } from "#adapters/aws/clients.ts";
import { allPages } from "#adapters/aws/pages.ts";
import { type SignedCaller, signedFetch } from "#adapters/aws/signed-fetch.ts";
import type { Account } from "./ports.ts";

/** An account on AWS. `lambda` is who asks Lambda, of which one answer is wanted. */
export function awsAccount(region: string, credentials: CredentialSource, lambda: Omit<SignedCaller, "service">): Account {
  const ec2 = ec2Client(region, credentials);
  const iam = iamClient(region, credentials);
  const eks = new EKSClient({ region, credentials });
  return {
    caller: async () => {
      const { Account: account = "", Arn: arn = "" } = await new STSClient({ region, credentials }).send(new GetCallerIdentityCommand({}));
      return { account, arn };
    },
    cluster: async (name) => {
      const { cluster } = await eks.send(new DescribeClusterCommand({ name }));
      const { endpointPublicAccess = true, publicAccessCidrs = ["0.0.0.0/0"] } = cluster?.resourcesVpcConfig ?? {};
      return {
        status: cluster?.status ?? "unknown",
        version: cluster?.version ?? "",
        // EKS says nothing of clusters that were made before there was a choice.
        authenticationMode: cluster?.accessConfig?.authenticationMode ?? "CONFIG_MAP",
        isPublic: endpointPublicAccess,
        publicCidrs: publicAccessCidrs,
        hasAutoMode: cluster?.computeConfig?.enabled === true,
        hasAuditLog: cluster?.logging?.clusterLogging?.some(({ enabled, types }) => enabled && types?.includes("audit")) === true,
        subnetIds: cluster?.resourcesVpcConfig?.subnetIds ?? [],
        securityGroupId: cluster?.resourcesVpcConfig?.clusterSecurityGroupId ?? "",
        egress: cluster?.resourcesVpcConfig?.controlPlaneEgressMode ?? "AWS_MANAGED",
        scoring: cluster?.kubeSchedulerConfig?.nodeResourcesFit?.scoringStrategy?.type ?? "LeastAllocated",
      };
    },
    hasCluster: async (name) =>
      (await unless("ResourceNotFoundException", () => eks.send(new DescribeClusterCommand({ name })))) !== undefined,
    lambdaLimit: async () => {
      const response = await signedFetch({ ...lambda, service: "lambda" }, { method: "GET", path: "/2016-08-19/account-settings/" });
      const { AccountLimit: limits, Message = "" } = (await response.json()) as {
        readonly AccountLimit?: { readonly ConcurrentExecutions: number; readonly UnreservedConcurrentExecutions: number };
        readonly Message?: string;
      };
      if (!response.ok || limits === undefined) throw new Error(`Lambda's GetAccountSettings: ${response.status} ${Message}`.trimEnd());
      return { limit: limits.ConcurrentExecutions, unreserved: limits.UnreservedConcurrentExecutions };
    },
    roleArn: (name) => unless("NoSuchEntityException", async () => (await iam.send(new GetRoleCommand({ RoleName: name }))).Role?.Arn),
    accessEntryType: (clusterName, principalArn) =>
      unless("ResourceNotFoundException", async () => {
        const { accessEntry } = await eks.send(new DescribeAccessEntryCommand({ clusterName, principalArn }));
        return accessEntry?.type;
      }),
    tagged: async (kind, cluster) => {
      const input = (NextToken: string | undefined) => ({
        ...{ Filters: [{ Name: "tag:karpenter.sh/discovery", Values: [cluster] }], MaxResults: 1_000, NextToken },
      });
      const next = (page: { readonly NextToken?: string | undefined }): string | undefined => page.NextToken;
      const found =
        kind === "subnets"
          ? await allPages(
              (token) => ec2.send(new DescribeSubnetsCommand(input(token))),
              (page) => page.Subnets,
              next,
            )
          : await allPages(
              (token) => ec2.send(new DescribeSecurityGroupsCommand(input(token))),
              (page) => page.SecurityGroups,
              next,
            );
      return found.length;
    },
    tagForDiscovery: async (ids, cluster) => {
      await ec2.send(new CreateTagsCommand({ Resources: [...ids], Tags: [{ Key: "karpenter.sh/discovery", Value: cluster }] }));
    },
  };
}

/** The answer, or undefined where AWS says that there is none by an error of this name. */
async function unless<T>(name: string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && error.name === name) return undefined;
    throw error;
  }
}
