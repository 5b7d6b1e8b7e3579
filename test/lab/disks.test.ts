import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Node } from "#core/model/node.ts";
import { createLab } from "#lab/host.ts";
import { loadManifests } from "#manifests/read.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("lab-disks");

const manifests = (nodeClass: string, storage: string, category: string): string => `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: disks }
spec:
  role: node
  subnetSelectorTerms: [{ tags: { a: b } }]
  securityGroupSelectorTerms: [{ tags: { a: b } }]
  ${nodeClass}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: disks }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: disks }
      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [${category}] }]
---
apiVersion: v1
kind: Pod
metadata: { name: scratch }
spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 500m, ephemeral-storage: ${storage} } } }] }
`;

const GIB = 2 ** 30;
const ebs = (device: string, size: string, more = ""): string =>
  `{ deviceName: ${device}, ${more} ebs: { volumeSize: ${size}, volumeType: gp3 } }`;
const al2023 = "amiSelectorTerms: [{ alias: al2023@latest }]";
const bottlerocket = "amiSelectorTerms: [{ alias: bottlerocket@latest }]";
const selfJoin =
  "userData: |\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec: { cluster: { name: lab, apiServerEndpoint: a, certificateAuthority: b, cidr: c } , kubelet: { flags: ['--register-with-taints=karpenter.sh/unregistered:NoExecute'] } }";

it.for([
  { name: "an image's own root volume", nodeClass: al2023, storage: "10Gi", bytes: 20 * GIB },
  {
    name: "a larger root volume",
    nodeClass: `${al2023}\n  blockDeviceMappings: [${ebs("/dev/xvda", "100Gi")}]`,
    storage: "50Gi",
    bytes: 100 * GIB,
  },
  {
    name: "another volume beside the root volume",
    nodeClass: `${al2023}\n  blockDeviceMappings: [${ebs("/dev/xvdb", "100Gi")}]`,
    storage: "10Gi",
    bytes: 20 * GIB,
  },
  {
    name: "a device that is called the root volume",
    nodeClass: `${al2023}\n  blockDeviceMappings: [${ebs("/dev/sda1", "80Gi", "rootVolume: true,")}, ${ebs("/dev/sdb", "10Gi")}]`,
    storage: "50Gi",
    bytes: 80 * GIB,
  },
  {
    name: "Bottlerocket's volume of data",
    nodeClass: `${bottlerocket}\n  blockDeviceMappings: [${ebs("/dev/xvda", "4Gi")}, ${ebs("/dev/xvdb", "60Gi")}]`,
    storage: "40Gi",
    bytes: 60 * GIB,
  },
  { name: "the local disk of AL2023", nodeClass: `${al2023}\n  instanceStorePolicy: RAID0`, storage: "50Gi", bytes: 118e9 },
  { name: "the local disk of Bottlerocket", nodeClass: `${bottlerocket}\n  instanceStorePolicy: RAID0`, storage: "50Gi", bytes: 118e9 },
  { name: "a local disk that no policy mounts", nodeClass: al2023, storage: "10Gi", bytes: 20 * GIB },
  {
    name: "the last volume of a custom image",
    nodeClass: `amiFamily: Custom\n  amiSelectorTerms: [{ tags: { team: a } }]\n  blockDeviceMappings: [${ebs("/dev/xvda", "8Gi")}, ${ebs("/dev/sdx", "70Gi")}]\n  ${selfJoin}`,
    storage: "50Gi",
    bytes: 70 * GIB,
  },
])(
  "pods of a machine have the disk that its EC2NodeClass gives, and one node is launched: $name",
  async ({ name, nodeClass, storage, bytes }) => {
    const path = join(folder, "all.yaml");
    writeFileSync(path, manifests(nodeClass, storage, "m5d.xlarge, m6gd.large"));
    const lab = createLab({ seed: 1, start: Date.parse("2026-01-01T09:00:00Z"), region: "us-west-2", sources: ["notify"] });
    for (const { object } of loadManifests([path], {})) lab.world.apply(object);
    await lab.world.clock.run({ until: lab.world.clock.now() + 10 * 60_000 });
    const nodes = lab.world.store.list("Node") as readonly Node[];
    expect(lab.cloud.machines(), name).toHaveLength(1);
    expect(nodes.map(({ status }) => status?.capacity?.["ephemeral-storage"])).toEqual([`${Math.floor(bytes / 1024)}Ki`]);
    expect(lab.world.store.list("Pod")).toMatchObject([{ status: { phase: "Running" } }]);
    lab.close();
  },
);
