import type { FleetOverride, FleetRequest, LaunchTemplate } from "#core/model/fleet.ts";
import type { Instance } from "#core/model/instance.ts";
import type { EC2NodeClassSpec } from "#core/model/node-class.ts";
import type { Catalogue, CatalogueType } from "#core/offerings/catalogue.ts";
import { frozen } from "#manifests/api-object.ts";
import type { Kubelets } from "./actors/kubelet.ts";
import { type CloudEvent, type CloudEventKind, eventOf } from "./cloud-events.ts";
import type { Disks, ImageFacts } from "./disks.ts";
import type { SimulatedSubnet } from "./inventory.ts";
import type { NodeResources } from "./machine-facts.ts";
import { type Machines, type MachinesOptions, startMachines } from "./machines.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";
import type { Bootstrap } from "./user-data.ts";
import type { LabWorld } from "./world.ts";

const RUNNING_AFTER_MS = 2_000;
const POWER_OFF_AFTER_MS = 1_000;
/** Older states of an instance than so many are shown by no list. */
const MAX_EDITIONS = 20;
/** EC2 reports a terminated instance for about an hour. */
const FORGOTTEN_AFTER_MS = 3_600_000;

interface InstancesOptions {
  readonly kubelets: Kubelets;
  /** Other clusters whose machines are in the same account, by name. */
  readonly others?: ReadonlyMap<string, Joinable> | undefined;
  readonly zones: Catalogue["zones"];
  readonly subnets: readonly SimulatedSubnet[];
  /** The resources of a node of the type. */
  readonly resourcesOf: (type: CatalogueType, bootstrap: Bootstrap, disk: number) => NodeResources;
  /** How long a new instance is missing from describe and list, ms. */
  readonly lagMs: number;
  readonly joinDelayMs?: (() => number) | undefined;
  /** How old the states are that describe and list report now, ms. */
  readonly staleMs?: (() => number) | undefined;
}

/** A cluster that machines can join. */
export interface Joinable {
  readonly world: LabWorld;
  readonly kubelets: Kubelets;
}

/** An instance to launch: one override of a fleet request, with its instance type and its price (USD per hour). */
interface InstanceLaunch {
  readonly request: FleetRequest;
  readonly override: FleetOverride;
  readonly template: LaunchTemplate;
  readonly type: CatalogueType;
  readonly price: number;
}

/**
 * The instances of the account, from their launch until EC2 forgets them. Each change of state is an EventBridge event.
 */
export interface Instances {
  get(id: string): SimulatedInstance | undefined;
  all(): readonly SimulatedInstance[];
  /** Throws a sentence when the instance does not run. */
  running(id: string): SimulatedInstance;
  /** Whether describe and list report the instance: EC2 is eventually consistent. */
  isVisible(simulated: SimulatedInstance): boolean;
  /** The instance as describe and list report it: as it was when their answer was made. */
  seen(simulated: SimulatedInstance): Instance;
  launch(launch: InstanceLaunch): SimulatedInstance;
  terminate(id: string): void;
  /** Boots a running machine again. */
  reboot(id: string): void;
  /** Stops an instance: it is there, and may be started again, but its node is silent. */
  powerOff(id: string): void;
  change(id: string, change: Partial<Instance>, more?: Partial<SimulatedInstance>): void;
  publish(kind: CloudEventKind, instance: Instance): void;
  onEvent(listener: (event: CloudEvent) => void): () => void;
}

export function simulatedInstances(world: LabWorld, options: InstancesOptions): Instances {
  const { clock } = world;
  const { subnets } = options;
  const random = world.random.fork("cloud");
  const times = world.random.fork("times of EC2");
  const instances = new Map<string, SimulatedInstance>();
  /** What describe and list show of each instance, and from when on, in order. */
  const editions = new Map<string, readonly { readonly from: number; readonly instance: Instance }[]>();
  const keep = (simulated: SimulatedInstance): void => {
    const { instance } = simulated;
    instances.set(instance.id, simulated);
    const before = editions.get(instance.id) ?? [];
    const from = Math.max(clock.now() + world.times.unseenMs(times), before.at(-1)?.from ?? 0);
    editions.set(instance.id, [...before.slice(-MAX_EDITIONS), { from, instance }]);
  };
  const listeners = new Set<(event: CloudEvent) => void>();

  const publish = (kind: CloudEventKind, instance: Instance): void => {
    const event = eventOf(kind, instance, { region: world.region, id: random.uuid(), now: clock.now() });
    clock.touch();
    for (const listener of listeners) listener(event);
  };
  const change: Instances["change"] = (id, changed, more = {}) => {
    const simulated = instances.get(id);
    if (!simulated) return;
    const next = { ...simulated, ...more, instance: frozen({ ...simulated.instance, ...changed }) };
    keep(next);
    if (changed.state !== undefined && changed.state !== simulated.instance.state) publish("state", next.instance);
  };
  const { others = new Map<string, Joinable>() } = options;
  const machineOptions: MachinesOptions = {
    instance: (id) => instances.get(id),
    resourcesOf: options.resourcesOf,
    joinDelayMs: options.joinDelayMs,
    zoneIds: Object.fromEntries(options.zones.map((zone) => [zone.name, zone.zoneId])),
    isEnding: (id) => {
      const state = instances.get(id)?.instance.state;
      return state !== "pending" && state !== "running";
    },
  };
  const own = startMachines(world, options.kubelets, machineOptions);
  const elsewhere = new Map([...others].map(([name, other]) => [name, startMachines(other.world, other.kubelets, machineOptions)]));
  const machinesOf = ({ instance }: SimulatedInstance): Machines => elsewhere.get(instance.tags[CLUSTER_TAG] ?? "") ?? own;
  const subnetOf = (id: string | undefined): SimulatedSubnet | undefined => subnets.find((subnet) => subnet.id === id);

  return {
    get: (id) => instances.get(id),
    all: () => [...instances.values()],
    running(id) {
      const simulated = instances.get(id);
      if (!simulated || simulated.endedAt !== undefined)
        throw new Error(`there is no running instance "${id}"; take an id from the node table`);
      return simulated;
    },
    isVisible: ({ instance, endedAt = 0 }) =>
      clock.now() - instance.launchedAt >= options.lagMs &&
      clock.now() >= (editions.get(instance.id)?.[0]?.from ?? 0) &&
      !(instance.state === "terminated" && clock.now() - endedAt > FORGOTTEN_AFTER_MS),
    seen({ instance }) {
      const at = clock.now() - (options.staleMs?.() ?? 0);
      const known = editions.get(instance.id) ?? [];
      return (known.findLast(({ from }) => from <= at) ?? known[0])?.instance ?? instance;
    },
    launch({ request, override, template, type, price }) {
      const { reservation } = template;
      const id = `i-0${random.hex(16)}`;
      const subnet = subnetOf(override.subnetId);
      if (subnet) subnet.availableIps--;
      const taken = new Set([...instances.values()].flatMap((one) => (one.endedAt === undefined ? [one.address] : [])));
      let address: string;
      do address = `10.0.${random.between(0, 255)}.${random.between(4, 254)}`;
      while (taken.has(address));
      const nodeName = `ip-${address.replaceAll(".", "-")}.${world.region}.compute.internal`;
      const instance: Instance = frozen({
        id,
        instanceType: override.instanceType,
        zone: override.zone,
        capacityType: request.capacityType,
        imageId: override.imageId || template.imageId,
        state: "pending",
        launchedAt: clock.now(),
        tags: { ...request.tags },
        subnetId: override.subnetId,
        securityGroupIds: [...template.securityGroupIds],
        privateDnsName: nodeName,
        ...(reservation && reservation !== "none" && { reservationId: reservation.id }),
      });
      const disks: Disks = {
        mappings: template.blockDeviceMappings,
        ...imageFacts(others.get(request.tags[CLUSTER_TAG] ?? "")?.world ?? world, request.tags[NODE_CLASS_TAG]),
      };
      const simulated: SimulatedInstance = { instance, userData: template.userData, type, disks, price, nodeName, address };
      keep(simulated);
      publish("state", instance);
      clock.after(RUNNING_AFTER_MS, `running ${id}`, () => {
        if (instances.get(id)?.instance.state === "pending") change(id, { state: "running" });
      });
      machinesOf(simulated).start(simulated);
      return simulated;
    },
    terminate(id) {
      const simulated = instances.get(id);
      if (!simulated || simulated.instance.state === "shutting-down" || simulated.instance.state === "terminated") return;
      change(id, { state: "shutting-down" }, { endedAt: clock.now() });
      clock.after(POWER_OFF_AFTER_MS, `power off ${id}`, () => machinesOf(simulated).stop(simulated));
      clock.after(world.times.endMs(times), `terminated ${id}`, () => {
        change(id, { state: "terminated" });
        const subnet = subnetOf(simulated.instance.subnetId);
        if (subnet) subnet.availableIps++;
      });
    },
    reboot(id) {
      const simulated = instances.get(id);
      if (simulated?.instance.state === "running") machinesOf(simulated).reboot(simulated);
    },
    powerOff(id) {
      const simulated = instances.get(id);
      if (simulated?.instance.state !== "pending" && simulated?.instance.state !== "running") return;
      change(id, { state: "stopping" });
      clock.after(POWER_OFF_AFTER_MS, `power off ${id}`, () => {
        machinesOf(simulated).stop(simulated);
        if (instances.get(id)?.instance.state === "stopping") change(id, { state: "stopped" });
      });
    },
    change,
    publish,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const CLUSTER_TAG = "eks:eks-cluster-name";
const NODE_CLASS_TAG = "karpenter.k8s.aws/ec2nodeclass";

/** What the EC2NodeClass of that name says of its images now. */
function imageFacts(world: LabWorld, nodeClassName: string | undefined): ImageFacts {
  const nodeClass = nodeClassName === undefined ? undefined : world.store.get("EC2NodeClass", nodeClassName);
  if (nodeClass === undefined) return {};
  const { amiFamily, amiSelectorTerms = [], blockDeviceMappings = [], instanceStorePolicy } = nodeClass.spec as Partial<EC2NodeClassSpec>;
  const rootDevice = blockDeviceMappings.find(({ rootVolume }) => rootVolume === true)?.deviceName;
  const isCustom = amiFamily === "Custom" || (amiFamily === undefined && amiSelectorTerms.every(({ alias }) => alias === undefined));
  return {
    isCustom,
    raid0: isCustom && instanceStorePolicy === "RAID0",
    ...(rootDevice !== undefined && { rootDevice }),
  };
}
