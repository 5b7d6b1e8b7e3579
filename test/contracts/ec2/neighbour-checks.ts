import assert from "node:assert/strict";
import { DescribeImagesCommand } from "@aws-sdk/client-ec2";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  DeleteInstanceProfileCommand,
  GetInstanceProfileCommand,
  ListInstanceProfilesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from "@aws-sdk/client-iam";
import { GetProductsCommand, paginateGetProducts } from "@aws-sdk/client-pricing";
import { GetParameterCommand, GetParametersCommand } from "@aws-sdk/client-ssm";
import { present, refused } from "./assertions.ts";
import type { Check } from "./contract.ts";
import type { ContractWorld } from "./world.ts";

const priceFilters = (tenancy: string, family: string) =>
  Object.entries({
    regionCode: "us-west-2",
    serviceCode: "AmazonEC2",
    preInstalledSw: "NA",
    operatingSystem: "Linux",
    capacitystatus: "Used",
    marketoption: "OnDemand",
    tenancy,
    productFamily: family,
  }).map(([Field, Value]) => ({ Type: "TERM_MATCH" as const, Field, Value }));

type Product = {
  readonly product: { readonly attributes: { readonly instanceType: string } };
  readonly terms: {
    readonly OnDemand: Record<string, { readonly priceDimensions: Record<string, { readonly pricePerUnit: { readonly USD: string } }> }>;
  };
};

const al2023 = ({ target }: ContractWorld): string =>
  `/aws/service/eks/optimized-ami/${target.kubernetesVersion}/amazon-linux-2023/x86_64/standard/recommended/image_id`;

async function prices(world: ContractWorld, tenancy: string, family: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const pages = paginateGetProducts(
    { client: world.pricing, pageSize: 100 },
    { ServiceCode: "AmazonEC2", Filters: priceFilters(tenancy, family) },
  );
  for await (const { PriceList = [] } of pages) {
    for (const entry of PriceList) {
      const { product, terms } = JSON.parse(String(entry)) as Product;
      const [term] = Object.values(terms.OnDemand);
      const [dimension] = Object.values(term?.priceDimensions ?? {});
      found.set(product.attributes.instanceType, Number(dimension?.pricePerUnit.USD));
    }
  }
  return found;
}

export const neighbourChecks: readonly Check[] = [
  {
    name: "SSM: the recommended EKS image is an image that EC2 knows",
    async run(world) {
      const { Parameter } = await world.ssm.send(new GetParameterCommand({ Name: al2023(world) }));
      const id = present(Parameter?.Value, "Value");
      assert.match(id, /^ami-/);
      const { Images = [] } = await world.ec2.send(new DescribeImagesCommand({ Filters: [{ Name: "image-id", Values: [id] }] }));
      assert.equal(Images[0]?.Architecture, "x86_64");
      assert.match(Images[0]?.Name ?? "", /^amazon-eks-node-al2023-x86_64-standard-/);
    },
  },
  {
    name: "SSM: the latest Bottlerocket image exists for both architectures",
    async run(world) {
      const { Parameters = [], InvalidParameters = [] } = await world.ssm.send(
        new GetParametersCommand({
          Names: ["x86_64", "arm64"].map(
            (arch) => `/aws/service/bottlerocket/aws-k8s-${world.target.kubernetesVersion}/${arch}/latest/image_id`,
          ),
        }),
      );
      assert.deepEqual(InvalidParameters, []);
      assert.equal(new Set(Parameters.map(({ Value }) => Value)).size, 2);
    },
  },
  {
    name: "SSM: an unknown parameter is ParameterNotFound, or listed as invalid",
    async run(world) {
      const Name = "/aws/service/eks/optimized-ami/1.01/amazon-linux-2023/x86_64/standard/recommended/image_id";
      await refused(world.ssm.send(new GetParameterCommand({ Name })), "ParameterNotFound");
      const { InvalidParameters } = await world.ssm.send(new GetParametersCommand({ Names: [Name] }));
      assert.deepEqual(InvalidParameters, [Name]);
    },
  },
  {
    name: "Pricing: on-demand prices of shared instances, as JSON in a list",
    async run(world) {
      const found = await prices(world, "Shared", "Compute Instance");
      assert.equal(found.get("m5.large"), 0.096);
      assert.equal(found.has("m5.metal"), false);
    },
  },
  {
    name: "Pricing: bare metal is listed apart, under dedicated tenancy",
    async run(world) {
      const found = await prices(world, "Dedicated", "Compute Instance (bare metal)");
      assert.equal(found.get("m5.metal"), 4.608);
      assert.equal(found.has("m5.large"), false);
    },
  },
  {
    name: "Pricing: nothing matches another region's code",
    async run(world) {
      const Filters = [{ Type: "TERM_MATCH" as const, Field: "regionCode", Value: "mars-north-1" }];
      const { PriceList } = await world.pricing.send(new GetProductsCommand({ ServiceCode: "AmazonEC2", Filters }));
      assert.deepEqual(PriceList ?? [], []);
    },
  },
  {
    name: "EKS: the cluster has an endpoint, an authority, a version and a service range",
    async run(world) {
      const { cluster } = await world.eks.send(new DescribeClusterCommand({ name: world.target.clusterName }));
      assert.match(cluster?.endpoint ?? "", /^https:/);
      assert.ok(cluster?.certificateAuthority?.data);
      assert.equal(cluster?.version, world.target.kubernetesVersion);
      assert.match(cluster?.kubernetesNetworkConfig?.serviceIpv4Cidr ?? "", /^\d+\.\d+\.\d+\.\d+\/\d+$/);
    },
  },
  {
    name: "EKS: an unknown cluster is ResourceNotFoundException",
    async run(world) {
      await refused(world.eks.send(new DescribeClusterCommand({ name: world.unique("absent") })), "ResourceNotFoundException");
    },
  },
  {
    name: "IAM: an instance profile lives with its path, tags and role, and dies without them",
    async run({ iam, unique, target }) {
      const InstanceProfileName = unique("profile");
      const RoleName = target.roleName;
      const Path = "/karpenter/us-west-2/contract/";
      await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName, Path, Tags: [{ Key: "owner", Value: "contract" }] }));
      await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName }));
      const { InstanceProfile } = await iam.send(new GetInstanceProfileCommand({ InstanceProfileName }));
      assert.equal(InstanceProfile?.Path, Path);
      assert.deepEqual(InstanceProfile?.Tags, [{ Key: "owner", Value: "contract" }]);
      assert.equal(InstanceProfile?.Roles?.[0]?.RoleName, RoleName);
      const { InstanceProfiles = [] } = await iam.send(new ListInstanceProfilesCommand({ PathPrefix: "/karpenter/us-west-2/contract" }));
      assert.ok(InstanceProfiles.some((profile) => profile.InstanceProfileName === InstanceProfileName));
      await refused(iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName })), "DeleteConflictException");
      await iam.send(new RemoveRoleFromInstanceProfileCommand({ InstanceProfileName, RoleName }));
      await iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName }));
      await refused(iam.send(new GetInstanceProfileCommand({ InstanceProfileName })), "NoSuchEntityException");
    },
  },
  {
    name: "IAM: a profile's name can be used once",
    async run({ iam, unique }) {
      const InstanceProfileName = unique("profile");
      await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
      await refused(iam.send(new CreateInstanceProfileCommand({ InstanceProfileName })), "EntityAlreadyExistsException");
    },
  },
  {
    name: "IAM: a profile holds one role, and only one that exists",
    async run({ iam, unique, target }) {
      const InstanceProfileName = unique("profile");
      await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName }));
      const add = (RoleName: string) => iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName, RoleName }));
      await refused(add(unique("absent")), "NoSuchEntityException");
      await add(target.roleName);
      await refused(add(target.roleName), "LimitExceededException");
    },
  },
];
