import { AwsError } from "./errors.ts";
import { type FakeAwsState, VPC } from "./world.ts";

/** A cluster as EKS describes it: the current `FakeAws.cluster`, or one of the others. */
export function describeCluster(world: FakeAwsState, name: string): unknown {
  const { region, account } = world;
  const cluster = [world.cluster, ...(world.options.otherClusters ?? [])].find((one) => one.name === name);
  if (cluster === undefined) throw new AwsError("ResourceNotFoundException", `No cluster found for name: ${name}.`, 404);
  const groups = [...world.securityGroups.values()];
  const own = groups.find(({ tags }) => tags.get("aws:eks:cluster-name") === name) ?? groups[0];
  return {
    cluster: {
      name,
      arn: `arn:aws:eks:${region}:${account}:cluster/${name}`,
      createdAt: 1_760_000_000,
      version: cluster.version,
      platformVersion: "eks.7",
      status: "ACTIVE",
      endpoint: cluster.endpoint,
      certificateAuthority: { data: cluster.caData },
      roleArn: `arn:aws:iam::${account}:role/${name}-cluster`,
      resourcesVpcConfig: {
        vpcId: own?.vpcId ?? VPC,
        subnetIds: [...world.subnets.keys()],
        securityGroupIds: [],
        clusterSecurityGroupId: own?.id ?? "",
        endpointPublicAccess: true,
        endpointPrivateAccess: true,
        publicAccessCidrs: ["0.0.0.0/0"],
      },
      kubernetesNetworkConfig: { serviceIpv4Cidr: cluster.serviceCidr, ipFamily: "ipv4" },
      identity: { oidc: { issuer: `https://oidc.eks.${region}.amazonaws.com/id/FAKE` } },
      logging: { clusterLogging: [{ types: ["api", "audit"], enabled: true }] },
      accessConfig: { authenticationMode: "API" },
      tags: {},
    },
  };
}
