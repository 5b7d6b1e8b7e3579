import type {
  CreateFleetError,
  CreateFleetInstance,
  CreateFleetRequest,
  CreateFleetResult,
  FleetLaunchTemplateConfigRequest,
  FleetLaunchTemplateOverridesRequest,
  LaunchTemplateAndOverridesResponse,
  RequestLaunchTemplateData,
} from "@aws-sdk/client-ec2";
import { AwsError, dryRunPassed, missing } from "../errors.ts";
import type { FakeAwsState, FakeLaunchTemplate } from "../world.ts";
import { type CallContext, type CapacityType, giveBack, insufficient, roomIn, type Shortage } from "./capacity.ts";
import { launch, tagsFor } from "./instance-life.ts";
import { type LaunchPlan, planLaunch, templateOf, withOverride } from "./launch-data.ts";

type Pool = {
  readonly template: FakeLaunchTemplate;
  readonly version: number;
  readonly override: FleetLaunchTemplateOverridesRequest;
  readonly data: RequestLaunchTemplateData;
  readonly order: number;
};

const MAX_CONFIGS = 50;

/**
 * An instant fleet. Every template × override is a pool. Pools are tried in the order of the allocation strategy until
 * the target is met, and each pool that refuses adds an entry to the error set, whether or not the target is met.
 * `price-capacity-optimized` means cheapest first: a pool has capacity or has none here, so the price decides.
 */
export function createFleet(world: FakeAwsState, request: CreateFleetRequest, context: CallContext): CreateFleetResult {
  const configs = checkRequest(request);
  const pools = configs.flatMap((config) => poolsOf(world, config)).map((pool, order) => ({ ...pool, order }));
  if (request.DryRun) throw dryRunPassed();
  const tagSpecifications = request.TagSpecifications ?? [];
  const fleetTags = tagsFor("fleet", tagSpecifications);
  tagsFor("instance", tagSpecifications);

  const fleetId = world.id("fleet", 36).replace(/^(fleet-.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
  const instances: CreateFleetInstance[] = [];
  const errors: CreateFleetError[] = [];
  for (const [capacityType, target] of targetsOf(request, context)) {
    if (target > 0) fill(world, request, context, { pools, capacityType, target, fleetId, instances, errors });
  }
  const shortfall = context.faults.find(({ partial }) => partial !== undefined);
  const first = pools[0];
  if (shortfall && first && errors.length === 0) {
    errors.push(errorEntry(first, capacityTypeOf(request), insufficient(first.override.InstanceType ?? "", "the requested zone")));
  }
  const answer: CreateFleetResult = { FleetId: fleetId, Instances: instances, Errors: errors };
  const token = request.ClientToken === undefined ? {} : { clientToken: request.ClientToken };
  world.fleets.set(fleetId, { id: fleetId, time: world.clock.now(), answer, tags: fleetTags, ...token });
  return answer;
}

function checkRequest(request: CreateFleetRequest): readonly FleetLaunchTemplateConfigRequest[] {
  const configs = request.LaunchTemplateConfigs ?? [];
  if (request.Type !== "instant") {
    throw new AwsError("UnsupportedOperation", `This stand-in only makes fleets of type instant, not ${request.Type ?? "maintain"}.`);
  }
  if (configs.length === 0) throw missing("LaunchTemplateConfigs");
  if (configs.length > MAX_CONFIGS) {
    throw new AwsError(
      "InvalidParameterValue",
      `The number of launch template configs (${configs.length}) exceeds the limit of ${MAX_CONFIGS}.`,
    );
  }
  if (request.TargetCapacitySpecification?.TotalTargetCapacity === undefined)
    throw missing("TargetCapacitySpecification.TotalTargetCapacity");
  if (request.TargetCapacitySpecification.TotalTargetCapacity < 1) {
    throw new AwsError("InvalidParameterValue", "TotalTargetCapacity must be at least 1.");
  }
  return configs;
}

function poolsOf(world: FakeAwsState, config: FleetLaunchTemplateConfigRequest): readonly Omit<Pool, "order">[] {
  const spec = config.LaunchTemplateSpecification;
  if (!spec) throw missing("LaunchTemplateSpecification");
  if (!spec.Version) throw missing("LaunchTemplateSpecification.Version");
  const { template, version, data } = templateOf(world, spec);
  const overrides = config.Overrides?.length ? config.Overrides : [{}];
  return overrides.map((override) => ({ template, version, override, data: withOverride(data, override) }));
}

const capacityTypeOf = (request: CreateFleetRequest): CapacityType =>
  request.TargetCapacitySpecification?.DefaultTargetCapacityType === "spot" ? "spot" : "on-demand";

/** The target of each capacity type, after a fault that reduces the total. */
function targetsOf(request: CreateFleetRequest, { faults }: CallContext): readonly (readonly [CapacityType, number])[] {
  const asked = request.TargetCapacitySpecification;
  const total = asked?.TotalTargetCapacity ?? 0;
  const cap = faults.find(({ partial }) => partial !== undefined)?.partial ?? total;
  const fixed = { "on-demand": asked?.OnDemandTargetCapacity ?? 0, spot: asked?.SpotTargetCapacity ?? 0 };
  fixed[capacityTypeOf(request)] += Math.max(0, total - fixed["on-demand"] - fixed.spot);
  const onDemand = Math.min(fixed["on-demand"], cap);
  return [
    ["on-demand", onDemand],
    ["spot", Math.min(fixed.spot, cap - onDemand)],
  ];
}

type Filling = {
  readonly pools: readonly Pool[];
  readonly capacityType: CapacityType;
  readonly target: number;
  readonly fleetId: string;
  readonly instances: CreateFleetInstance[];
  readonly errors: CreateFleetError[];
};

function fill(world: FakeAwsState, request: CreateFleetRequest, context: CallContext, filling: Filling): void {
  const { capacityType, target, fleetId, instances, errors } = filling;
  const limits = capacityType === "spot" ? request.SpotOptions : request.OnDemandOptions;
  const minimum = limits?.MinTargetCapacity ?? 0;
  const planned: { pool: Pool; plan: LaunchPlan; count: number; reservation?: string }[] = [];
  let open = target;
  let kept: Pool | undefined;
  for (const pool of inOrder(world, filling.pools, request, capacityType)) {
    if (open <= 0) break;
    if (kept && limits?.SingleInstanceType && kept.data.InstanceType !== pool.data.InstanceType) continue;
    let plan: LaunchPlan;
    try {
      plan = planLaunch(world, pool.data, { subnetId: pool.override.SubnetId, zone: pool.override.AvailabilityZone }, "fleet");
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      errors.push(errorEntry(pool, capacityType, { code: error.code, message: error.message }));
      continue;
    }
    const weight = pool.override.WeightedCapacity ?? 1;
    const wanted = Math.ceil(open / weight);
    const taken = planned.filter((other) => other.plan.subnet === plan.subnet).reduce((sum, { count }) => sum + count, 0);
    const room = roomIn(world, plan, capacityType, context, wanted, taken);
    if (room.count > 0) {
      planned.push({ pool, plan, count: room.count, ...(room.reservation === undefined ? {} : { reservation: room.reservation }) });
      open -= room.count * weight;
      kept = pool;
    }
    if (room.shortage) errors.push(errorEntry(pool, capacityType, room.shortage));
  }
  if (target - open < minimum) {
    for (const { reservation, count } of planned) giveBack(world, reservation, count);
    return;
  }
  for (const { pool, plan, count, reservation } of planned) {
    const ids = Array.from({ length: count }, () => {
      const made = launch(world, plan, {
        capacityType,
        tags: new Map([
          ...tagsFor("instance", [...(pool.data.TagSpecifications ?? []), ...(request.TagSpecifications ?? [])]),
          ["aws:ec2:fleet-id", fleetId],
          ["aws:ec2launchtemplate:id", pool.template.id],
          ["aws:ec2launchtemplate:version", String(pool.version)],
        ]),
        launchTemplateId: pool.template.id,
        fleetId,
        // The fleet's client token is not that of its instances, so they cannot be found by it.
        clientToken: `${fleetId}-${instances.length}`,
        role: context.call.role,
        ...(reservation === undefined ? {} : { capacityReservationId: reservation }),
        reservationId: world.id("r"),
      });
      return made.id;
    });
    instances.push({
      LaunchTemplateAndOverrides: echo(pool),
      Lifecycle: capacityType,
      InstanceIds: ids,
      InstanceType: plan.instanceType as NonNullable<CreateFleetInstance["InstanceType"]>,
      AvailabilityZone: plan.subnet.zone,
      SubnetId: plan.subnet.id,
    });
  }
}

/** Cheapest first, or by priority when the strategy says so; ties keep the request's order. */
function inOrder(world: FakeAwsState, pools: readonly Pool[], request: CreateFleetRequest, capacityType: CapacityType): readonly Pool[] {
  const strategy = capacityType === "spot" ? request.SpotOptions?.AllocationStrategy : request.OnDemandOptions?.AllocationStrategy;
  const byPriority = strategy === "prioritized" || strategy === "capacity-optimized-prioritized";
  const rank = ({ override, data }: Pool): number => {
    if (byPriority) return override.Priority ?? Number.POSITIVE_INFINITY;
    const type = data.InstanceType ?? "";
    const zone = override.AvailabilityZone ?? world.subnets.get(override.SubnetId ?? "")?.zone ?? "";
    const { spot, onDemand } = world.prices;
    return (capacityType === "spot" ? spot.get(type)?.get(zone) : onDemand.get(type)) ?? Number.MAX_VALUE;
  };
  return pools.toSorted((a, b) => Math.sign(rank(a) - rank(b)) || a.order - b.order);
}

const echo = ({ template, version, override }: Pool): LaunchTemplateAndOverridesResponse => ({
  LaunchTemplateSpecification: { LaunchTemplateId: template.id, Version: String(version) },
  Overrides: {
    ...(override.InstanceType === undefined ? {} : { InstanceType: override.InstanceType }),
    ...(override.SubnetId === undefined ? {} : { SubnetId: override.SubnetId }),
    ...(override.AvailabilityZone === undefined ? {} : { AvailabilityZone: override.AvailabilityZone }),
    ...(override.ImageId === undefined ? {} : { ImageId: override.ImageId }),
    ...(override.Priority === undefined ? {} : { Priority: override.Priority }),
    ...(override.WeightedCapacity === undefined ? {} : { WeightedCapacity: override.WeightedCapacity }),
  },
});

const errorEntry = (pool: Pool, capacityType: CapacityType, { code, message }: Shortage): CreateFleetError => ({
  LaunchTemplateAndOverrides: echo(pool),
  Lifecycle: capacityType,
  ErrorCode: code,
  ErrorMessage: message,
});
