import type { CapacityReservationSelectorTerm } from "#core/model/node-class.ts";
import type { Catalogue, CatalogueType } from "#core/offerings/catalogue.ts";
import type { CloudInventory, ReservedInstance } from "#core/ports/cloud-inventory.ts";
import type { Fleet, InstanceStatus } from "#core/ports/fleet.ts";
import type { Kubelets } from "./actors/kubelet.ts";
import type { CloudEvent } from "./cloud-events.ts";
import { type Meter, meter, spentOn } from "./cost.ts";
import { type FleetOptions, simulatedFleet, type TimeWindow } from "./fleet.ts";
import { type Joinable, simulatedInstances } from "./instances.ts";
import { type SimulatedSubnet, simulatedInventory, subnetsOf } from "./inventory.ts";
import { type NodeResources, nodeResources } from "./machine-facts.ts";
import { simulatedMarket } from "./market.ts";
import { onDemandInstances } from "./on-demand-instances.ts";
import type { Outage } from "./outages.ts";
import { type SimulatedReservation, selectReservations } from "./reservations.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";
import type { Bootstrap } from "./user-data.ts";
import type { LabWorld } from "./world.ts";

interface CloudOptions {
  readonly catalogue: Catalogue;
  readonly kubelets: Kubelets;
  /** Other clusters whose machines are in this account, by name. */
  readonly others?: ReadonlyMap<string, Joinable> | undefined;
  /** The resources of a node of a type; computed as Amazon's images do when absent (machine-facts.ts). */
  readonly capacityOf?: (type: CatalogueType, bootstrap: Bootstrap, disk: number) => NodeResources;
  /** Free addresses in the subnet of each zone; 8,000 when absent. */
  readonly addresses?: number;
  /** How long a new instance is missing from describe and list, ms: EC2 is eventually consistent. 0 when absent. */
  readonly lagMs?: number;
  /** How much later than usual a machine that starts now joins the cluster, ms; Infinity when it never does. */
  readonly joinDelayMs?: (() => number) | undefined;
  /** Whether EC2 leaves an instance out of the list that it is writing; describe by id is not touched. */
  readonly isUnlisted?: ((id: string) => boolean) | undefined;
  /** How old the states are that describe and list report now, ms. 0 when absent. */
  readonly staleMs?: (() => number) | undefined;
  /** Makes each request to EC2: it may wait, or throw ThrottledError (ec2-requests.ts). */
  readonly request?: FleetOptions["request"];
}

/** The AWS account around the cluster: EC2 with its market, its failures and its bill. */
export interface SimulatedCloud extends Meter {
  readonly fleet: Fleet;
  readonly inventory: CloudInventory;
  /** Lacks of capacity; a test adds and removes them. */
  readonly outages: Outage[];
  /** While the time is in one of these windows, every call of the fleet is throttled. */
  readonly throttled: TimeWindow[];
  readonly subnets: readonly SimulatedSubnet[];
  /**
   * Capacity reservations; a test adds and removes them. An instance in one costs nothing, because the reservation is
   * paid for anyway.
   */
  readonly reservations: SimulatedReservation[];
  /** Discounts that the account has bought for years; a test adds and removes them. */
  readonly reservedInstances: ReservedInstance[];
  /** Types and prices as they are now; the functions may know older prices. */
  market(): Catalogue;
  /** Sets the spot prices, of running instances too. */
  moveSpotPrices(spot: NonNullable<Catalogue["spot"]>): void;
  machines(): readonly SimulatedInstance[];
  /**
   * EC2's two-minute notice, with the end of the instance after it. Throws a sentence when it is not a running spot
   * instance.
   */
  interruptSpot(instanceId: string): void;
  /** EC2's rebalance recommendation: the spot instance may soon be interrupted. */
  recommendRebalance(instanceId: string): void;
  /** An AWS Health event that the instance will be retired. */
  scheduleRetirement(instanceId: string): void;
  /** Makes EC2's status checks fail or announce an event for the instance; without a fault they pass again. */
  impair(instanceId: string, fault?: Omit<InstanceStatus, "instanceId">): void;
  /** Terminates the instance as another user of the account would: without any drain. */
  kill(instanceId: string): void;
  /** Stops the instance as another user of the account would. */
  powerOff(instanceId: string): void;
  /** Calls the listener with each event that EventBridge would deliver. Returns what ends the subscription. */
  onEvent(listener: (event: CloudEvent) => void): () => void;
}

/** From EC2's interruption notice to the end of a spot instance. */
const NOTICE_MS = 120_000;
const DEFAULT_ADDRESSES = 8_000;

export function simulatedCloud(world: LabWorld, options: CloudOptions): SimulatedCloud {
  const { clock } = world;
  const { catalogue, kubelets, lagMs = 0, capacityOf = nodeResources } = options;
  const market = simulatedMarket(catalogue);
  const subnets = subnetsOf(catalogue, options.addresses ?? DEFAULT_ADDRESSES);
  const outages: Outage[] = [];
  const throttled: TimeWindow[] = [];
  const reservations: SimulatedReservation[] = [];
  const reservedInstances: ReservedInstance[] = [];
  const faults = new Map<string, InstanceStatus>();
  const instances = simulatedInstances(world, {
    kubelets,
    others: options.others,
    subnets,
    lagMs,
    zones: catalogue.zones,
    resourcesOf: capacityOf,
    joinDelayMs: options.joinDelayMs,
    staleMs: options.staleMs,
  });
  const types = new Map(catalogue.types.map((type) => [type.name, type]));
  const selectable = (terms: readonly CapacityReservationSelectorTerm[]) =>
    selectReservations(
      reservations,
      terms,
      instances.all().map(({ instance }) => instance),
    );
  return {
    outages,
    throttled,
    subnets,
    reservations,
    fleet: simulatedFleet({
      now: clock.now,
      instances,
      market,
      types,
      subnets,
      reservations,
      outages,
      throttled,
      faults,
      isUnlisted: options.isUnlisted,
      request: options.request,
    }),
    reservedInstances,
    inventory: {
      ...simulatedInventory(world, market.catalogue, subnets, selectable),
      reservedInstances: async () => [...reservedInstances],
      onDemandInstances: async (families) => onDemandInstances(instances.all().filter(instances.isVisible), families),
    },
    market: market.catalogue,
    moveSpotPrices(spot) {
      market.moveSpotPrices(spot);
      for (const simulated of instances.all()) {
        const { id, instanceType, zone, capacityType } = simulated.instance;
        const price = market.priceOf(instanceType, zone, capacityType);
        if (simulated.endedAt !== undefined || price === undefined || price === simulated.price) continue;
        instances.change(id, {}, { price, paid: { usd: spentOn(simulated, clock.now()), until: clock.now() } });
      }
    },
    machines: instances.all,
    interruptSpot(id) {
      const { instance } = instances.running(id);
      if (instance.capacityType !== "spot")
        throw new Error(`instance "${id}" is ${instance.capacityType}; EC2 interrupts spot instances only`);
      instances.publish("interruption", instance);
      clock.after(NOTICE_MS, `reclaim ${id}`, () => instances.terminate(id));
    },
    recommendRebalance: (id) => instances.publish("rebalance", instances.running(id).instance),
    scheduleRetirement: (id) => instances.publish("retirement", instances.running(id).instance),
    impair(id, fault) {
      if (fault === undefined) faults.delete(id);
      else faults.set(instances.running(id).instance.id, { instanceId: id, ...fault });
    },
    kill: (id) => instances.terminate(instances.running(id).instance.id),
    powerOff: (id) => instances.powerOff(instances.running(id).instance.id),
    onEvent: instances.onEvent,
    ...meter(clock, instances.all),
  };
}
