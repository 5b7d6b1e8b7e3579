import type { InstanceType } from "#core/model/instance-type.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { PodSpec } from "#core/model/pod.ts";
import { boundPod, CATALOGUE, daemonSet, instanceType, nodePool, nodeWithClaim, pod, pods, type Scenario } from "./builders.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const ARCH = "kubernetes.io/arch";
const CAPACITY = "karpenter.sh/capacity-type";
const CPUS = "karpenter.k8s.aws/instance-cpu";
const FAMILY = "karpenter.k8s.aws/instance-family";
const labels = { labels: { app: "web" } };

const only = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const terms = (...list: { key: string; operator: "In" | "NotIn" | "Exists" | "Gt" | "Lt"; values?: string[] }[][]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: list.map((matchExpressions) => ({ matchExpressions })) },
    },
  },
});
const near = (app: string, topologyKey: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey });
const apart = (topologyKey: string): PodSpec => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near("web", topologyKey)] } },
});
const follow = (app: string, topologyKey: string): PodSpec => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(app, topologyKey)] } },
});
const spread = (topologyKey: string, more: object = {}): PodSpec => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: { app: "web" } }, ...more },
  ],
});
const inCondition = (pool: NodePool, ...conditions: NonNullable<NonNullable<NodePool["status"]>["conditions"]>): NodePool => ({
  ...pool,
  status: { conditions },
});
/** A pool of EKS Auto Mode. */
const foreign = (pool: NodePool): NodePool => {
  const { template } = pool.spec;
  const nodeClassRef = { group: "eks.amazonaws.com", kind: "NodeClass", name: "default" };
  return { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, nodeClassRef } } } };
};
const boundVolume = (zone: string) => ({
  persistentVolumeClaims: [
    {
      metadata: { name: "data", namespace: "default", annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { volumeName: "pv" },
    },
  ],
  persistentVolumes: [
    {
      metadata: { name: "pv" },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [only(ZONE, zone)] }] } } },
    },
  ],
});
const withVolume: PodSpec = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
const BACK = Date.parse("2026-01-01T12:03:00Z");
/** A type whose offerings, one in each zone, are unavailable until BACK for this cause. */
const unavailable = (
  type: InstanceType,
  {
    zones = ["us-west-2a", "us-west-2b"],
    ...cause
  }: { readonly zones?: readonly string[]; readonly code: string; readonly message: string },
): InstanceType => ({
  ...type,
  offerings: type.offerings.map((offering) =>
    zones.includes(offering.zone) ? { ...offering, available: false, unavailableUntil: BACK, unavailableCause: cause } : offering,
  ),
});
const inZones = (zones: readonly string[], capacityType: "spot" | "on-demand" = "on-demand") =>
  zones.map((zone) => ({ zone, capacityType, price: 0.1, available: true }));
const AB = ["us-west-2a", "us-west-2b"];
const smaller = instanceType("m5.large", 2, 8, { offerings: inZones(AB) });
const big = instanceType("m5.xlarge", 4, 16, { offerings: inZones(AB) });
const ICE = { code: "InsufficientInstanceCapacity", message: "We currently do not have sufficient m5.xlarge capacity" };
const QUOTA = {
  code: "VcpuLimitExceeded",
  message:
    "You have requested more vCPU capacity than your current vCPU limit of 5 allows for the instance bucket that the specified instance type belongs to.",
};
const gpuType = instanceType("p.large", 8, 32, { capacity: { "nvidia.com/gpu": "1" } });
const shy = boundPod("shy", "n1", { cpu: "1" }, apart(ZONE));
const small = nodeWithClaim("n1");
const elsewhere = nodeWithClaim("n2", { labels: { [ZONE]: "zone-d" } });
const node1 = { nodes: [small.node], nodeClaims: [small.claim] };

/** A cluster in which pods stay pending, and what the explanation must say. */
export interface Case {
  readonly name: string;
  readonly scene: Partial<Scenario>;
}

/** Reasons why pods stay pending in real clusters, grouped by topic. */
export const FAILING_PODS: readonly (readonly [string, readonly Case[]])[] = [
  [
    "labels",
    [
      { name: "a value that is a slip of the pen", scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-A" } })] } },
      {
        name: "a value that the pool does not allow",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-a" } })],
          nodePools: [nodePool("default", { requirements: [only(ZONE, "zone-b", "zone-c")] })],
        },
      },
      { name: "a custom label of nobody", scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { team: "blue" } })] } },
      {
        name: "a custom label that another pool spells differently",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { teem: "blue" } })],
          nodePools: [nodePool(), nodePool("blue", { labels: { team: "blue" } })],
        },
      },
      {
        name: "a well-known label in another domain",
        scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { "example.com/zone": "zone-a" } })] },
      },
      {
        name: "an architecture that is not on offer",
        scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ARCH]: "arm64" } })], instanceTypes: CATALOGUE.slice(0, 3) },
      },
      {
        name: "an architecture that the pool rules out",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ARCH]: "arm64" } })],
          nodePools: [nodePool("default", { requirements: [only(FAMILY, "m")] })],
        },
      },
      {
        name: "on-demand where the pool buys spot alone",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { [CAPACITY]: "on-demand" } })],
          nodePools: [nodePool("default", { requirements: [only(CAPACITY, "spot")] })],
        },
      },
      {
        name: "two labels that no type has together",
        scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ARCH]: "arm64", [FAMILY]: "m" } })] },
      },
      { name: "Gt past the largest", scene: { pods: [pod("web", { cpu: "1" }, terms([{ key: CPUS, operator: "Gt", values: ["16"] }]))] } },
      {
        name: "Gt on a label that is no number",
        scene: { pods: [pod("web", { cpu: "1" }, terms([{ key: FAMILY, operator: "Gt", values: ["4"] }]))] },
      },
      { name: "Gt with a word", scene: { pods: [pod("web", { cpu: "1" }, terms([{ key: CPUS, operator: "Gt", values: ["four"] }]))] } },
      {
        name: "bounds that leave nothing",
        scene: {
          pods: [
            pod(
              "web",
              { cpu: "1" },
              terms([
                { key: CPUS, operator: "Gt", values: ["4"] },
                { key: CPUS, operator: "Lt", values: ["5"] },
              ]),
            ),
          ],
        },
      },
      {
        name: "selector against affinity",
        scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-a" }, ...terms([only(ZONE, "zone-b")]) })] },
      },
      {
        name: "the best of several terms",
        scene: { pods: [pod("web", { cpu: "99" }, terms([only(ZONE, "zone-b")], [only("team", "blue")]))] },
      },
      {
        name: "a NodePool that is not there",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { "karpenter.sh/nodepool": "defualt" } })],
          nodePools: [nodePool(), nodePool("gpu")],
        },
      },
      {
        name: "another NodePool, which has no room",
        scene: {
          pods: [pod("web", { cpu: "40" }, { nodeSelector: { "karpenter.sh/nodepool": "b" } })],
          nodePools: [nodePool("a"), nodePool("b")],
        },
      },
      { name: "a label that only the system sets", scene: { pods: [pod("web", { cpu: "1" }, { nodeSelector: { [HOST]: "n1" } })] } },
    ],
  ],
  [
    "room",
    [
      { name: "more cpu than any type has", scene: { pods: [pod("web", { cpu: "40" })] } },
      { name: "as much memory as a type has, less what the system keeps", scene: { pods: [pod("web", { cpu: "1", memory: "64Gi" })] } },
      {
        name: "room but for the daemonsets",
        scene: {
          pods: [pod("web", { cpu: "15500m" })],
          daemonSets: [daemonSet("agent", { cpu: "500m" }), daemonSet("logs", { memory: "1Gi" })],
        },
      },
      {
        name: "cpu and memory of two types",
        scene: { pods: [pod("web", { cpu: "14", memory: "99Gi" })], instanceTypes: [...CATALOGUE, instanceType("r.large", 8, 128)] },
      },
      { name: "GPUs of nobody", scene: { pods: [pod("web", { cpu: "1", "nvidia.com/gpu": "1" })] } },
      {
        name: "GPUs that the pool's requirements leave out",
        scene: {
          pods: [pod("web", { cpu: "1", "nvidia.com/gpu": "1" })],
          instanceTypes: [...CATALOGUE, gpuType],
          nodePools: [nodePool("default", { requirements: [only(FAMILY, "m", "g")] })],
        },
      },
      {
        name: "a resource that is misspelt",
        scene: { pods: [pod("web", { cpu: "1", "nvidia.com/gpus": "1" })], instanceTypes: [...CATALOGUE, gpuType] },
      },
      {
        name: "a size that the pod's own labels rule out",
        scene: { pods: [pod("web", { cpu: "8" }, { nodeSelector: { [ARCH]: "arm64" } })] },
      },
    ],
  ],
  [
    "pools",
    [
      { name: "none at all", scene: { pods: [pod("web")], nodePools: [] } },
      { name: "a static one", scene: { pods: [pod("web")], nodePools: [nodePool("default", { replicas: 3 })] } },
      {
        name: "one that is not Ready",
        scene: {
          pods: [pod("web")],
          nodePools: [
            inCondition(
              nodePool(),
              { type: "Ready", status: "False", reason: "UnhealthyDependents", message: "NodeClassReady=False" },
              { type: "NodeClassReady", status: "False", reason: "NodeClassNotFound", message: "there is no EC2NodeClass default" },
            ),
            { ...nodePool("old"), metadata: { name: "old", deletionTimestamp: "2026-01-01T00:00:00Z" } },
          ],
        },
      },
      { name: "one of another controller", scene: { pods: [pod("web")], nodePools: [foreign(nodePool("auto"))], instanceTypes: [] } },
      {
        name: "one that would do if it were Ready",
        scene: {
          pods: [pod("web", { "nvidia.com/gpu": "1" })],
          nodePools: [nodePool(), inCondition(nodePool("gpu"), { type: "Ready", status: "False", reason: "NodeClassNotReady" })],
        },
      },
      {
        name: "several for one reason",
        scene: {
          pods: [pod("web", { cpu: "40" })],
          nodePools: [nodePool("a"), nodePool("b"), nodePool("c", { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] })],
        },
      },
      { name: "one without instance types", scene: { pods: [pod("web")], instanceTypes: [] } },
      {
        name: "one whose own requirements leave nothing",
        scene: { pods: [pod("web")], nodePools: [nodePool("default", { requirements: [only(FAMILY, "m7i")] })] },
      },
    ],
  ],
  [
    "taints and limits",
    [
      {
        name: "a taint",
        scene: {
          pods: [pod("web")],
          nodePools: [nodePool("default", { taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }] })],
        },
      },
      {
        name: "a toleration that is another",
        scene: {
          pods: [pod("web", { cpu: "1" }, { tolerations: [{ key: "dedicated", value: "gpus", effect: "NoSchedule" }] })],
          nodePools: [nodePool("default", { taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }] })],
        },
      },
      {
        name: "a limit that is used up",
        scene: {
          ...node1,
          pods: [boundPod("old", "n1", { cpu: "4" }), pod("web", { cpu: "3" })],
          nodePools: [nodePool("default", { limits: { cpu: "6", memory: "20Gi" } })],
        },
      },
      {
        name: "a limit of nodes",
        scene: {
          ...node1,
          pods: [boundPod("old", "n1", { cpu: "4" }), pod("web")],
          nodePools: [nodePool("default", { limits: { nodes: "1" } })],
        },
      },
      {
        name: "minValues",
        scene: {
          pods: [pod("web", { cpu: "3" })],
          nodePools: [nodePool("default", { requirements: [{ key: FAMILY, operator: "Exists", minValues: 3 }] })],
        },
      },
      {
        name: "a host port that a daemonset takes",
        scene: {
          pods: [{ ...pod("web"), spec: { containers: [{ name: "main", ports: [{ hostPort: 9100 }] }] } }],
          daemonSets: [daemonSet("exporter", {}, { containers: [{ name: "main", ports: [{ hostPort: 9100 }] }] })],
        },
      },
      {
        name: "a container port of a daemonset on the host network",
        scene: {
          pods: [{ ...pod("web"), spec: { containers: [{ name: "main", ports: [{ hostPort: 80 }] }] } }],
          daemonSets: [daemonSet("agent", {}, { hostNetwork: true, containers: [{ name: "main", ports: [{ containerPort: 80 }] }] })],
        },
      },
    ],
  ],
  [
    "capacity",
    [
      {
        name: "the type that fits has no capacity",
        scene: { pods: [pod("web", { cpu: "3" })], instanceTypes: [smaller, unavailable(big, ICE)] },
      },
      {
        name: "a quota of the account",
        scene: { pods: [pod("web", { cpu: "1" })], instanceTypes: [unavailable(smaller, QUOTA), unavailable(big, QUOTA)] },
      },
      {
        name: "a pod that is too large for every type, whatever can be had",
        scene: { pods: [pod("web", { cpu: "5" })], instanceTypes: [smaller, unavailable(big, ICE)] },
      },
      {
        name: "a limit that the type without capacity exceeds, too",
        scene: {
          pods: [pod("web", { cpu: "3" })],
          nodePools: [nodePool("default", { limits: { cpu: "3" } })],
          instanceTypes: [smaller, unavailable(big, ICE)],
        },
      },
      {
        name: "a subnet without free addresses",
        scene: {
          pods: [pod("web", { cpu: "1" })],
          instanceTypes: [
            unavailable(smaller, {
              code: "InsufficientFreeAddressesInSubnet",
              message: "There are not enough free addresses in subnet 'subnet-0a1b' to satisfy the requested number of instances.",
            }),
          ],
        },
      },
      {
        name: "a zone shift and a lack of spot capacity",
        scene: {
          pods: [pod("web", { cpu: "1" })],
          instanceTypes: [
            unavailable(instanceType("m5.large", 2, 8, { offerings: [...inZones(AB), ...inZones(AB, "spot")] }), {
              code: "ZonalShift",
              message: "a zonal shift moves the cluster away from us-west-2a",
              zones: ["us-west-2a"],
            }),
          ].map((type) => unavailable(type, { code: "UnfulfillableCapacity", message: "", zones: ["us-west-2b"] })),
        },
      },
      {
        name: "a mark without a cause",
        scene: {
          pods: [pod("web")],
          instanceTypes: [
            { ...smaller, offerings: smaller.offerings.map((one) => ({ ...one, available: false, unavailableUntil: BACK })) },
          ],
        },
      },
      {
        name: "a volume in a zone without capacity",
        scene: {
          pods: [pod("web", { cpu: "1" }, withVolume)],
          ...boundVolume("us-west-2a"),
          instanceTypes: [unavailable(smaller, { ...ICE, zones: ["us-west-2a"] })],
        },
      },
      {
        name: "a spread that wants a zone without capacity",
        scene: {
          pods: pods(2, "web", { cpu: "1" }, spread(ZONE)).map((one) => ({ ...one, metadata: { ...one.metadata, ...labels } })),
          instanceTypes: [unavailable(smaller, { ...ICE, zones: ["us-west-2a"] })],
        },
      },
      {
        name: "a zone whose offerings are gone",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-b" } })],
          instanceTypes: [
            instanceType("m.small", 2, 8, {
              offerings: [
                { zone: "zone-a", capacityType: "spot", price: 1, available: true },
                { zone: "zone-b", capacityType: "spot", price: 1, available: false },
              ],
            }),
          ],
        },
      },
      {
        name: "spot in a zone that has on-demand alone",
        scene: {
          pods: [pod("web", { cpu: "1" }, { nodeSelector: { [ZONE]: "zone-b", [CAPACITY]: "spot" } })],
          instanceTypes: [
            instanceType("m.small", 2, 8, {
              offerings: [
                { zone: "zone-a", capacityType: "spot", price: 1, available: true },
                { zone: "zone-b", capacityType: "on-demand", price: 1, available: true },
              ],
            }),
          ],
        },
      },
      {
        name: "a reservation that others of the run have",
        scene: {
          pods: pods(2, "web", { cpu: "3" }),
          instanceTypes: [
            instanceType("m.medium", 4, 16, {
              offerings: [
                {
                  zone: "zone-a",
                  capacityType: "reserved",
                  price: 0.00001,
                  available: true,
                  reservationId: "cr-1",
                  reservationCapacity: 1,
                },
              ],
            }),
          ],
        },
      },
      { name: "devices", scene: { pods: [pod("web", { cpu: "1" }, { resourceClaims: [{ name: "gpu" }] })] } },
    ],
  ],
  [
    "volumes",
    [
      { name: "a claim that is missing", scene: { pods: [pod("web", { cpu: "1" }, withVolume)] } },
      { name: "a volume in a zone without a subnet", scene: { pods: [pod("web", { cpu: "1" }, withVolume)], ...boundVolume("zone-d") } },
      {
        name: "a volume in a zone that the pod rules out",
        scene: { pods: [pod("web", { cpu: "1" }, { ...withVolume, nodeSelector: { [ZONE]: "zone-b" } })], ...boundVolume("zone-a") },
      },
      {
        name: "a volume in a zone that the pod's spread rules out",
        scene: {
          ...node1,
          ...boundVolume("zone-a"),
          pods: [
            boundPod("old", "n1", { cpu: "3" }, {}, labels),
            ...pods(1, "web", { cpu: "2" }, { ...withVolume, ...spread(ZONE) }, labels),
          ],
        },
      },
    ],
  ],
  [
    "company",
    [
      { name: "fewer domains than minDomains", scene: { pods: pods(4, "web", { cpu: "1" }, spread(ZONE, { minDomains: 4 }), labels) } },
      { name: "a spread over a label of nobody", scene: { pods: pods(1, "web", { cpu: "1" }, spread("rack"), labels) } },
      {
        name: "a spread that asks for a zone where the pool is not",
        scene: {
          ...node1,
          nodes: [small.node, { ...nodeWithClaim("n2", { labels: { [ZONE]: "zone-b" }, cpu: "1" }).node }],
          nodeClaims: [small.claim],
          pods: [boundPod("old", "n1", { cpu: "3" }, {}, labels), ...pods(1, "web", { cpu: "2" }, spread(ZONE), labels)],
          nodePools: [nodePool("default", { requirements: [only(ZONE, "zone-a")] })],
        },
      },
      {
        name: "a spread that asks for a zone where the pool has no subnet",
        scene: {
          nodes: [elsewhere.node, small.node],
          nodeClaims: [elsewhere.claim, small.claim],
          pods: [
            boundPod("old", "n1", { cpu: "4" }, {}, labels),
            boundPod("filler", "n2", { cpu: "4" }),
            ...pods(4, "web", { cpu: "1" }, spread(ZONE), labels),
          ],
        },
      },
      {
        name: "a spread that asks for a zone where no type is large enough",
        scene: {
          pods: pods(3, "web", { cpu: "8" }, spread(ZONE), labels),
          instanceTypes: [
            instanceType("m.large", 16, 64, {
              offerings: ["zone-a", "zone-b"].map((zone) => ({ zone, capacityType: "spot", price: 1, available: true })),
            }),
            instanceType("m.small", 2, 8),
          ],
        },
      },
      { name: "anti-affinity in every zone", scene: { pods: pods(4, "web", { cpu: "1" }, apart(ZONE), labels) } },
      {
        name: "others that keep away",
        scene: {
          ...node1,
          pods: [shy, pod("web", { cpu: "1" }, {}, labels)],
          nodePools: [nodePool("default", { requirements: [only(ZONE, "zone-a")] })],
        },
      },
      { name: "company that is not there", scene: { pods: [pod("web", { cpu: "1" }, follow("db", ZONE))] } },
      {
        name: "company in a zone where the pool is not",
        scene: {
          ...node1,
          pods: [boundPod("db", "n1", { cpu: "4" }, {}, { labels: { app: "db" } }), pod("web", { cpu: "1" }, follow("db", ZONE))],
          nodePools: [nodePool("default", { requirements: [only(ZONE, "zone-b")] })],
        },
      },
      {
        name: "company on a host that is full",
        scene: {
          ...node1,
          pods: [boundPod("db", "n1", { cpu: "3500m" }, {}, { labels: { app: "db" } }), pod("web", { cpu: "1" }, follow("db", HOST))],
        },
      },
    ],
  ],
];
