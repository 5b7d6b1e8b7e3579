import type { FleetOverride, FleetRequest, FleetResult, LaunchTemplate } from "#core/model/fleet.ts";
import type { Instance } from "#core/model/instance.ts";
import type { CapacityType } from "#core/model/instance-type.ts";
import type { CatalogueType } from "#core/offerings/catalogue.ts";
import { NotFoundError, RefusedError, ThrottledError } from "#core/ports/errors.ts";
import type { Fleet, InstanceStatus } from "#core/ports/fleet.ts";
import { frozen, same } from "#manifests/api-object.ts";
import type { MakeRequest } from "./ec2-environments.ts";
import type { Instances } from "./instances.ts";
import type { SimulatedSubnet } from "./inventory.ts";
import type { Market } from "./market.ts";
import { type Outage, takeCapacity } from "./outages.ts";
import { reservationFault, type SimulatedReservation } from "./reservations.ts";
import type { SimulatedInstance } from "./simulated-instance.ts";

/** [from, until), ms since the epoch. */
export interface TimeWindow {
  readonly from: number;
  readonly until: number;
}

export interface FleetOptions {
  readonly now: () => number;
  readonly instances: Instances;
  readonly market: Market;
  readonly types: ReadonlyMap<string, CatalogueType>;
  readonly subnets: readonly SimulatedSubnet[];
  readonly reservations: readonly SimulatedReservation[];
  readonly outages: readonly Outage[];
  readonly throttled: readonly TimeWindow[];
  /** Instances whose status checks fail, by id. */
  readonly faults: ReadonlyMap<string, InstanceStatus>;
  /** Whether an instance is left out of a list. */
  readonly isUnlisted?: ((id: string) => boolean) | undefined;
  /** Makes the request of an action. */
  readonly request?: MakeRequest | undefined;
}

/** EC2's API as the functions use it: instant fleets, launch templates, describe, terminate. */
export function simulatedFleet(options: FleetOptions): Fleet {
  const { now, instances, faults } = options;
  const templates = new Map<string, LaunchTemplate>();
  const launch = launcher(options, templates);
  const ask: MakeRequest = async (action, once) => {
    if (options.throttled.some(({ from, until }) => now() >= from && now() < until))
      throw new ThrottledError("RequestLimitExceeded: Request limit exceeded.");
    await options.request?.(action, once);
  };
  return {
    async ensureLaunchTemplate(template) {
      await ask("CreateLaunchTemplate", { template: template.name });
      if (!templates.has(template.name)) templates.set(template.name, frozen(template));
    },
    async launch(request) {
      await ask("CreateFleet");
      return launch(request);
    },
    async describe(ids) {
      await ask("DescribeInstances", "with others");
      return ids
        .flatMap((id) => instances.get(id) ?? [])
        .filter(instances.isVisible)
        .map(instances.seen);
    },
    async list(cluster) {
      await ask("DescribeInstances");
      return instances
        .all()
        .filter(instances.isVisible)
        .map(instances.seen)
        .filter((instance) => instance.state !== "terminated" && belongsTo(instance, cluster))
        .filter(({ id }) => !options.isUnlisted?.(id));
    },
    async impaired() {
      await ask("DescribeInstanceStatus");
      return [...faults.values()].filter(({ instanceId }) => instances.get(instanceId)?.instance.state === "running");
    },
    async terminate(id) {
      await ask("TerminateInstances", "with others");
      instances.terminate(id);
    },
    async reboot(id) {
      await ask("RebootInstances");
      if (!instances.get(id)) throw new NotFoundError(`InvalidInstanceID.NotFound: ${id} does not exist`);
      instances.reboot(id);
    },
    async tag(id, tags) {
      await ask("CreateTags");
      const found = instances.get(id);
      if (!found) throw new NotFoundError(`InvalidInstanceID.NotFound: ${id} does not exist`);
      instances.change(id, { tags: { ...found.instance.tags, ...tags } });
    },
  };
}

/** The tags that the functions filter by: EKS Auto Mode tags its instances with the cluster, too. */
const belongsTo = ({ tags }: Instance, cluster: string): boolean =>
  tags["eks:eks-cluster-name"] === cluster && "karpenter.sh/nodepool" in tags && "karpenter.k8s.aws/ec2nodeclass" in tags;

/** CreateFleet: the same client token and request give the result of the first call, whatever has happened since. */
function launcher(options: FleetOptions, templates: ReadonlyMap<string, LaunchTemplate>): (request: FleetRequest) => FleetResult {
  const tokens = new Map<string, { readonly request: FleetRequest; readonly result: FleetResult }>();
  return (request) => {
    const before = tokens.get(request.clientToken);
    if (before) {
      if (same(before.request, request)) return before.result;
      throw new RefusedError(
        "IdempotentParameterMismatch: the client token was used with other parameters; repeat the stored request, or use a new token",
      );
    }
    if (request.launchTemplates.length === 0) throw new RefusedError("InvalidParameterValue: a fleet needs at least one launch template");
    for (const { name } of request.launchTemplates) {
      if (!templates.has(name)) throw new NotFoundError(`InvalidLaunchTemplateName.NotFoundException: ${name} does not exist`);
    }
    const result = fulfil(request, options, templates);
    tokens.set(request.clientToken, { request: frozen(request), result });
    return result;
  };
}

/**
 * Tries the overrides, the cheapest first or by their priority, until all instances of the request are launched. Each
 * override that gives fewer than are still wanted adds one error, also when others make up for it.
 */
function fulfil(request: FleetRequest, options: FleetOptions, templates: ReadonlyMap<string, LaunchTemplate>): FleetResult {
  const { market, instances, types } = options;
  const { capacityType, count = 1 } = request;
  const rank = ({ override, price }: { readonly override: FleetOverride; readonly price: number | undefined }): number =>
    (request.prioritized ? override.price : price) ?? Number.POSITIVE_INFINITY;
  const candidates = request.launchTemplates
    .flatMap(({ name, overrides, reservation }) => overrides.map((override) => ({ template: templates.get(name), override, reservation })))
    .map((candidate) => {
      const { instanceType, zone } = candidate.override;
      return { ...candidate, price: market.priceOf(instanceType, zone, capacityType) };
    })
    .sort((a, b) => rank(a) - rank(b));
  const errors: FleetResult["errors"][number][] = [];
  const launched: SimulatedInstance[] = [];
  for (const { template, override, reservation, price } of candidates) {
    const type = types.get(override.instanceType);
    const subnet = options.subnets.find(({ id }) => id === override.subnetId);
    let code: string | undefined;
    let message: string | undefined;
    while (launched.length < count && code === undefined) {
      const machines = instances.all().map(({ instance }) => instance);
      const full = reservation && reservationFault(reservation, override, options.reservations, machines);
      code = faultOf(type, subnet, override, capacityType, price) ?? full;
      if (code === undefined) ({ code, message } = takeCapacity(options.outages, override, capacityType, options.now()) ?? {});
      if (code !== undefined) break;
      if (template && type && price !== undefined) launched.push(instances.launch({ request, override, template, type, price }));
      else code = "InternalError";
    }
    if (code === undefined) break;
    const { instanceType, zone, subnetId } = override;
    errors.push({ code, message: message ?? `${instanceType} in ${zone}: ${code}`, instanceType, zone, subnetId, capacityType });
  }
  const [instance, ...others] = launched.map(({ instance: { id, instanceType, zone, imageId, subnetId } }) => ({
    ...{ id, instanceType, zone, capacityType, imageId },
    ...(subnetId && { subnetId }),
  }));
  return frozen({ errors, ...(instance && { instance }), ...(others.length > 0 && { others }) });
}

/** EC2's code for a request that the region cannot meet, whatever its capacity. */
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
