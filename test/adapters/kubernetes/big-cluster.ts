import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { Pod } from "#core/model/pod.ts";
import type { CSINode } from "#core/model/workloads.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { Kind, Kinds, Kubernetes } from "#core/ports/kubernetes.ts";

// Objects of a realistic size: fields that no decision reads (images, environment, mounts, container states) are most
// of their bytes.

const AT = "2026-01-02T03:04:05Z";
const ZONES = ["us-west-2a", "us-west-2b", "us-west-2c"];
const hex = (value: number, length: number): string => (value * 2_654_435_761).toString(16).padStart(length, "0").slice(-length);
const zoneOf = (index: number): string => ZONES[index % ZONES.length] ?? "us-west-2a";
const providerId = (index: number): string => `aws:///${zoneOf(index)}/i-${hex(index + 1, 17)}`;

export const nodeName = (index: number): string => `ip-10-${index >> 8}-${index & 255}-7.us-west-2.compute.internal`;

const condition = (type: string, status: string) => ({
  ...{ type, status, reason: `Kubelet${type}`, message: `kubelet has reported ${type} as ${status}` },
  ...{ lastHeartbeatTime: AT, lastTransitionTime: AT },
});

/** A ready node of a pool, with the status that a kubelet writes: fifty images among it. */
export function bigNode(index: number): Node {
  const name = nodeName(index);
  return {
    metadata: {
      name,
      finalizers: ["karpenter.sh/termination"],
      annotations: {
        "csi.volume.kubernetes.io/nodeid": `{"ebs.csi.aws.com":"i-${hex(index + 1, 17)}"}`,
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        "karpenter.sh/nodepool-hash": "4012513481623584108",
        "karpenter.sh/nodepool-hash-version": "v3",
      },
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": "us-west-2",
        "karpenter.k8s.aws/instance-category": "m",
        "karpenter.k8s.aws/instance-cpu": "8",
        "karpenter.k8s.aws/instance-family": "m7i",
        "karpenter.k8s.aws/instance-generation": "7",
        "karpenter.k8s.aws/instance-memory": "32768",
        "karpenter.k8s.aws/instance-size": "2xlarge",
        "karpenter.sh/capacity-type": "on-demand",
        "karpenter.sh/initialized": "true",
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/registered": "true",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m7i.2xlarge",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.kubernetes.io/zone": zoneOf(index),
      },
    },
    spec: { providerID: providerId(index) },
    status: {
      addresses: [
        { type: "InternalIP", address: `10.${index >> 8}.${index & 255}.7` },
        { type: "Hostname", address: name },
        { type: "InternalDNS", address: name },
      ],
      capacity: {
        cpu: "8",
        "ephemeral-storage": "83873772Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        memory: "32408856Ki",
        pods: "58",
      },
      allocatable: { cpu: "7910m", "ephemeral-storage": "76224326324", "hugepages-1Gi": "0", memory: "31391064Ki", pods: "58" },
      conditions: [
        ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False")),
        condition("Ready", "True"),
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      images: Array.from({ length: 50 }, (_, i) => ({
        names: [`registry.example/team/service-${i}@sha256:${hex(i + 1, 64)}`, `registry.example/team/service-${i}:v1.${i}`],
        sizeBytes: 50_000_000 + i,
      })),
      nodeInfo: {
        ...{ architecture: "amd64", bootID: hex(index + 3, 32), containerRuntimeVersion: "containerd://2.1.5", kernelVersion: "6.12.55" },
        ...{ kubeProxyVersion: "", kubeletVersion: "v1.36.3-eks", machineID: hex(index + 5, 32), operatingSystem: "linux" },
        ...{ osImage: "Amazon Linux 2023.9", systemUUID: hex(index + 7, 32) },
      },
    },
  } as Node;
}

/** The claim of such a node. */
export function bigClaim(index: number): NodeClaim {
  return {
    metadata: {
      name: `default-${index}`,
      labels: bigNode(index).metadata.labels ?? {},
      finalizers: ["karpenter.sh/termination"],
    },
    spec: {
      requirements: [
        { key: "karpenter.sh/nodepool", operator: "In", values: ["default"] },
        {
          key: "node.kubernetes.io/instance-type",
          operator: "In",
          values: Array.from({ length: 60 }, (_, i) => `m${i % 8}i.${i}xlarge`),
        },
      ],
      nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      expireAfter: "720h",
    },
  };
}

export const bigClaimStatus = (index: number): NonNullable<NodeClaim["status"]> => ({
  providerID: providerId(index),
  nodeName: nodeName(index),
  conditions: ["Launched", "Registered", "Initialized", "Ready"].map((type) => ({
    ...{ type, status: "True", reason: type, message: "", lastTransitionTime: AT, observedGeneration: 1 },
  })),
});

/** A pod of a Deployment on the given node, with two containers, their environment and their mounts. */
export function bigPod(index: number, node: string): Pod {
  const app = `app-${index % 200}`;
  const container = (name: string) => ({
    name,
    image: `registry.example/team/${app}-${name}:v1.42.${index % 50}`,
    args: ["--config=/etc/service/config.yaml", "--log-level=info", `--shard=${index % 16}`],
    env: Array.from({ length: 12 }, (_, i) => ({ name: `SETTING_${i}`, value: `https://service-${i}.team.svc.cluster.local:8443/` })),
    ports: [{ containerPort: 8080, name: "http" }],
    resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "512Mi" } },
    volumeMounts: [
      { name: "config", mountPath: "/etc/service" },
      { name: "scratch", mountPath: "/var/scratch" },
    ],
    readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 10 },
    livenessProbe: { httpGet: { path: "/live", port: "http" }, periodSeconds: 10 },
  });
  const pod = {
    metadata: {
      name: `${app}-${hex(index % 200, 9)}-${hex(index + 11, 5)}`,
      namespace: "default",
      labels: { app, "pod-template-hash": hex(index % 200, 9), "app.kubernetes.io/part-of": "shop", team: `team-${index % 12}` },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080", "kubectl.kubernetes.io/restartedAt": AT },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-${hex(index % 200, 9)}`, uid: `0000-${app}`, controller: true },
      ],
    },
    spec: {
      nodeName: node,
      containers: [{ ...container("server") }, { ...container("proxy") }],
      topologySpreadConstraints: [
        {
          ...{ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" as const },
          labelSelector: { matchLabels: { app } },
        },
      ],
      volumes: [
        { name: "config", configMap: { name: app } },
        { name: "scratch", emptyDir: {} },
      ],
    },
  };
  return pod;
}

/** What a kubelet says of a running pod. */
export function bigPodStatus(index: number, { spec }: Pod): NonNullable<Pod["status"]> {
  const status = {
    phase: "Running",
    conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
      ...{ type, status: "True", lastTransitionTime: AT },
    })),
    startTime: AT,
    hostIP: `10.0.${index % 250}.7`,
    podIP: `10.1.${index % 250}.${index % 240}`,
    podIPs: [{ ip: `10.1.${index % 250}.${index % 240}` }],
    qosClass: "Burstable",
    containerStatuses: (spec.containers ?? []).map(({ name, image }) => ({
      ...{ name, image, imageID: `${image}@sha256:${hex(index + 13, 64)}`, containerID: `containerd://${hex(index + 17, 64)}` },
      ...{ ready: true, started: true, restartCount: 0, state: { running: { startedAt: AT } }, lastState: {} },
    })),
  };
  return status as NonNullable<Pod["status"]>;
}

/** Runs the body for 0…count-1, so many at a time. */
export async function inParallel(count: number, width: number, body: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await body(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** A server that is being filled may not answer in time. What it has made nevertheless is as good. */
async function patiently<K extends Kind>(client: Kubernetes, kind: K, object: Kinds[K]): Promise<Kinds[K]> {
  for (let tries = 1; ; tries++) {
    try {
      return await client.create(kind, object);
    } catch (error) {
      const { name, namespace } = object.metadata;
      const made = error instanceof ConflictError ? await client.get(kind, name, namespace) : undefined;
      if (made !== undefined) return made;
      if (tries === 10) throw error;
    }
  }
}

async function reported<K extends Kind>(client: Kubernetes, kind: K, object: Kinds[K]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.updateStatus(kind, object);
      return;
    } catch (error) {
      if (error instanceof ConflictError) return;
      if (tries === 10) throw error;
    }
  }
}

/** Requests at once: few, so that a server that shares its cores with others answers each in time. */
const WRITERS = 6;

/**
 * Fills a cluster without kubelets: nodes with their claims and CSINodes, and running pods spread over them.
 * @param annotationsOf of the claims
 */
export async function fillCluster(
  client: Kubernetes,
  size: { readonly nodes: number; readonly pods: number },
  annotationsOf: (index: number) => Readonly<Record<string, string>> = () => ({}),
): Promise<void> {
  await inParallel(size.nodes, WRITERS, async (index) => {
    const made = await patiently(client, "Node", bigNode(index));
    const csi: CSINode = { metadata: { name: nodeName(index) }, spec: { drivers: [] } };
    const { metadata, ...rest } = bigClaim(index);
    const claim = await patiently(client, "NodeClaim", { ...rest, metadata: { ...metadata, annotations: annotationsOf(index) } });
    await patiently(client, "CSINode", csi);
    await reported(client, "NodeClaim", { ...claim, status: bigClaimStatus(index) });
    const { status } = bigNode(index);
    if (status !== undefined) await reported(client, "Node", { ...made, status });
  });
  await inParallel(size.pods, WRITERS, async (index) => {
    const made = await patiently(client, "Pod", bigPod(index, nodeName(index % size.nodes)));
    await reported(client, "Pod", { ...made, status: bigPodStatus(index, made) });
  });
}
