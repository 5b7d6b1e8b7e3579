import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type PlayOptions, playManifests } from "#lab/play.ts";
import type { LabReport } from "#lab/report.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("lab-eks-daemons");

const pool = (type: string, alias: string, os: string): string => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: default }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
      requirements:
        - { key: node.kubernetes.io/instance-type, operator: In, values: [${type}] }
        - { key: kubernetes.io/os, operator: In, values: [${os}] }
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: default }
spec:
  role: node
  amiSelectorTerms: [{ alias: ${alias}@latest }]
  subnetSelectorTerms: [{ tags: { team: a } }]
  securityGroupSelectorTerms: [{ tags: { team: a } }]
`;
/** A c7a.medium has room for eight pods. */
const MEDIUM = pool("c7a.medium", "al2023", "linux");

const web = (replicas: number, spec = ""): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: 10m } } }], ${spec} }
`;

async function play(documents: readonly string[], more: Partial<PlayOptions> = {}) {
  const lines: string[] = [];
  const reports: LabReport[] = [];
  const path = join(folder, "all.yaml");
  writeFileSync(path, documents.join("---\n"));
  const print = (line: string): void => void lines.push(line);
  const onReport = (made: LabReport): void => void reports.push(made);
  await playManifests([path], [], 2, { json: false, colour: false, seed: 1, region: "us-west-2", print, onReport, ...more });
  const [report] = reports;
  if (report === undefined) throw new Error("there is no report");
  const daemons = report.pods.filter(({ owner }) => owner === "DaemonSet");
  return { text: lines.join("\n").replaceAll(/\s+/g, " "), report, daemons };
}

const nodeSizes = ({ nodes }: LabReport): readonly number[] => nodes.map(({ pods }) => pods).sort();
const NAMES = ["aws-node", "ebs-csi-node", "eks-pod-identity-agent", "kube-proxy"];
const nameOf = ({ name }: { readonly name: string }): string => name.replace(/-\w{5}$/, "");

it("each node of the lab runs the four DaemonSets of EKS, and they take of its room for pods", async () => {
  const { report, daemons, text } = await play([MEDIUM, web(5)]);
  expect(nodeSizes(report)).toEqual([5, 8]);
  for (const { name } of report.nodes) expect(daemons.filter(({ node }) => node === name).map(nameOf)).toEqual(NAMES);
  expect(daemons.every(({ phase, namespace }) => phase === "Running" && namespace === "kube-system")).toBe(true);
  expect(text).toContain("for default (cpu 220m, memory 104Mi, pods 8) c7a.medium");
});

it("without the DaemonSets of EKS a node has all its room", async () => {
  const { report, daemons, text } = await play([MEDIUM, web(8)], { withoutEksDaemons: true });
  expect(nodeSizes(report)).toEqual([8]);
  expect(daemons).toEqual([]);
  expect(text).not.toContain("aws-node");
});

it("a DaemonSet of the manifests takes the place of the one of EKS", async () => {
  const own = `apiVersion: apps/v1
kind: DaemonSet
metadata: { name: kube-proxy, namespace: kube-system }
spec:
  selector: { matchLabels: { k8s-app: kube-proxy } }
  template:
    metadata: { labels: { k8s-app: kube-proxy } }
    spec: { tolerations: [{ operator: Exists }], containers: [{ name: c, image: i, resources: { requests: { cpu: 300m } } }] }
`;
  const { daemons, text } = await play([MEDIUM, own, web(1)]);
  expect(daemons.map(nameOf)).toEqual(NAMES);
  expect(text).toContain("for default (cpu 390m, memory 104Mi, pods 5)");
  expect(text).toContain("each node runs DaemonSets of EKS: aws-node, ebs-csi-node,");
});

it("nodes of Windows and of Fargate run none of them", async () => {
  const fargate = `apiVersion: v1
kind: Node
metadata:
  name: fargate
  labels: { kubernetes.io/os: linux, kubernetes.io/arch: amd64, eks.amazonaws.com/compute-type: fargate }
status: { allocatable: { cpu: 1, memory: 2Gi, pods: 1 } }
`;
  const isWindows = "nodeSelector: { kubernetes.io/os: windows }";
  const { report, daemons } = await play([pool("m5.large", "windows2022", "windows"), fargate, web(1, isWindows)]);
  expect(nodeSizes(report)).toEqual([0, 1]);
  expect(daemons).toEqual([]);
});

it("the host port of a daemon is taken before the first node is bought", async () => {
  const { report, text } = await play([MEDIUM, web(1).replace("image: i,", "image: i, ports: [{ containerPort: 8080, hostPort: 80 }],")]);
  expect(report.launched).toBe(0);
  expect(text).toContain("needs host port 80, which daemonset kube-system/eks-pod-identity-agent takes on its nodes");
});

it("an ended node leaves none of its daemons behind", async () => {
  const job = `apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i, resources: { requests: { cpu: 100m } } }] } } }
`;
  const { report, daemons } = await play([MEDIUM, job]);
  expect(report).toMatchObject({ launched: 1, terminated: 1, nodes: [] });
  expect(daemons).toEqual([]);
});
