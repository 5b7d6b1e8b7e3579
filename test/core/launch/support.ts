import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import { type InstanceTypesInput, instanceTypesOf } from "#core/offerings/instance-types.ts";

export const catalogue = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
export const cluster = { name: "prod", endpoint: "https://ABC.eks.example", caBundle: "Q0E=", serviceCidr: "10.100.0.0/16" };

const GPU = "karpenter.k8s.aws/instance-gpu-count";

/** A ready NodeClass: a subnet in each zone, images of two architectures, a GPU image. */
export function nodeClass(
  overrides: { spec?: Partial<EC2NodeClass["spec"]>; status?: EC2NodeClass["status"]; metadata?: Partial<EC2NodeClass["metadata"]> } = {},
): EC2NodeClass {
  return {
    metadata: { name: "default", generation: 1, ...overrides.metadata },
    spec: {
      subnetSelectorTerms: [{ tags: { a: "b" } }],
      securityGroupSelectorTerms: [{ tags: { a: "b" } }],
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "node",
      ...overrides.spec,
    },
    status: {
      subnets: catalogue.zones.map(({ name, zoneId }) => ({ id: `subnet-${name}`, zone: name, zoneID: zoneId })),
      securityGroups: [{ id: "sg-1" }],
      amis: [
        {
          id: "ami-amd",
          requirements: [
            { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
            { key: GPU, operator: "DoesNotExist" },
          ],
        },
        {
          id: "ami-arm",
          requirements: [
            { key: "kubernetes.io/arch", operator: "In", values: ["arm64"] },
            { key: GPU, operator: "DoesNotExist" },
          ],
        },
        {
          id: "ami-gpu",
          requirements: [
            { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
            { key: GPU, operator: "Exists" },
          ],
        },
      ],
      instanceProfile: "prod_1",
      conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }],
      ...overrides.status,
    },
  };
}

export function claim(overrides: { spec?: Partial<NodeClaim["spec"]>; metadata?: Partial<NodeClaim["metadata"]> } = {}): NodeClaim {
  return {
    metadata: {
      name: "default-abcde",
      uid: "11111111-2222-3333-4444-555555555555",
      labels: { "karpenter.sh/nodepool": "default", team: "a" },
      ...overrides.metadata,
    },
    spec: {
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      requirements: [
        { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
        { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "m6g.large", "m5.xlarge"] },
        { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand", "spot"] },
      ],
      resources: { requests: { cpu: "1", memory: "1Gi", pods: "3" } },
      ...overrides.spec,
    },
  };
}

export function typesOf(overrides: Partial<InstanceTypesInput> = {}): readonly InstanceType[] {
  return instanceTypesOf({
    catalogue,
    nodeClass: nodeClass(),
    unavailable: [],
    settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
    ...overrides,
  });
}
