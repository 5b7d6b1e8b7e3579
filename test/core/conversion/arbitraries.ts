import fc, { type Arbitrary } from "fast-check";

/** Objects of both versions, valid by their schemas, with many fields that only one of the versions has. */

const name = fc.constantFrom("default", "gpu", "team-a");
const text = fc.constantFrom("a", "b", "1", "x-1");
const duration = fc.constantFrom("0s", "30s", "5m", "1h30m", "720h");
const orNever = fc.oneof(duration, fc.constant("Never"));
const textMap = fc.dictionary(fc.constantFrom("team", "env", "example.com/x"), text, { maxKeys: 3 });

/** A map of which any field may be missing, except the named ones. */
function some(fields: Readonly<Record<string, Arbitrary<unknown>>>, required: readonly string[] = []): Arbitrary<Record<string, unknown>> {
  return fc.record(fields, { requiredKeys: [...required] });
}

const metadata = (annotations: Arbitrary<Record<string, string>>): Arbitrary<unknown> =>
  some({ name, uid: fc.constant("u-1"), labels: textMap, annotations: annotations.filter((map) => Object.keys(map).length > 0) }, ["name"]);

const taints = fc.array(some({ key: text, value: text, effect: fc.constantFrom("NoSchedule", "NoExecute") }, ["key", "effect"]), {
  maxLength: 2,
});

const requirement = (operators: readonly string[]): Arbitrary<unknown> =>
  some(
    {
      key: fc.constantFrom("karpenter.k8s.aws/instance-cpu", "topology.kubernetes.io/zone"),
      operator: fc.constantFrom(...operators),
      values: fc.array(fc.constantFrom("0", "1", "4", "us-west-2a"), { minLength: 1, maxLength: 2 }),
      minValues: fc.constant(1),
    },
    ["key", "operator"],
  );

const requirements = (operators: readonly string[]): Arbitrary<unknown> => fc.array(requirement(operators), { maxLength: 3 });
const OLD_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const OPERATORS = [...OLD_OPERATORS, "Gte", "Lte"];

const kubelet = some({
  maxPods: fc.integer({ min: 0, max: 200 }),
  clusterDNS: fc.array(text, { maxLength: 1 }),
  kubeReserved: fc.constant({ cpu: "100m" }),
});
const resources = fc.dictionary(fc.constantFrom("cpu", "memory"), fc.constantFrom<string | number>("1", "100Gi", 1000), { maxKeys: 2 });

const refV1 = fc.record({
  group: fc.constantFrom("karpenter.k8s.aws", "example.com"),
  kind: fc.constantFrom("EC2NodeClass", "Other"),
  name,
});
const refBeta = some(
  { apiVersion: fc.constantFrom("karpenter.k8s.aws/v1beta1", "example.com/v1"), kind: fc.constantFrom("EC2NodeClass", "Other"), name },
  ["name"],
);

const budget = { nodes: fc.constantFrom("0", "10%"), schedule: fc.constant("@daily"), duration: fc.constant("1h") };
const budgetV1 = some({ ...budget, reasons: fc.uniqueArray(fc.constantFrom("Empty", "Drifted"), { minLength: 1 }) }, ["nodes"]);
const conditions = fc.array(fc.record({ type: fc.constant("Ready"), status: fc.constantFrom("True", "False") }), { maxLength: 1 });

const parkedRef = fc.constantFrom('{"name":"default"}', '{"kind":"EC2NodeClass","name":"gpu"}', "{no JSON");
const parkedKubelet = fc.constantFrom('{"maxPods":110}', "7", "{");

const poolAnnotationsV1 = some({
  "example.com/owner": text,
  "compatibility.karpenter.sh/v1beta1-nodeclass-reference": parkedRef,
  "compatibility.karpenter.sh/v1beta1-kubelet-conversion": parkedKubelet,
  "karpenter.sh/stored-version-migrated": fc.constant("true"),
}) as Arbitrary<Record<string, string>>;

const claimSpecV1 = {
  requirements: requirements(OPERATORS),
  taints,
  startupTaints: taints,
  nodeClassRef: refV1,
  expireAfter: orNever,
  terminationGracePeriod: duration,
};
const claimSpecBeta = { requirements: requirements(OLD_OPERATORS), taints, startupTaints: taints, nodeClassRef: refBeta, kubelet };

export const nodePoolV1 = fc.record({
  apiVersion: fc.constant("karpenter.sh/v1"),
  kind: fc.constant("NodePool"),
  metadata: metadata(poolAnnotationsV1),
  spec: some(
    {
      template: some({ metadata: some({ labels: textMap }), spec: some(claimSpecV1, ["requirements", "nodeClassRef"]) }, ["spec"]),
      disruption: some(
        {
          consolidateAfter: orNever,
          consolidationPolicy: fc.constantFrom("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"),
          budgets: fc.array(budgetV1, { maxLength: 2 }),
        },
        ["consolidateAfter"],
      ),
      limits: resources,
      weight: fc.integer({ min: 1, max: 100 }),
      replicas: fc.integer({ min: 0, max: 9 }),
    },
    ["template"],
  ),
  status: some({ resources, nodes: fc.nat(9), nodeClassObservedGeneration: fc.nat(9), conditions }),
});

export const nodePoolBeta = fc.record({
  apiVersion: fc.constant("karpenter.sh/v1beta1"),
  kind: fc.constant("NodePool"),
  metadata: metadata(textMap),
  spec: some(
    {
      template: some({ metadata: some({ labels: textMap }), spec: some(claimSpecBeta, ["requirements", "nodeClassRef"]) }, ["spec"]),
      disruption: fc.oneof(
        some({ consolidationPolicy: fc.constant("WhenUnderutilized"), consolidateAfter: fc.constant("Never"), expireAfter: orNever }),
        some(
          {
            consolidationPolicy: fc.constant("WhenEmpty"),
            consolidateAfter: orNever,
            expireAfter: orNever,
            budgets: fc.array(some(budget, ["nodes"]), { maxLength: 2 }),
          },
          ["consolidationPolicy", "consolidateAfter"],
        ),
      ),
      limits: resources,
      weight: fc.integer({ min: 1, max: 100 }),
    },
    ["template"],
  ),
  status: some({ resources, conditions }),
});

const claimStatus = { nodeName: text, providerID: text, imageID: text, capacity: resources, allocatable: resources, conditions };
const requests = some({ requests: resources });

export const nodeClaimV1 = fc.record({
  apiVersion: fc.constant("karpenter.sh/v1"),
  kind: fc.constant("NodeClaim"),
  metadata: metadata(poolAnnotationsV1),
  spec: some({ ...claimSpecV1, resources: requests }, ["requirements", "nodeClassRef"]),
  status: some({ ...claimStatus, lastPodEventTime: fc.constant("2026-01-01T00:00:00Z") }),
});

export const nodeClaimBeta = fc.record({
  apiVersion: fc.constant("karpenter.sh/v1beta1"),
  kind: fc.constant("NodeClaim"),
  metadata: metadata(textMap),
  spec: some({ ...claimSpecBeta, resources: requests }, ["requirements", "nodeClassRef"]),
  status: some(claimStatus),
});

const terms = (id: string): Arbitrary<unknown> =>
  fc.array(fc.oneof(fc.record({ tags: textMap }), fc.record({ id: fc.constant(id) })), { minLength: 1, maxLength: 2 });
const plainTerm = fc.oneof(
  fc.record({ id: fc.constant("ami-1") }),
  some({ name: text, owner: fc.constant("self"), tags: textMap }, ["name"]),
);
const ssmTerm = fc.record({ ssmParameter: fc.constant("/my/ami") });
const alias = fc.constantFrom("al2@latest", "al2023@v20250101", "bottlerocket@v1.20.0", "windows2022@latest", "windows2025@latest");

const ebs = { volumeSize: fc.constant("20Gi"), encrypted: fc.boolean(), snapshotID: fc.constant("snap-1") };
const devices = (more: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<unknown> =>
  fc.array(some({ deviceName: text, rootVolume: fc.boolean(), ebs: some({ ...ebs, ...more }) }), { maxLength: 2 });

const classSpec = {
  subnetSelectorTerms: terms("subnet-1"),
  securityGroupSelectorTerms: terms("sg-1"),
  userData: text,
  role: text,
  tags: textMap,
  detailedMonitoring: fc.boolean(),
  metadataOptions: some({ httpTokens: fc.constantFrom("required", "optional") }),
  associatePublicIPAddress: fc.boolean(),
  context: text,
};
const classStatus = { subnets: fc.array(fc.record({ id: text, zone: text }), { maxLength: 1 }), instanceProfile: text, conditions };

const imagesV1 = fc.oneof(
  some({ amiSelectorTerms: fc.tuple(fc.record({ alias })), amiFamily: fc.constant("Custom") }, ["amiSelectorTerms"]),
  fc.record({
    amiSelectorTerms: fc.array(fc.oneof(plainTerm, ssmTerm), { minLength: 1, maxLength: 3 }),
    amiFamily: fc.constantFrom("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2025"),
  }),
);

export const nodeClassV1 = fc
  .tuple(
    imagesV1,
    fc.record({
      apiVersion: fc.constant("karpenter.k8s.aws/v1"),
      kind: fc.constant("EC2NodeClass"),
      metadata: metadata(
        some({
          "example.com/owner": text,
          "compatibility.karpenter.k8s.aws/v1beta1-ubuntu": fc.constantFrom("amiFamily", "amiFamily,blockDeviceMappings,incompatible"),
          "compatibility.karpenter.k8s.aws/v1-alias-version": fc.constant("v1"),
        }) as Arbitrary<Record<string, string>>,
      ),
      spec: some(
        {
          ...classSpec,
          kubelet,
          blockDeviceMappings: devices({ volumeInitializationRate: fc.constant(100) }),
          placementGroupSelector: fc.record({ name: text }),
          ipPrefixCount: fc.nat(3),
        },
        ["subnetSelectorTerms", "securityGroupSelectorTerms"],
      ),
      status: some({
        ...classStatus,
        capacityReservations: fc.constant([{ id: "cr-1" }]),
        amis: fc.array(some({ id: text, deprecated: fc.boolean() }, ["id"]), { maxLength: 2 }),
      }),
    }),
  )
  .map(([images, object]) => ({ ...object, spec: { ...object.spec, ...images } }));

const imagesBeta = fc.oneof(
  some(
    {
      amiFamily: fc.constantFrom("AL2", "AL2023", "Bottlerocket", "Ubuntu", "Windows2019", "Windows2022"),
      amiSelectorTerms: fc.array(plainTerm, { maxLength: 2 }),
    },
    ["amiFamily"],
  ),
  fc.record({ amiFamily: fc.constant("Custom"), amiSelectorTerms: fc.array(plainTerm, { minLength: 1, maxLength: 2 }) }),
);

export const nodeClassBeta = fc
  .tuple(
    imagesBeta,
    fc.record({
      apiVersion: fc.constant("karpenter.k8s.aws/v1beta1"),
      kind: fc.constant("EC2NodeClass"),
      metadata: metadata(
        some({ "example.com/owner": text, "compatibility.karpenter.k8s.aws/v1-alias-version": fc.constant("v20250101") }) as Arbitrary<
          Record<string, string>
        >,
      ),
      spec: some({ ...classSpec, blockDeviceMappings: devices({}) }, ["subnetSelectorTerms", "securityGroupSelectorTerms"]),
      status: some(classStatus),
    }),
  )
  .map(([images, object]) => ({ ...object, spec: { ...object.spec, ...images } }));

const anything = fc.jsonValue({ maxDepth: 1 });

/** A spec with fields that the conversions read, of any shape. */
export const shapelessSpec = some({
  template: fc.oneof(
    anything,
    some({ metadata: anything, spec: some({ requirements: anything, nodeClassRef: anything, kubelet: anything }) }),
  ),
  disruption: fc.oneof(anything, some({ budgets: anything, consolidationPolicy: anything, consolidateAfter: anything })),
  amiFamily: fc.oneof(anything, fc.constantFrom("AL2", "Ubuntu", "Custom")),
  amiSelectorTerms: fc.oneof(anything, fc.array(anything)),
  amiSelector: anything,
  subnetSelector: anything,
  blockDeviceMappings: fc.array(fc.oneof(anything, some({ ebs: fc.oneof(anything, some({ volumeSize: anything })) }))),
  tags: anything,
  provider: fc.oneof(anything, some({ subnetSelector: anything, blockDeviceMappings: anything, tags: anything })),
  providerRef: anything,
  requirements: fc.oneof(anything, fc.array(anything)),
  consolidation: anything,
  ttlSecondsAfterEmpty: anything,
  ttlSecondsUntilExpired: anything,
  kubeletConfiguration: anything,
  limits: anything,
  labels: anything,
  machineTemplateRef: anything,
});
