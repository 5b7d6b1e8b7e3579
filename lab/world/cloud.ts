import type { FleetOverride, FleetRequest, FleetResult, LaunchTemplate } from "../../core/model/fleet.ts";
import type { Instance } from "../../core/model/instance.ts";
import type { CapacityType } from "../../core/model/instance-type.ts";
import type { Catalogue, CatalogueType } from "../../core/offerings/catalogue.ts";
import type { CloudInventory } from "../../core/ports/cloud-inventory.ts";
import { NotFoundError, RefusedError, ThrottledError } from "../../core/ports/errors.ts";
import type { Fleet, InstanceStatus } from "../../core/ports/fleet.ts";
import { frozen, same } from "../../functions/adapters/manifests/api-object.ts";
import type { Kubelets } from "./actors/kubelet.ts";
import { type CloudEvent, eventOf } from "./cloud-events.ts";
import { type CostLine, meter, spentOn } from "./cost.ts";
import { type SimulatedSubnet, simulatedInventory, subnetsOf } from "./inventory.ts";
import { type NodeResources, nodeResources } from "./machine-facts.ts";
import { startMachines } from "./machines.ts";
import { reservationFault, type SimulatedReservation, selectReservations } from "./reservations.ts";
import type { Bootstrap } from "./user-data.ts";
import type { LabWorld } from "./world.ts";

/** A lack of capacity: whatever field is left out, it holds for all. */
export interface Outage {
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: CapacityType;
  /** ms since the epoch, inclusive. */
  readonly from?: number;
  /** ms since the epoch, exclusive. */
  readonly until?: number;
  /** EC2's code; InsufficientInstanceCapacity when absent. */
  readonly code?: string;
}

export interface CloudOptions {
  readonly catalogue: Catalogue;
  readonly kubelets: Kubelets;
  /** What a node of a type has. The world's own arithmetic when absent. */
  readonly capacityOf?: (type: CatalogueType, bootstrap: Bootstrap) => NodeResources;
  /** Free addresses in each zone's subnet. */
  readonly addresses?: number;
  /** For so long a new instance is missing from describe and list, ms: EC2 is eventually consistent. */
  readonly lagMs?: number;
}

/** An instance with what only the cloud itself knows. */
export interface Machine {
  readonly instance: Instance;
  readonly userData: string;
  readonly type: CatalogueType;
  /** USD per hour, now: that of a spot machine follows its market. */
  readonly price: number;
  /** What it has cost up to the last change of its price, and when (ms) that was. */
  readonly paid?: { readonly usd: number; readonly until: number };
  readonly nodeName: string;
  readonly address: string;
  /** When it stopped to cost, ms. */
  readonly endedAt?: number;
}

export interface SimulatedCloud {
  readonly fleet: Fleet;
  readonly inventory: CloudInventory;
  /** Lacks of capacity; add and remove at will. */
  readonly outages: Outage[];
  /** While the time is in one of these windows ([from, until), ms), every call of the fleet is throttled. */
  readonly throttled: { readonly from: number; readonly until: number }[];
  readonly subnets: readonly SimulatedSubnet[];
  /** Capacity reservations; add and remove at will. What stands in one costs nothing: it is paid for in any case. */
  readonly reservations: SimulatedReservation[];
  /** What everything costs now; the functions may know older prices. */
  market(): Catalogue;
  /** From now on spot machines cost this, those that run too. */
  moveSpotPrices(spot: NonNullable<Catalogue["spot"]>): void;
  machines(): readonly Machine[];
  /** EC2's two-minute notice; the machine is taken away at its end. Throws a sentence for an instance that is not a running spot one. */
  interruptSpot(instanceId: string): void;
  /** EC2's hint that a spot machine may soon be taken. */
  recommendRebalance(instanceId: string): void;
  /** An AWS Health event that the machine will be retired. */
  scheduleRetirement(instanceId: string): void;
  /** EC2's status checks find fault with the machine, or plan something for it; without a fault they find none again. */
  impair(instanceId: string, fault?: Omit<InstanceStatus, "instanceId">): void;
  /** Somebody else ends the machine: its node falls silent without any drain. */
  kill(instanceId: string): void;
  /** What EventBridge would deliver. */
  onEvent(listener: (event: CloudEvent) => void): () => void;
  /** USD since the start. */
  cost(): number;
  /** USD per hour right now. */
  pricePerHour(): number;
  costs(): readonly CostLine[];
}

const RUNNING_AFTER_MS = 2_000;
const TERMINATED_AFTER_MS = 5_000;
/** EC2 remembers a terminated instance for about an hour. */
const FORGOTTEN_AFTER_MS = 3_600_000;
const NOTICE_MS = 120_000;

export function simulatedCloud(world: LabWorld, options: CloudOptions): SimulatedCloud {
  const { clock } = world;
  const random = world.random.fork("cloud");
  const { catalogue, kubelets, lagMs = 0 } = options;
  let market = catalogue;
  const types = new Map(catalogue.types.map((t) => [t.name, t]));
  const subnets = subnetsOf(catalogue, options.addresses ?? 8_000);
  const templates = new Map<string, LaunchTemplate>();
  const tokens = new Map<string, { readonly request: FleetRequest; readonly result: FleetResult }>();
  const machines = new Map<string, Machine>();
  const outages: Outage[] = [];
  const reservations: SimulatedReservation[] = [];
  const instances = (): readonly Instance[] => [...machines.values()].map(({ instance }) => instance);
  const throttled: { readonly from: number; readonly until: number }[] = [];
  const faults = new Map<string, InstanceStatus>();
  const listeners = new Set<(event: CloudEvent) => void>();

  const emit = (detail: CloudEvent): void => {
    clock.touch();
    for (const listener of listeners) listener(detail);
  };
  const event = (kind: Parameters<typeof eventOf>[0], instance: Instance): CloudEvent =>
    eventOf(kind, instance, { region: world.region, id: random.uuid(), now: clock.now() });
  const set = (id: string, change: Partial<Instance>, more: Partial<Machine> = {}): void => {
    const machine = machines.get(id);
    if (!machine) return;
    const next = { ...machine, ...more, instance: frozen({ ...machine.instance, ...change }) };
    machines.set(id, next);
    if (change.state !== undefined && change.state !== machine.instance.state) emit(event("state", next.instance));
  };
  const boot = startMachines(world, kubelets, {
    machine: (id) => machines.get(id),
    resources: options.capacityOf ?? nodeResources,
    zoneIds: Object.fromEntries(catalogue.zones.map((z) => [z.name, z.zoneId])),
    gone: (id) => {
      const state = machines.get(id)?.instance.state;
      return state === undefined || state === "terminated" || state === "shutting-down";
    },
  });

  const priceOf = (instanceType: string, zone: string, capacityType: CapacityType): number | undefined =>
    capacityType === "reserved"
      ? 0
      : capacityType === "spot"
        ? (market.spot?.[instanceType]?.[zone] ?? (market.spot ? undefined : market.onDemand[instanceType]))
        : market.onDemand[instanceType];
  const outageOf = (override: FleetOverride, capacityType: CapacityType): string | undefined => {
    const now = clock.now();
    const hit = outages.find(
      (o) =>
        (o.instanceType ?? override.instanceType) === override.instanceType &&
        (o.zone ?? override.zone) === override.zone &&
        (o.capacityType ?? capacityType) === capacityType &&
        now >= (o.from ?? 0) &&
        now < (o.until ?? Number.POSITIVE_INFINITY),
    );
    return hit && (hit.code ?? "InsufficientInstanceCapacity");
  };
  const refuseWhenThrottled = (): void => {
    const now = clock.now();
    if (throttled.some((t) => now >= t.from && now < t.until)) throw new ThrottledError("RequestLimitExceeded: Request limit exceeded.");
  };

  const start = (request: FleetRequest, override: FleetOverride, template: LaunchTemplate, type: CatalogueType, price: number): Machine => {
    const { reservation } = template;
    const id = `i-0${random.hex(16)}`;
    const subnet = subnets.find((s) => s.id === override.subnetId);
    if (subnet) subnet.availableIps--;
    const address = `10.0.${random.between(0, 255)}.${random.between(4, 254)}`;
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
    const machine: Machine = { instance, userData: template.userData, type, price, nodeName, address };
    machines.set(id, machine);
    emit(event("state", instance));
    clock.after(RUNNING_AFTER_MS, `running ${id}`, () => {
      if (machines.get(id)?.instance.state === "pending") set(id, { state: "running" });
    });
    boot.start(machine);
    return machine;
  };

  const end = (id: string): void => {
    const machine = machines.get(id);
    if (!machine || machine.instance.state === "shutting-down" || machine.instance.state === "terminated") return;
    set(id, { state: "shutting-down" }, { endedAt: clock.now() });
    clock.after(1_000, `power off ${id}`, () => boot.stop(machine));
    clock.after(TERMINATED_AFTER_MS, `terminated ${id}`, () => {
      set(id, { state: "terminated" });
      const subnet = subnets.find((s) => s.id === machine.instance.subnetId);
      if (subnet) subnet.availableIps++;
    });
  };

  const visible = (machine: Machine): boolean =>
    clock.now() - machine.instance.launchedAt >= lagMs &&
    !(machine.instance.state === "terminated" && clock.now() - (machine.endedAt ?? 0) > FORGOTTEN_AFTER_MS);

  const launch = (request: FleetRequest): FleetResult => {
    const before = tokens.get(request.clientToken);
    if (before) {
      if (!same(before.request, request)) {
        throw new RefusedError(
          "IdempotentParameterMismatch: the client token was used with other parameters; repeat the stored request, or use a new token",
        );
      }
      return before.result;
    }
    if (request.launchTemplates.length === 0) throw new RefusedError("InvalidParameterValue: a fleet needs at least one launch template");
    for (const { name } of request.launchTemplates) {
      if (!templates.has(name)) throw new NotFoundError(`InvalidLaunchTemplateName.NotFoundException: ${name} does not exist`);
    }
    const { capacityType } = request;
    const rank = ({ override, price }: { readonly override: FleetOverride; readonly price: number | undefined }): number =>
      (request.prioritized ? override.price : price) ?? Number.POSITIVE_INFINITY;
    const candidates = request.launchTemplates
      .flatMap(({ name, overrides, reservation }) =>
        overrides.map((override) => ({ template: templates.get(name), override, reservation })),
      )
      .map((c) => ({ ...c, price: priceOf(c.override.instanceType, c.override.zone, capacityType) }))
      .sort((a, b) => rank(a) - rank(b));
    const errors: FleetResult["errors"][number][] = [];
    let machine: Machine | undefined;
    for (const { template, override, reservation, price } of candidates) {
      const type = types.get(override.instanceType);
      const subnet = subnets.find((s) => s.id === override.subnetId);
      const full = reservation && reservationFault(reservation, override, reservations, instances());
      const code = faultOf(type, subnet, override, capacityType, price) ?? full ?? outageOf(override, capacityType);
      if (code === undefined && template && type && price !== undefined) {
        machine = start(request, override, template, type, price);
        break;
      }
      const { instanceType, zone, subnetId } = override;
      errors.push({
        code: code ?? "InternalError",
        message: `${instanceType} in ${zone}: ${code ?? "InternalError"}`,
        instanceType,
        zone,
        subnetId,
        capacityType,
      });
    }
    const { id, instanceType, zone, imageId, subnetId } = machine?.instance ?? {};
    const instance =
      id && instanceType && zone && imageId ? { id, instanceType, zone, capacityType, imageId, ...(subnetId && { subnetId }) } : undefined;
    const result: FleetResult = frozen({ errors, ...(instance && { instance }) });
    tokens.set(request.clientToken, { request: frozen(request), result });
    return result;
  };

  const running = (id: string): Machine => {
    const machine = machines.get(id);
    if (!machine || machine.endedAt !== undefined) throw new Error(`there is no running instance "${id}"; take an id from the node table`);
    return machine;
  };

  return {
    outages,
    throttled,
    subnets,
    reservations,
    inventory: simulatedInventory(
      world,
      () => market,
      subnets,
      (terms) => selectReservations(reservations, terms, instances()),
    ),
    market: () => market,
    moveSpotPrices(spot) {
      market = { ...market, spot };
      for (const [id, machine] of machines) {
        const price = priceOf(machine.instance.instanceType, machine.instance.zone, machine.instance.capacityType);
        if (machine.endedAt !== undefined || price === undefined || price === machine.price) continue;
        machines.set(id, { ...machine, price, paid: { usd: spentOn(machine, clock.now()), until: clock.now() } });
      }
    },
    fleet: {
      async ensureLaunchTemplate(template) {
        refuseWhenThrottled();
        if (!templates.has(template.name)) templates.set(template.name, frozen(template));
      },
      async launch(request) {
        refuseWhenThrottled();
        return launch(request);
      },
      async describe(ids) {
        refuseWhenThrottled();
        return ids
          .flatMap((id) => machines.get(id) ?? [])
          .filter(visible)
          .map((m) => m.instance);
      },
      async list(cluster) {
        refuseWhenThrottled();
        return [...machines.values()]
          .filter((m) => visible(m) && m.instance.state !== "terminated" && belongsTo(m.instance, cluster))
          .map((m) => m.instance);
      },
      async impaired() {
        refuseWhenThrottled();
        return [...faults.values()].filter(({ instanceId }) => machines.get(instanceId)?.instance.state === "running");
      },
      async terminate(id) {
        refuseWhenThrottled();
        end(id);
      },
      async tag(id, tags) {
        refuseWhenThrottled();
        const machine = machines.get(id);
        if (!machine) throw new NotFoundError(`InvalidInstanceID.NotFound: ${id} does not exist`);
        set(id, { tags: { ...machine.instance.tags, ...tags } });
      },
    },
    machines: () => [...machines.values()],
    interruptSpot(id) {
      const machine = running(id);
      if (machine.instance.capacityType !== "spot")
        throw new Error(`instance "${id}" is ${machine.instance.capacityType}; EC2 interrupts spot instances only`);
      emit(event("interruption", machine.instance));
      clock.after(NOTICE_MS, `reclaim ${id}`, () => end(id));
    },
    recommendRebalance: (id) => emit(event("rebalance", running(id).instance)),
    scheduleRetirement: (id) => emit(event("retirement", running(id).instance)),
    impair(id, fault) {
      if (fault === undefined) faults.delete(id);
      else faults.set(running(id).instance.id, { instanceId: id, ...fault });
    },
    kill: (id) => end(running(id).instance.id),
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ...meter(clock, () => [...machines.values()]),
  };
}

/** EC2's code for a request that the region cannot meet, capacity or not. */
function faultOf(
  type: CatalogueType | undefined,
  subnet: SimulatedSubnet | undefined,
  { zone }: FleetOverride,
  capacityType: CapacityType,
  price: number | undefined,
): string | undefined {
  if (!type) return "InvalidParameterValue";
  if (!subnet) return "InvalidSubnetID.NotFound";
  if (subnet.zone !== zone) return "InvalidParameterCombination";
  if (!type.zones.includes(zone) || price === undefined) return "Unsupported";
  if (capacityType !== "reserved" && !type.capacityTypes.includes(capacityType)) return "Unsupported";
  return subnet.availableIps <= 0 ? "InsufficientFreeAddressesInSubnet" : undefined;
}

const belongsTo = ({ tags }: Instance, cluster: string): boolean =>
  tags["eks:eks-cluster-name"] === cluster || tags[`kubernetes.io/cluster/${cluster}`] === "owned";
