import type { CatalogueType } from "#core/offerings/catalogue.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { withCondition } from "./actors/actor.ts";
import type { Kubelets } from "./actors/kubelet.ts";
import { podDiskBytes } from "./disks.ts";
import type { NodeResources } from "./machine-facts.ts";
import { hash } from "./random.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";
import type { MutableObject } from "./store.ts";
import { type Bootstrap, imageOf, readUserData } from "./user-data.ts";
import type { LabWorld } from "./world.ts";

export interface MachinesOptions {
  readonly instance: (id: string) => SimulatedInstance | undefined;
  readonly resourcesOf: (type: CatalogueType, bootstrap: Bootstrap, disk: number) => NodeResources;
  /** Zone ids by zone name. */
  readonly zoneIds: Readonly<Record<string, string>>;
  /** Whether the instance is terminated or shutting down. */
  readonly isEnding: (id: string) => boolean;
  /** How much later than usual a machine joins, ms; Infinity when it never does. */
  readonly joinDelayMs: (() => number) | undefined;
}

/** Volumes of a type for which no limit is known. */
const USUAL_VOLUMES = 26;

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const CLOUD_CONTROLLER = { user: "system:serviceaccount:kube-system:cloud-controller-manager" };

/** The machines behind the instances. */
export interface Machines {
  /** Powers a machine on: its kubelet joins the cluster when its user data are right. */
  start(simulated: SimulatedInstance): void;
  /** Powers a machine off: its kubelet falls silent. */
  stop(simulated: SimulatedInstance): void;
  /** Boots a machine again: its kubelet falls silent, and comes back with another boot id. */
  reboot(simulated: SimulatedInstance): void;
}

/** What happens inside a machine from power on, and what the cloud controller does with its node. */
export function startMachines(world: LabWorld, kubelets: Kubelets, options: MachinesOptions): Machines {
  const { clock, store } = world;
  const random = world.random.fork("machines");

  const join = (id: string, readyAfterMs: number): void => {
    const simulated = options.instance(id);
    if (!simulated || options.isEnding(id)) return;
    let bootstrap: Bootstrap;
    try {
      bootstrap = readUserData(simulated.userData);
      if (bootstrap.cluster !== world.cluster)
        throw new Error(`the user data is for cluster "${bootstrap.cluster}", not "${world.cluster}"`);
    } catch (error) {
      world.note("failed to join", simulated.nodeName, error instanceof Error ? error.message : String(error));
      return;
    }
    const disk = podDiskBytes(simulated.type, bootstrap, simulated.userData, simulated.disks);
    const resources = options.resourcesOf(simulated.type, bootstrap, disk);
    kubelets.join(nodeObject(world, simulated, bootstrap, resources), readyAfterMs);
    // The cloud controller sees a node a moment after its registration.
    clock.after(random.between(800, 1_600), `cloud controller ${simulated.nodeName}`, () => initialise(world, simulated, options.zoneIds));
    clock.after(readyAfterMs + random.between(1_000, 3_000), `node plugins ${simulated.nodeName}`, () => {
      if (!options.isEnding(id)) plugIn(world, simulated, resources);
    });
  };

  clock.every(5_000, "cloud node lifecycle", () => {
    // Each Node whose providerID names a machine that is gone, whatever made the Node.
    for (const node of store.list("Node") as readonly MutableObject[]) {
      const id: string | undefined = node.spec?.providerID?.split("/").pop();
      const isReady = node.status?.conditions?.some((c: MutableObject) => c.type === "Ready" && c.status === "True") === true;
      if (!isReady && id !== undefined && options.instance(id)?.instance.state === "terminated")
        store.delete("Node", node.metadata.name, {}, CLOUD_CONTROLLER);
    }
  });

  return {
    start(simulated) {
      const joinAfterMs = world.times.joinMs(random) + (options.joinDelayMs?.() ?? 0);
      const readyAfterMs = random.between(8_000, 12_000);
      if (joinAfterMs === Number.POSITIVE_INFINITY) return;
      clock.after(joinAfterMs, `join ${simulated.nodeName}`, () => join(simulated.instance.id, readyAfterMs));
    },
    stop: (simulated) => kubelets.die(simulated.nodeName),
    reboot(simulated) {
      const { nodeName, instance } = simulated;
      kubelets.die(nodeName);
      clock.after(random.between(40_000, 60_000), `boot ${nodeName}`, () => {
        if (!options.isEnding(instance.id)) kubelets.boot(nodeName, bootId(nodeName, clock.now()));
      });
    },
  };
}

const bootId = (nodeName: string, now: number): string => `boot-${nodeName}-${now}`;

/** The node that a kubelet registers. */
function nodeObject(
  world: LabWorld,
  { instance, nodeName, type, address, userData }: SimulatedInstance,
  bootstrap: Bootstrap,
  resources: NodeResources,
): ApiObject {
  const operatingSystem = imageOf(userData) === "windows" ? "windows" : "linux";
  const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure"].reduce(
    (all, kind) => withCondition(all, { type: kind, status: "False" }, world.clock.now()),
    withCondition(
      [],
      { type: "Ready", status: "False", reason: "KubeletNotReady", message: "container runtime network not ready" },
      world.clock.now(),
    ),
  );
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: nodeName,
      labels: {
        "beta.kubernetes.io/arch": type.arch,
        "beta.kubernetes.io/os": operatingSystem,
        "kubernetes.io/arch": type.arch,
        "kubernetes.io/hostname": nodeName,
        "kubernetes.io/os": operatingSystem,
        ...bootstrap.labels,
      },
    },
    spec: {
      providerID: `aws:///${instance.zone}/${instance.id}`,
      taints: [
        { key: UNINITIALIZED, value: "true", effect: "NoSchedule" },
        { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
        ...bootstrap.taints,
      ],
    },
    status: {
      capacity: resources.capacity,
      allocatable: resources.allocatable,
      conditions,
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: nodeName },
      ],
      nodeInfo: {
        kubeletVersion: `v${world.version}.0-eks-lab`,
        architecture: type.arch,
        operatingSystem,
        osImage: "lab",
        bootID: bootId(nodeName, world.clock.now()),
      },
    },
  };
}

/** The cloud controller labels a new node with its zone, region and instance type, and removes its taint. */
function initialise(world: LabWorld, { instance, nodeName }: SimulatedInstance, zoneIds: Readonly<Record<string, string>>): void {
  const { zone, instanceType } = instance;
  const zoneId = zoneIds[zone];
  world.store.patch("Node", nodeName, undefined, CLOUD_CONTROLLER, (o: MutableObject) => {
    o.metadata.labels = {
      ...o.metadata.labels,
      "beta.kubernetes.io/instance-type": instanceType,
      "failure-domain.beta.kubernetes.io/region": world.region,
      "failure-domain.beta.kubernetes.io/zone": zone,
      "k8s.io/cloud-provider-aws": hash(world.cluster).toString(16).padStart(8, "0"),
      "node.kubernetes.io/instance-type": instanceType,
      "topology.kubernetes.io/region": world.region,
      "topology.kubernetes.io/zone": zone,
      ...(zoneId !== undefined && { "topology.k8s.aws/zone-id": zoneId }),
    };
    o.spec.taints = (o.spec.taints ?? []).filter((t: MutableObject) => t.key !== UNINITIALIZED);
    return o;
  });
}

/** Registers what daemons add once the node runs: devices, the volume driver, the network plugin. */
function plugIn(world: LabWorld, { instance, nodeName, type, disks }: SimulatedInstance, { devices }: NodeResources): void {
  const { store } = world;
  const trunk = devices["vpc.amazonaws.com/pod-eni"] !== undefined;
  const node = store.patch("Node", nodeName, undefined, { user: `system:node:${nodeName}` }, (o: MutableObject) => {
    o.metadata.labels["topology.ebs.csi.aws.com/zone"] = instance.zone;
    if (trunk) o.metadata.labels["vpc.amazonaws.com/has-trunk-attached"] = "true";
    for (const list of ["capacity", "allocatable"]) o.status[list] = { ...o.status[list], ...devices };
    return o;
  });
  if (!node || store.get("CSINode", nodeName)) return;
  const uid = node.metadata.uid ?? "";
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }];
  // The driver counts the volumes that the machine has when it starts.
  const count = (type.volumes ?? USUAL_VOLUMES) - Math.max(1, disks.mappings.length);
  const spec = { drivers: [{ name: "ebs.csi.aws.com", nodeID: instance.id, allocatable: { count } }] };
  store.create(
    { apiVersion: "storage.k8s.io/v1", kind: "CSINode", metadata: { name: nodeName, ownerReferences }, spec },
    { user: `system:node:${nodeName}` },
  );
}
