const META = { name: "strange", uid: "u-strange", creationTimestamp: "2026-01-01T00:00:00Z", generation: 1, annotations: { a: "b" } };
const TERM = { id: "x-0", tags: { a: "b" }, name: "x" };
const CONDITION = { type: "Ready", status: "True", reason: "x", message: "m", lastTransitionTime: "2026-01-01T00:00:00Z" };
const REQUIREMENT = { key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] };

/** A definition of each kind beside NodePools that decisions read, with all fields that they read. */
export const FULL_DEFINITIONS: readonly { readonly kind: string; readonly full: object }[] = [
  {
    kind: "EC2NodeClass",
    full: {
      metadata: META,
      spec: {
        amiFamily: "AL2023",
        role: "nodes",
        amiSelectorTerms: [TERM],
        subnetSelectorTerms: [TERM],
        securityGroupSelectorTerms: [TERM],
        capacityReservationSelectorTerms: [TERM],
        blockDeviceMappings: [{ deviceName: "/dev/xvda", rootVolume: true, ebs: { volumeSize: "20Gi", volumeType: "gp3" } }],
        instanceStorePolicy: "RAID0",
        kubelet: {
          maxPods: 10,
          podsPerCore: 2,
          systemReserved: { cpu: "100m" },
          kubeReserved: { cpu: "100m" },
          evictionHard: { "memory.available": "5%" },
          evictionSoft: { "memory.available": "5%" },
          evictionSoftGracePeriod: { "memory.available": "1m" },
        },
      },
      status: {
        subnets: [{ id: "subnet-1", zone: "us-west-2a", zoneID: "usw2-az1" }],
        securityGroups: [{ id: "sg-1", name: "x" }],
        amis: [{ id: "ami-1", name: "x", requirements: [REQUIREMENT] }],
        capacityReservations: [
          {
            id: "cr-1",
            instanceType: "c5.large",
            availabilityZone: "us-west-2a",
            ownerID: "1",
            state: "active",
            reservationType: "default",
            endTime: "2027-01-01T00:00:00Z",
          },
        ],
        conditions: [CONDITION],
      },
    },
  },
  {
    kind: "NodeOverlay",
    full: {
      metadata: META,
      spec: { requirements: [REQUIREMENT], priceAdjustment: "+10%", capacity: { "example.com/device": "4" }, weight: 1 },
      status: { conditions: [CONDITION] },
    },
  },
  {
    kind: "CapacityBuffer",
    full: {
      metadata: { ...META, namespace: "default" },
      spec: {
        provisioningStrategy: "buffer.x-k8s.io/active-capacity",
        podTemplateRef: { name: "room" },
        replicas: 2,
        percentage: 10,
        limits: { cpu: "10" },
      },
      status: { replicas: 2, podTemplateRef: { name: "room" }, podTemplateGeneration: 1, conditions: [CONDITION] },
    },
  },
  {
    kind: "CapacityBuffer",
    full: {
      metadata: { ...META, namespace: "default" },
      spec: { scalableRef: { apiGroup: "apps", kind: "Deployment", name: "web" }, replicas: 2, percentage: 10, limits: { cpu: "10" } },
    },
  },
];
