import { describe, expect, it } from "vitest";
import { pruned } from "#adapters/kubernetes/prune.ts";
import type { Kind, Kinds } from "#core/ports/kubernetes.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const prune = <K extends Kind>(kind: K, object: object) => pruned(kind, object as Kinds[K]);

describe("pruned", () => {
  it("a pruned pod keeps what the core reads", () => {
    const pod = {
      metadata: {
        name: "p",
        namespace: "ns",
        uid: "u",
        generateName: "x-",
        managedFields: [{}],
        labels: { a: "b" },
        annotations: { [LAST_APPLIED]: "{}", "karpenter.sh/do-not-disrupt": "true" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "ru" }],
      },
      spec: {
        nodeName: "n",
        serviceAccountName: "default",
        containers: [{ name: "c", image: "i", env: [{ name: "E" }], command: ["x"], resources: { requests: { cpu: "1" } } }],
        initContainers: [{ name: "s", restartPolicy: "Always", volumeMounts: [{}] }],
        volumes: [
          { name: "token", projected: {} },
          { name: "data", persistentVolumeClaim: { claimName: "d" } },
        ],
        tolerations: [{ operator: "Exists" }],
      },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], containerStatuses: [{}], podIPs: [{}] },
    };
    expect(prune("Pod", pod)).toEqual({
      metadata: {
        name: "p",
        namespace: "ns",
        uid: "u",
        labels: { a: "b" },
        annotations: { "karpenter.sh/do-not-disrupt": "true" },
        ownerReferences: pod.metadata.ownerReferences,
      },
      spec: {
        nodeName: "n",
        containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }],
        initContainers: [{ name: "s", restartPolicy: "Always" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "d" } }],
        tolerations: [{ operator: "Exists" }],
      },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  });

  it("a pruned pod keeps what a container holds only where a resize in place makes it differ from its requests", () => {
    const container = (name: string) => ({ name, resources: { requests: { cpu: "1" }, limits: { cpu: "2" } } });
    const held = (name: string, cpu: string) => ({
      name,
      ready: true,
      allocatedResources: { cpu },
      resources: { requests: { cpu }, limits: { cpu: "9" } },
    });
    const pod = {
      metadata: { name: "p" },
      spec: { containers: ["same", "shrinking", "starting"].map(container), initContainers: [container("sidecar")] },
      status: {
        containerStatuses: [held("same", "1"), held("shrinking", "2"), { name: "starting", ready: false }],
        initContainerStatuses: [held("sidecar", "3")],
        allocatedResources: { cpu: "4" },
        resources: { requests: { cpu: "4" } },
      },
    };
    expect(prune("Pod", pod).status).toEqual({
      containerStatuses: [{ name: "shrinking", allocatedResources: { cpu: "2" }, resources: { requests: { cpu: "2" } } }],
      initContainerStatuses: [{ name: "sidecar", allocatedResources: { cpu: "3" }, resources: { requests: { cpu: "3" } } }],
      allocatedResources: { cpu: "4" },
      resources: { requests: { cpu: "4" } },
    });
  });

  it("a pruned node keeps all that a write must carry", () => {
    const node = {
      metadata: { name: "n", managedFields: [{}], annotations: { [LAST_APPLIED]: "{}" }, finalizers: ["f"] },
      spec: { providerID: "aws:///z/i-1", podCIDR: "10.0.0.0/24" },
      status: { images: [{ names: ["x"] }], allocatable: { cpu: "2" }, nodeInfo: { architecture: "amd64" } },
    };
    expect(prune("Node", node)).toEqual({
      metadata: { name: "n", annotations: { [LAST_APPLIED]: "{}" }, finalizers: ["f"] },
      spec: node.spec,
      status: { allocatable: { cpu: "2" }, nodeInfo: { architecture: "amd64" } },
    });
  });

  it("custom resources stay whole except for managedFields", () => {
    const claim = {
      metadata: { name: "c", managedFields: [{}], annotations: { [LAST_APPLIED]: "{}" } },
      spec: { future: 1 },
      status: { more: 2 },
    };
    expect(prune("NodeClaim", claim)).toEqual({ ...claim, metadata: { name: "c", annotations: { [LAST_APPLIED]: "{}" } } });
  });

  it("a DaemonSet's template is pruned like a pod", () => {
    const daemonSet = {
      metadata: { name: "d", managedFields: [{}] },
      spec: {
        selector: {},
        template: { metadata: { labels: { a: "b" } }, spec: { hostNetwork: true, containers: [{ name: "c", env: [] }] } },
        updateStrategy: {},
      },
      status: {},
    };
    expect(prune("DaemonSet", daemonSet)).toEqual({
      metadata: { name: "d" },
      spec: { selector: {}, template: { metadata: { labels: { a: "b" } }, spec: { hostNetwork: true, containers: [{ name: "c" }] } } },
    });
  });

  it("absent fields stay absent", () => {
    expect(prune("Pod", { metadata: { name: "p" } })).toEqual({ metadata: { name: "p" }, spec: { containers: [] }, status: {} });
    expect(prune("Namespace", { metadata: { name: "x" } })).toEqual({ metadata: { name: "x" } });
  });
});
