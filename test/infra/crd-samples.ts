/**
 * Objects as users write them, and how the API server must answer each. crds-on-server.ts runs them against a real one.
 */

export interface Sample {
  readonly name: string;
  readonly object: object;
  /** Part of the refusal; absent when the object must be accepted. */
  readonly refused?: string;
}

/** A change of an object that exists. */
export interface Change extends Sample {
  readonly before: object;
}

type Fields = Readonly<Record<string, unknown>>;

const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

/** A NodePool: `template` is merged into spec.template.spec, `spec` into spec. */
export function nodePool({ template = {}, labels, spec = {} }: { template?: Fields; labels?: Fields; spec?: Fields }): object {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "sample" },
    spec: { template: { ...(labels && { metadata: { labels } }), spec: { requirements: [], nodeClassRef, ...template } }, ...spec },
  };
}

function requiring(requirement: Fields): object {
  return nodePool({ template: { requirements: [requirement] } });
}

function disrupting(disruption: Fields): object {
  return nodePool({ spec: { disruption } });
}

function budgeting(budget: Fields): object {
  return disrupting({ consolidateAfter: "0s", budgets: [budget] });
}

function nodeClaim(spec: Fields): object {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: "sample" },
    spec: { requirements: [], nodeClassRef, ...spec },
  };
}

const nodeClassSpec = {
  role: "KarpenterNodeRole-c1",
  amiSelectorTerms: [{ alias: "al2023@latest" }],
  subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
  securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
};

/** An EC2NodeClass; a field given as undefined is left out. */
export function nodeClass(spec: Fields): object {
  return { apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", metadata: { name: "sample" }, spec: { ...nodeClassSpec, ...spec } };
}

function ami(...amiSelectorTerms: readonly Fields[]): object {
  return nodeClass({ amiSelectorTerms, amiFamily: "AL2023" });
}

function kubelet(fields: Fields): object {
  return nodeClass({ kubelet: fields });
}

function ebs(fields: Fields): object {
  return nodeClass({ blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: fields }] });
}

const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" };

/** As published in tutorials that users start from. */
const tutorials: readonly Sample[] = [
  {
    name: "tutorial: NodePool of c, m and r types newer than 2",
    object: nodePool({
      template: {
        requirements: [
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
          { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
          { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
          { key: "karpenter.k8s.aws/instance-category", operator: "In", values: ["c", "m", "r"] },
          { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["2"] },
        ],
        expireAfter: "720h",
      },
      spec: { limits: { cpu: 1000 }, disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "1m" } },
    }),
  },
  { name: "tutorial: EC2NodeClass by role, alias and discovery tags", object: nodeClass({}) },
  {
    name: "tutorial: NodePool of spot",
    object: requiring({ key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] }),
  },
  { name: "tutorial: EC2NodeClass of bottlerocket", object: nodeClass({ amiSelectorTerms: [{ alias: "bottlerocket@latest" }] }) },
];

const nodePools: readonly Sample[] = [
  { name: "no requirements", object: nodePool({}) },
  { name: "every operator", object: nodePool({ template: { requirements: everyOperator() } }) },
  {
    name: "custom and well-known labels",
    object: nodePool({ labels: { team: "a", "example.com/x": "", "karpenter.k8s.aws/instance-family": "m5" } }),
  },
  { name: "label karpenter.sh/nodepool", object: nodePool({ labels: { "karpenter.sh/nodepool": "x" } }), refused: "set by the system" },
  {
    name: "label kubernetes.io/hostname",
    object: nodePool({ labels: { "kubernetes.io/hostname": "x" } }),
    refused: "set by the kubelet",
  },
  {
    name: "label of karpenter.sh",
    object: nodePool({ labels: { "karpenter.sh/own": "x" } }),
    refused: "label domain karpenter.sh is restricted",
  },
  {
    name: "label of a part of karpenter.sh",
    object: nodePool({ labels: { "a.karpenter.sh/own": "x" } }),
    refused: "label domain karpenter.sh is restricted",
  },
  {
    name: "label of karpenter.k8s.aws",
    object: nodePool({ labels: { "karpenter.k8s.aws/own": "x" } }),
    refused: "label domain karpenter.k8s.aws is restricted",
  },
  { name: "label value of 64 characters", object: nodePool({ labels: { team: "a".repeat(64) } }), refused: "may not be more than 63" },
  { name: "label value with a blank", object: nodePool({ labels: { team: "a b" } }), refused: "should match" },
  { name: "In without values", object: requiring({ key: "a", operator: "In" }), refused: "In needs at least one value" },
  { name: "In of nothing", object: requiring({ key: "a", operator: "In", values: [] }), refused: "In needs at least one value" },
  { name: "Gt of a word", object: requiring({ key: "a", operator: "Gt", values: ["x"] }), refused: "exactly one value" },
  { name: "Lt of a negative", object: requiring({ key: "a", operator: "Lt", values: ["-1"] }), refused: "should match" },
  { name: "Gte of two", object: requiring({ key: "a", operator: "Gte", values: ["1", "2"] }), refused: "exactly one value" },
  { name: "an unknown operator", object: requiring({ key: "a", operator: "Like", values: ["1"] }), refused: "Unsupported value" },
  { name: "minValues within the values", object: requiring({ key: "a", operator: "In", values: ["1", "2"], minValues: 2 }) },
  {
    name: "minValues beyond the values",
    object: requiring({ key: "a", operator: "In", values: ["1"], minValues: 2 }),
    refused: "'minValues' asks for more",
  },
  { name: "minValues 51", object: requiring({ key: "a", operator: "Exists", minValues: 51 }), refused: "less than or equal to 50" },
  { name: "minValues 0", object: requiring({ key: "a", operator: "Exists", minValues: 0 }), refused: "greater than or equal to 1" },
  {
    name: "requirement on the pool",
    object: requiring({ key: "karpenter.sh/nodepool", operator: "Exists" }),
    refused: "set by the system",
  },
  { name: "requirement on the host name", object: requiring({ key: "kubernetes.io/hostname", operator: "Exists" }), refused: "kubelet" },
  {
    name: "requirement on karpenter.sh",
    object: requiring({ key: "karpenter.sh/x", operator: "Exists" }),
    refused: "karpenter.sh is restricted",
  },
  {
    name: "requirement on an unknown AWS label",
    object: requiring({ key: "karpenter.k8s.aws/instance-pods", operator: "Exists" }),
    refused: "karpenter.k8s.aws is restricted",
  },
  { name: "requirement on kubernetes.io is allowed", object: requiring({ key: "kubernetes.io/own", operator: "Exists" }) },
  { name: "requirement on an unqualified key", object: requiring({ key: "a/b/c", operator: "Exists" }), refused: "should match" },
  { name: "requirement on an empty key", object: requiring({ key: "", operator: "Exists" }), refused: "should match" },
  {
    name: "101 requirements",
    object: nodePool({ template: { requirements: Array.from({ length: 101 }, (_, i) => ({ key: `k${i}`, operator: "Exists" })) } }),
    refused: "must have at most 100 items",
  },
  {
    name: "100 requirements of 60 values",
    object: nodePool({
      template: {
        requirements: Array.from({ length: 100 }, (_, i) => ({
          key: `k${i}`,
          operator: "In",
          values: Array.from({ length: 60 }, (_unused, j) => `v${j}`),
        })),
      },
    }),
  },
  { name: "no requirements at all", object: nodePool({ template: { requirements: undefined } }), refused: "requirements: Required" },
  { name: "no node class", object: nodePool({ template: { nodeClassRef: undefined } }), refused: "nodeClassRef: Required" },
  {
    name: "node class without a group",
    object: nodePool({ template: { nodeClassRef: { kind: "EC2NodeClass", name: "default" } } }),
    refused: "group: Required",
  },
  {
    name: "node class with a version in its group",
    object: nodePool({ template: { nodeClassRef: { ...nodeClassRef, group: "karpenter.k8s.aws/v1" } } }),
    refused: "should match",
  },
  {
    name: "taints",
    object: nodePool({
      template: {
        taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }],
        startupTaints: [{ key: "node.cilium.io/agent-not-ready", value: "true", effect: "NoExecute" }],
      },
    }),
  },
  { name: "a taint without an effect", object: nodePool({ template: { taints: [{ key: "a" }] } }), refused: "effect: Required" },
  {
    name: "a taint of an unknown effect",
    object: nodePool({ template: { taints: [{ key: "a", effect: "Never" }] } }),
    refused: "Unsupported value",
  },
  { name: "expireAfter Never", object: nodePool({ template: { expireAfter: "Never" } }) },
  { name: "expireAfter 1h30m", object: nodePool({ template: { expireAfter: "1h30m" } }) },
  { name: "expireAfter in days", object: nodePool({ template: { expireAfter: "30d" } }), refused: "should match" },
  { name: "terminationGracePeriod 0s", object: nodePool({ template: { terminationGracePeriod: "0s" } }) },
  {
    name: "terminationGracePeriod Never",
    object: nodePool({ template: { terminationGracePeriod: "Never" } }),
    refused: "should match",
  },
  { name: "disruption of nothing", object: disrupting({}) },
  { name: "consolidateAfter Never", object: disrupting({ consolidateAfter: "Never" }) },
  {
    name: "a policy of v1beta1",
    object: disrupting({ consolidateAfter: "0s", consolidationPolicy: "WhenUnderutilized" }),
    refused: "Unsupported value",
  },
  { name: "policy Balanced", object: disrupting({ consolidateAfter: "0s", consolidationPolicy: "Balanced" }) },
  { name: "a budget of nothing", object: disrupting({ consolidateAfter: "0s", budgets: [] }) },
  { name: "a nightly budget", object: budgeting({ nodes: "0", schedule: "0 9 * * mon-fri", duration: "8h", reasons: ["Drifted"] }) },
  { name: "a budget of node repair", object: budgeting({ nodes: "1", reasons: ["Unhealthy"] }) },
  { name: "a daily budget", object: budgeting({ nodes: "100%", schedule: "@daily", duration: "10h30m0s" }) },
  { name: "a budget without a number", object: budgeting({ reasons: ["Empty"] }) },
  { name: "a budget of 101%", object: budgeting({ nodes: "101%" }), refused: "should match" },
  { name: "a budget of -1", object: budgeting({ nodes: "-1" }), refused: "should match" },
  { name: "a schedule without a duration", object: budgeting({ nodes: "1", schedule: "@daily" }), refused: "need each other" },
  { name: "a duration without a schedule", object: budgeting({ nodes: "1", duration: "1h" }), refused: "need each other" },
  { name: "a duration in seconds", object: budgeting({ nodes: "1", schedule: "@daily", duration: "30s" }), refused: "should match" },
  { name: "a schedule of four fields", object: budgeting({ nodes: "1", schedule: "0 9 * *", duration: "1h" }), refused: "should match" },
  { name: "a schedule @never", object: budgeting({ nodes: "1", schedule: "@never", duration: "1h" }), refused: "should match" },
  { name: "an unknown reason", object: budgeting({ nodes: "1", reasons: ["Expired"] }), refused: "Unsupported value" },
  {
    name: "51 budgets",
    object: disrupting({ consolidateAfter: "0s", budgets: Array.from({ length: 51 }, () => ({ nodes: "1" })) }),
    refused: "at most 50 items",
  },
  {
    name: "limits of any resource",
    object: nodePool({ spec: { limits: { cpu: "1k", memory: "1000Gi", "nvidia.com/gpu": 2, nodes: 5 } } }),
  },
  { name: "a limit that is no quantity", object: nodePool({ spec: { limits: { cpu: "many" } } }), refused: "should match" },
  { name: "weight 100", object: nodePool({ spec: { weight: 100 } }) },
  { name: "weight 0", object: nodePool({ spec: { weight: 0 } }), refused: "greater than or equal to 1" },
  { name: "weight 101", object: nodePool({ spec: { weight: 101 } }), refused: "less than or equal to 100" },
  { name: "replicas with a limit on nodes", object: nodePool({ spec: { replicas: 3, limits: { nodes: 5 } } }) },
  {
    name: "replicas with a limit on cpu",
    object: nodePool({ spec: { replicas: 3, limits: { cpu: 5 } } }),
    refused: "may only hold 'nodes'",
  },
  { name: "replicas with weight", object: nodePool({ spec: { replicas: 3, weight: 5 } }), refused: "'weight' has no meaning" },
  { name: "replicas -1", object: nodePool({ spec: { replicas: -1 } }), refused: "greater than or equal to 0" },
];

function everyOperator(): readonly Fields[] {
  return [
    { key: "a", operator: "In", values: ["1"] },
    { key: "b", operator: "NotIn", values: ["1"] },
    { key: "c", operator: "Exists" },
    { key: "d", operator: "DoesNotExist" },
    ...["Gt", "Lt", "Gte", "Lte"].map((operator) => ({ key: operator, operator, values: ["1"] })),
  ];
}

const nodeClaims: readonly Sample[] = [
  {
    name: "a claim as the provisioner makes it",
    object: nodeClaim({
      requirements: [
        { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
        { key: "karpenter.k8s.aws/ec2nodeclass", operator: "In", values: ["default"] },
        { key: "node.kubernetes.io/instance-type", operator: "In", values: Array.from({ length: 600 }, (_, i) => `m${i}.large`) },
      ],
      resources: { requests: { cpu: "1150m", memory: "1Gi", pods: "4" } },
    }),
  },
  {
    name: "a claim on a host name",
    object: nodeClaim({ requirements: [{ key: "kubernetes.io/hostname", operator: "Exists" }] }),
    refused: "set by the kubelet",
  },
  { name: "a claim without a node class", object: nodeClaim({ nodeClassRef: undefined }), refused: "nodeClassRef: Required" },
];

const nodeClasses: readonly Sample[] = [
  { name: "neither role nor profile", object: nodeClass({ role: undefined }), refused: "exactly one of 'role' and 'instanceProfile'" },
  { name: "role and profile", object: nodeClass({ instanceProfile: "p" }), refused: "exactly one of 'role' and 'instanceProfile'" },
  { name: "a profile", object: nodeClass({ role: undefined, instanceProfile: "p" }) },
  { name: "an empty role", object: nodeClass({ role: "" }), refused: "should be at least 1 chars" },
  { name: "no subnets", object: nodeClass({ subnetSelectorTerms: [] }), refused: "should have at least 1 items" },
  { name: "a subnet term of nothing", object: nodeClass({ subnetSelectorTerms: [{}] }), refused: "needs 'tags' or 'id'" },
  { name: "a subnet", object: nodeClass({ subnetSelectorTerms: [{ id: "subnet-0a1" }, { tags: { Name: "*" } }] }) },
  {
    name: "a subnet by id and tags",
    object: nodeClass({ subnetSelectorTerms: [{ id: "subnet-0a1", tags: { a: "b" } }] }),
    refused: "'id' stands alone",
  },
  { name: "a subnet of another name", object: nodeClass({ subnetSelectorTerms: [{ id: "sub-1" }] }), refused: "should match" },
  { name: "a tag without a value", object: nodeClass({ subnetSelectorTerms: [{ tags: { a: "" } }] }), refused: "cannot be empty" },
  {
    name: "21 tags",
    object: nodeClass({ subnetSelectorTerms: [{ tags: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, "v"])) }] }),
    refused: "must have at most 20",
  },
  { name: "a security group by name", object: nodeClass({ securityGroupSelectorTerms: [{ name: "nodes" }] }) },
  {
    name: "a security group by name and tags",
    object: nodeClass({ securityGroupSelectorTerms: [{ name: "nodes", tags: { a: "b" } }] }),
    refused: "'name' stands alone",
  },
  { name: "no image", object: nodeClass({ amiSelectorTerms: undefined }), refused: "amiSelectorTerms: Required" },
  { name: "an image by id without a family", object: nodeClass({ amiSelectorTerms: [{ id: "ami-1" }] }), refused: "'amiFamily' is needed" },
  { name: "an image by id", object: ami({ id: "ami-1" }, { name: "mine-*", owner: "self" }, { ssmParameter: "/a/b" }) },
  { name: "an image by owner alone", object: ami({ owner: "self" }), refused: "needs 'tags', 'id'" },
  { name: "an image by id and name", object: ami({ id: "ami-1", name: "x" }), refused: "'id' stands alone" },
  { name: "an alias and a name in one term", object: ami({ alias: "al2023@latest", name: "x" }), refused: "'alias' stands alone" },
  { name: "an alias and another term", object: ami({ alias: "al2023@latest" }, { id: "ami-1" }), refused: "is the only term" },
  { name: "an alias without a version", object: ami({ alias: "al2023" }), refused: "form family@version" },
  { name: "an alias of ubuntu", object: ami({ alias: "ubuntu@latest" }), refused: "the family of an 'alias' is" },
  { name: "an alias in capitals", object: ami({ alias: "AL2023@latest" }), refused: "the family of an 'alias' is" },
  { name: "a version of Windows", object: ami({ alias: "windows2022@v1" }), refused: "no version but latest" },
  { name: "a family beside its alias", object: ami({ alias: "al2023@v20250101" }) },
  { name: "another family beside an alias", object: ami({ alias: "al2@latest" }), refused: "must be the alias's family" },
  { name: "Custom beside an alias", object: nodeClass({ amiFamily: "Custom" }) },
  { name: "family Ubuntu", object: nodeClass({ amiFamily: "Ubuntu" }), refused: "Unsupported value" },
  {
    name: "reservations",
    object: nodeClass({
      capacityReservationSelectorTerms: [{ id: "cr-1" }, { instanceMatchCriteria: "open", ownerID: "111122223333", tags: { a: "*" } }],
    }),
  },
  {
    name: "a reservation by owner alone",
    object: nodeClass({ capacityReservationSelectorTerms: [{ ownerID: "111122223333" }] }),
    refused: "needs 'tags', 'id' or 'instanceMatchCriteria'",
  },
  {
    name: "a reservation by id and tags",
    object: nodeClass({ capacityReservationSelectorTerms: [{ id: "cr-1", tags: { a: "b" } }] }),
    refused: "'id' stands alone",
  },
  { name: "no reservations", object: nodeClass({ capacityReservationSelectorTerms: [] }) },
  { name: "a placement group", object: nodeClass({ placementGroupSelector: { name: "x" } }) },
  {
    name: "a placement group twice",
    object: nodeClass({ placementGroupSelector: { name: "x", id: "pg-1" } }),
    refused: "exactly one of 'name' and 'id'",
  },
  { name: "own tags", object: nodeClass({ tags: { Name: "worker", team: "" } }) },
  { name: "the cluster's tag", object: nodeClass({ tags: { "kubernetes.io/cluster/x": "owned" } }), refused: "set by the system" },
  { name: "EKS's tag", object: nodeClass({ tags: { "eks:eks-cluster-name": "x" } }), refused: "set by the system" },
  { name: "the claim's tag", object: nodeClass({ tags: { "karpenter.sh/nodeclaim": "x" } }), refused: "set by the system" },
  {
    name: "a kubelet",
    object: kubelet({
      clusterDNS: ["10.0.0.10"],
      maxPods: 20,
      podsPerCore: 2,
      systemReserved: { cpu: "100m", memory: "100Mi" },
      kubeReserved: { cpu: "200m", "ephemeral-storage": "3Gi" },
      evictionHard: { "memory.available": "5%", "nodefs.inodesFree": "10%" },
      evictionSoft: { "memory.available": "500Mi" },
      evictionSoftGracePeriod: { "memory.available": "1m30s" },
      evictionMaxPodGracePeriod: 60,
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      cpuCFSQuota: true,
    }),
  },
  // The controller checks names and types, and says what is wrong in ValidationSucceeded.
  { name: "a kubelet's other fields", object: kubelet({ featureGates: { A: true }, logging: { verbosity: 4 } }) },
  { name: "a kubelet that is a list", object: kubelet([] as unknown as Fields), refused: "kubelet" },
  { name: "devices", object: ebs({ volumeSize: "100Gi", volumeType: "gp3", iops: 10000, throughput: 125, encrypted: true }) },
  { name: "a device of 19Ti", object: ebs({ volumeSize: "19Ti" }) },
  { name: "a device from a snapshot", object: ebs({ snapshotID: "snap-1", volumeInitializationRate: 100 }) },
  { name: "a device without a size", object: ebs({ volumeType: "gp3" }), refused: "needs 'snapshotID' or 'volumeSize'" },
  { name: "a device of 59Ti", object: ebs({ volumeSize: "59Ti" }), refused: "should match" },
  { name: "a device of 59001Gi", object: ebs({ volumeSize: "59001Gi" }), refused: "should match" },
  { name: "a rate without a snapshot", object: ebs({ volumeSize: "1Gi", volumeInitializationRate: 100 }), refused: "needs 'snapshotID'" },
  {
    name: "two root volumes",
    object: nodeClass({ blockDeviceMappings: [{ rootVolume: true }, { rootVolume: true }] }),
    refused: "at most one",
  },
  { name: "interfaces", object: nodeClass({ networkInterfaces: [primary, { ...primary, deviceIndex: 1, interfaceType: "efa-only" }] }) },
  {
    name: "no primary interface",
    object: nodeClass({ networkInterfaces: [{ ...primary, deviceIndex: 1 }] }),
    refused: "needs the primary one",
  },
  { name: "an interface twice", object: nodeClass({ networkInterfaces: [primary, primary] }), refused: "can stand once" },
  {
    name: "two efa-only on one card",
    object: nodeClass({
      networkInterfaces: [primary, ...[1, 2].map((deviceIndex) => ({ ...primary, deviceIndex, interfaceType: "efa-only" }))],
    }),
    refused: "one efa-only",
  },
  {
    name: "a hop limit of 65",
    object: nodeClass({ metadataOptions: { httpPutResponseHopLimit: 65 } }),
    refused: "less than or equal to 64",
  },
  { name: "connection tracking", object: nodeClass({ connectionTracking: { udpTimeout: 30 } }) },
  { name: "connection tracking of nothing", object: nodeClass({ connectionTracking: {} }), refused: "at least one of its timeouts" },
  { name: "a short UDP timeout", object: nodeClass({ connectionTracking: { udpTimeout: 29 } }), refused: "greater than or equal to 30" },
];

/** A CapacityBuffer of namespace "default". */
export function capacityBuffer(spec: Fields): object {
  return { apiVersion: "autoscaling.x-k8s.io/v1beta1", kind: "CapacityBuffer", metadata: { name: "sample", namespace: "default" }, spec };
}

const podTemplateRef = { name: "room" };

const capacityBuffers: readonly Sample[] = [
  { name: "a buffer of a PodTemplate", object: capacityBuffer({ podTemplateRef, replicas: 2 }) },
  { name: "a buffer as large as its limits", object: capacityBuffer({ podTemplateRef, limits: { cpu: 4, memory: "8Gi" } }) },
  {
    name: "a buffer of a share",
    object: capacityBuffer({ scalableRef: { apiGroup: "apps", kind: "Deployment", name: "web" }, percentage: 10 }),
  },
  { name: "a buffer of no size", object: capacityBuffer({ podTemplateRef }), refused: "'replicas' or 'limits' must say how much" },
  {
    name: "a buffer of two shapes",
    object: capacityBuffer({ podTemplateRef, scalableRef: { kind: "Deployment", name: "web" }, replicas: 1 }),
    refused: "give only one of 'podTemplateRef' and 'scalableRef'",
  },
  {
    name: "a buffer of less than nothing",
    object: capacityBuffer({ podTemplateRef, replicas: -1 }),
    refused: "greater than or equal to 0",
  },
  { name: "a buffer limited by a word", object: capacityBuffer({ podTemplateRef, limits: { cpu: "lots" } }), refused: "spec.limits.cpu" },
];

export const SAMPLES: readonly Sample[] = [...tutorials, ...nodePools, ...nodeClaims, ...nodeClasses, ...capacityBuffers];

export const CHANGES: readonly Change[] = [
  {
    name: "a NodePool's requirements change",
    before: nodePool({}),
    object: requiring({ key: "a", operator: "Exists" }),
  },
  {
    name: "a NodePool's node class name changes",
    before: nodePool({}),
    object: nodePool({ template: { nodeClassRef: { ...nodeClassRef, name: "other" } } }),
  },
  {
    name: "a NodePool's node class kind changes",
    before: nodePool({}),
    object: nodePool({ template: { nodeClassRef: { ...nodeClassRef, kind: "Other" } } }),
    refused: "nodeClassRef.kind cannot be changed",
  },
  {
    name: "a NodePool's node class group changes",
    before: nodePool({}),
    object: nodePool({ template: { nodeClassRef: { ...nodeClassRef, group: "other.example" } } }),
    refused: "nodeClassRef.group cannot be changed",
  },
  { name: "replicas are added", before: nodePool({}), object: nodePool({ spec: { replicas: 1 } }), refused: "'replicas' cannot be added" },
  {
    name: "replicas are removed",
    before: nodePool({ spec: { replicas: 1 } }),
    object: nodePool({}),
    refused: "'replicas' cannot be added to or removed",
  },
  { name: "replicas change", before: nodePool({ spec: { replicas: 1 } }), object: nodePool({ spec: { replicas: 2 } }) },
  {
    name: "a NodeClaim's spec changes",
    before: nodeClaim({ expireAfter: "1h" }),
    object: nodeClaim({ expireAfter: "2h" }),
    refused: "spec of a NodeClaim cannot be changed",
  },
  {
    name: "an EC2NodeClass goes from role to profile",
    before: nodeClass({}),
    object: nodeClass({ role: undefined, instanceProfile: "p" }),
  },
];
