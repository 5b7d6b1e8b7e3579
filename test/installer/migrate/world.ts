import type { Instance } from "#core/model/instance.ts";
import { INTENT } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import { deployedOf } from "#infra/deployed.ts";
import { parseSettings } from "#infra/settings.ts";
import type { AdoptPorts, KubeObject } from "#installer/account/ports.ts";
import { keyOf, World } from "../install/world.ts";

/** A cluster with a Karpenter that runs, its NodeClaims, and the functions beside it, whose stack is deployed. */
export class KarpenterWorld extends World {
  /** What runs at EC2. */
  instances: readonly Instance[];
  /** Whether the functions take up what has a record, at their sweep. */
  functionsRun = true;

  constructor({ claims = 2 }: { readonly claims?: number } = {}) {
    super();
    this.instances = Array.from({ length: claims }, (_, i) => instance(i + 1));
    this.outputs = { ...this.outputs, TableName: "table-1" };
    this.stack = { status: "CREATE_COMPLETE", templateUrl: "https://bucket/old.json", outputs: this.outputs };
    this.deploy({ clusters: [{ name: "c1", nodeRoles: ["nodes"] }] });
    for (const object of [
      ...DEFINITIONS,
      DEPLOYMENT,
      POD,
      this.lease(),
      NODE_CLASS,
      ...Array.from({ length: claims }, (_, i) => claim(i + 1)),
    ])
      this.objects.set(keyOf(object), object);
    this.onSleep = () => this.#pass();
  }

  /** The settings that the stack was deployed with. */
  deploy(settings: object): void {
    this.metadata = { "karpenter-serverless": deployedOf(parseSettings(settings, "test")) };
  }

  lease(): KubeObject {
    const spec = { holderIdentity: "karpenter-1", renewTime: new Date(this.now).toISOString() };
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: LEASE, namespace: "kube-system" }, spec };
  }

  get deployment(): { readonly spec: { readonly replicas: number }; readonly metadata: KubeObject["metadata"] } {
    return this.objects.get("Deployment/karpenter") as never;
  }

  change(key: string, changed: object): void {
    const found = this.objects.get(key);
    if (found === undefined) throw new Error(`there is no ${key}`);
    this.objects.set(key, { ...found, ...changed });
  }

  adoptPorts(): AdoptPorts {
    const { stacks, clusterApi, sleep } = this.ports();
    const { records } = this.uninstallPorts();
    let ids = 0;
    return {
      stacks,
      clusterApi,
      sleep,
      records,
      instances: async () => this.instances,
      now: () => this.now,
      newId: () => {
        ids += 1;
        return `id-${ids}`;
      },
    };
  }

  /** Karpenter follows its Deployment, and the functions mark NodeClaims that have a record. */
  async #pass(): Promise<void> {
    if (this.deployment.spec.replicas > 0) {
      this.objects.set("Pod/karpenter-1", POD);
      const { spec } = (this.objects.get(`Lease/${LEASE}`) ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if (spec?.holderIdentity === undefined || spec.holderIdentity === "karpenter-1") this.objects.set(`Lease/${LEASE}`, this.lease());
      this.change("Deployment/karpenter", { status: { conditions: [{ type: "Available", status: "True" }] } });
    } else if (this.objects.delete("Pod/karpenter-1") === false) {
      const { spec } = (this.objects.get(`Lease/${LEASE}`) ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if (spec?.holderIdentity === "karpenter-1") this.objects.delete(`Lease/${LEASE}`);
    }
    if (!this.functionsRun) return;
    for (const { name, intentId } of await this.records.list("c1")) {
      const found = this.objects.get(`NodeClaim/${name}`);
      if (found === undefined || !this.objects.has("ClusterRole/karpenter-serverless:lifecycle")) continue;
      const annotations = { ...found.metadata.annotations, [INTENT]: intentId };
      this.change(`NodeClaim/${name}`, { metadata: { ...found.metadata, annotations } });
    }
  }
}

const LEASE = "karpenter-leader-election";
const LABELS = { "app.kubernetes.io/name": "karpenter" };

const DEFINITIONS = ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"].map(
  (name): KubeObject => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: { versions: [{ name: "v1", served: true }] },
    status: { storedVersions: ["v1"] },
  }),
);

const DEPLOYMENT: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "karpenter", namespace: "kube-system", labels: LABELS },
  spec: {
    replicas: 2,
    selector: { matchLabels: LABELS },
    template: {
      spec: {
        containers: [
          {
            image: "public.ecr.aws/karpenter/controller:1.14.1",
            env: [
              { name: "CLUSTER_NAME", value: "c1" },
              { name: "BATCH_IDLE_DURATION", value: "2s" },
              { name: "INTERRUPTION_QUEUE", value: "q1" },
            ],
          },
        ],
      },
    },
  },
};

const POD: KubeObject = { apiVersion: "v1", kind: "Pod", metadata: { name: "karpenter-1", namespace: "kube-system" }, status: {} };

const NODE_CLASS: KubeObject = {
  apiVersion: "karpenter.k8s.aws/v1",
  kind: "EC2NodeClass",
  metadata: { name: "default", finalizers: ["karpenter.k8s.aws/termination"] },
  spec: { role: "team/nodes" },
};

const instance = (i: number): Instance => ({
  ...{ id: `i-${i}`, state: "running", instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot", imageId: "ami-1" },
  ...{ launchedAt: 0, tags: { "eks:eks-cluster-name": "c1" } },
});

/** A NodeClaim as Karpenter has launched it. */
export function claim(i: number, more: object = {}): KubeObject {
  const made: NodeClaim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name: `default-${i}`,
      uid: `uid-${i}`,
      creationTimestamp: "2026-11-23T11:00:00Z",
      finalizers: ["karpenter.sh/termination"],
      labels: {
        "karpenter.sh/nodepool": "default",
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "us-west-2a",
        "karpenter.sh/capacity-type": "spot",
      },
      annotations: { "karpenter.sh/nodepool-hash": "1" },
    },
    spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
    status: { providerID: `aws:///us-west-2a/i-${i}`, nodeName: `node-${i}` },
  };
  return { ...(made as unknown as KubeObject), ...more };
}
