import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCluster, type TestCluster } from "./cluster.ts";
import { wholeLines } from "./growing-log.ts";
import { projectRoot } from "./paths.ts";
import { eventually } from "./wait.ts";

/*
 * A real control plane with a NodePool, an EC2NodeClass that is Ready and machines as the functions would have launched
 * them, whose audit log shows what a command asks of it. For commands that must only read.
 */

export const NODE_CLASS_REF = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

/** The EC2NodeClass "default", with further fields of its spec. */
export const nodeClass = (more: object = {}): object => ({
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default" },
  spec: {
    role: "node",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
    securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "c1" } }],
    ...more,
  },
});

/** The status of an EC2NodeClass that is Ready, with a subnet in each of the zones us-west-2a, us-west-2b and so on. */
const nodeClassStatus = (zones: readonly string[]): object => ({
  subnets: zones.map((letter, i) => ({ id: `subnet-${letter}`, zone: `us-west-2${letter}`, zoneID: `usw2-az${i + 1}` })),
  securityGroups: [{ id: "sg-1", name: "nodes" }],
  amis: [{ id: "ami-1", name: "al2023", requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] }],
  conditions: [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
});

/** An instance type and what a node of it offers to pods. */
export interface Machine {
  readonly instanceType: string;
  readonly cpu: string;
  readonly memory: string;
}

async function patchStatus(kind: string, name: string, status: object, { kubectl }: TestCluster): Promise<void> {
  await kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status }));
}

/** A machine as the functions would have launched it: a node with a kubelet, and its NodeClaim, initialized at `at`. */
export async function addMachine(name: string, { instanceType, cpu, memory }: Machine, cluster: TestCluster, at: string): Promise<void> {
  const labels = {
    "karpenter.sh/nodepool": "default",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
    "node.kubernetes.io/instance-type": instanceType,
    "topology.kubernetes.io/zone": "us-west-2a",
    "topology.kubernetes.io/region": "us-west-2",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
  };
  const providerID = `aws:///us-west-2a/i-${name}`;
  const capacity = { cpu, memory, pods: "58", "ephemeral-storage": "20Gi" };
  const node = { metadata: { name, labels }, spec: { providerID }, status: { capacity, allocatable: capacity } };
  const joined = await fetch(`${cluster.control}/join`, { method: "POST", body: JSON.stringify(node) });
  assert.ok(joined.ok, await joined.text());
  await create(cluster, {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: `default-${name}`, labels },
    spec: { requirements: [], nodeClassRef: NODE_CLASS_REF },
  });
  const conditions = ["Launched", "Registered", "Initialized"].map((type) => ({
    ...{ type, status: "True", reason: type, message: "", lastTransitionTime: at },
  }));
  const status = { providerID, nodeName: name, capacity, allocatable: capacity, imageID: "ami-1", conditions };
  await patchStatus("nodeclaim", `default-${name}`, status, cluster);
}

/** Creates objects by kubectl. */
export async function create({ kubectl }: Pick<TestCluster, "kubectl">, ...objects: readonly object[]): Promise<void> {
  for (const object of objects) await kubectl("create", "-f", "-", { input: JSON.stringify(object) });
}

/** Our CustomResourceDefinitions, the objects, and the EC2NodeClass "default" among them made Ready. */
export async function prepare(cluster: TestCluster, objects: readonly object[], zones: readonly string[]): Promise<void> {
  await cluster.kubectl("apply", "-f", join(projectRoot, "infra", "crds"));
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=300s");
  await create(cluster, ...objects);
  await patchStatus("ec2nodeclass", "default", nodeClassStatus(zones), cluster);
}

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly requestURI: string;
}

/** Fails unless the command has asked more than 20 questions, and only questions, none of them about secrets. */
export async function expectOnlyReads({ auditLog }: Pick<TestCluster, "auditLog">, command: string): Promise<void> {
  // The API server writes an event once it has answered.
  const events = await eventually(`the audit log has more than 20 calls of ${command}`, () => {
    const found = wholeLines(auditLog)
      .filter((line) => line.includes("karpenter-serverless"))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(({ userAgent }) => userAgent === "karpenter-serverless");
    if (found.length > 20) return found;
    throw new Error(`${found.length} calls`);
  });
  const verbs = Object.entries(Object.groupBy(events, ({ verb }) => verb)).map(([verb, list]) => `${verb} ${list?.length}`);
  console.log(`the API server's audit log of ${command}: ${verbs.join(", ")}`);
  assert.deepEqual(
    [...new Set(events.map(({ verb }) => verb))].filter((verb) => verb !== "list" && verb !== "get"),
    [],
  );
  assert.deepEqual(
    events.filter(({ requestURI }) => /secrets|configmaps/.test(requestURI)),
    [],
  );
}

/** A cluster whose audit log names each request; its data is below the folder. */
export function startWatchedCluster(folder: string): Promise<TestCluster> {
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  return startCluster({ dataDir: join(folder, "data"), clusterName: "c1", args: [`--audit-policy=${policy}`] });
}
