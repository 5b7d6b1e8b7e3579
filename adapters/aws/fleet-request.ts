import type { CreateFleetCommandInput, CreateFleetResult, DefaultTargetCapacityType } from "@aws-sdk/client-ec2";
import type { FleetRequest, FleetResult } from "#core/model/fleet.ts";
import type { CapacityType } from "#core/model/instance-type.ts";
import { toTags } from "./launch-template-data.ts";

/**
 * The CreateFleet request of type "instant"
 * (karpenter-provider-aws: pkg/providers/instance/instance.go, DefaultProvider.launchInstance).
 */
export function fleetInput(request: FleetRequest): CreateFleetCommandInput {
  const Tags = toTags(request.tags);
  return {
    Type: "instant",
    ClientToken: request.clientToken,
    TargetCapacitySpecification: { TotalTargetCapacity: request.count ?? 1, DefaultTargetCapacityType: targetOf(request) },
    LaunchTemplateConfigs: request.launchTemplates.map(({ name, overrides }) => ({
      LaunchTemplateSpecification: { LaunchTemplateName: name, Version: "$Latest" },
      Overrides: overrides.map(({ instanceType, subnetId, zone, imageId, price }) => ({
        InstanceType: instanceType as never,
        SubnetId: subnetId,
        AvailabilityZone: zone,
        ImageId: imageId,
        Priority: price,
      })),
    })),
    ...strategyOf(request),
    TagSpecifications: (["instance", "volume", "fleet"] as const).map((ResourceType) => ({ ResourceType, Tags })),
    ...(request.context !== undefined && { Context: request.context }),
  };
}

function targetOf({ capacityType, launchTemplates }: FleetRequest): DefaultTargetCapacityType {
  if (capacityType !== "reserved") return capacityType;
  const { type, interruptible } = launchTemplates[0]?.reservation ?? {};
  if (type === "capacity-block") return "capacity-block";
  return interruptible ? "reserved-capacity" : "on-demand";
}

/** The allocation strategy; a capacity block offers no choice. */
function strategyOf(request: FleetRequest): Partial<CreateFleetCommandInput> {
  const { prioritized = false } = request;
  switch (targetOf(request)) {
    case "spot":
      return { SpotOptions: { AllocationStrategy: prioritized ? "capacity-optimized-prioritized" : "price-capacity-optimized" } };
    case "reserved-capacity":
      return { ReservedCapacityOptions: { ReservationTypes: ["interruptible-capacity-reservation"] } };
    case "capacity-block":
      return {};
    default:
      return { OnDemandOptions: { AllocationStrategy: prioritized ? "prioritized" : "lowest-price" } };
  }
}

/**
 * The result of a CreateFleet. EC2 returns the override that it used; an emulator may leave parts out, which are then
 * taken from the request.
 */
export function resultOf(request: FleetRequest, { Instances = [], Errors = [] }: CreateFleetResult): FleetResult {
  const overrides = request.launchTemplates.flatMap((template) => template.overrides);
  const capacityTypeOf = (lifecycle: string | undefined): CapacityType => {
    if (request.capacityType === "reserved") return "reserved";
    return (lifecycle ?? request.capacityType) === "spot" ? "spot" : "on-demand";
  };
  const [instance, ...others] = Instances.flatMap((launched) => {
    const said = launched.LaunchTemplateAndOverrides?.Overrides;
    const instanceType = launched.InstanceType ?? said?.InstanceType;
    const asked = overrides.find(
      (override) =>
        override.instanceType === instanceType &&
        (said?.SubnetId === undefined || override.subnetId === said.SubnetId) &&
        (said?.AvailabilityZone === undefined || override.zone === said.AvailabilityZone),
    );
    const subnetId = said?.SubnetId ?? asked?.subnetId;
    const facts = {
      instanceType: instanceType ?? "",
      zone: said?.AvailabilityZone ?? asked?.zone ?? "",
      capacityType: capacityTypeOf(launched.Lifecycle),
      imageId: said?.ImageId ?? asked?.imageId ?? "",
      ...(subnetId !== undefined && { subnetId }),
    };
    return (launched.InstanceIds ?? []).map((id) => ({ id, ...facts }));
  });
  return {
    ...(instance !== undefined && { instance }),
    ...(others.length > 0 && { others }),
    errors: Errors.map(({ ErrorCode = "", ErrorMessage = "", Lifecycle, LaunchTemplateAndOverrides }) => {
      const { InstanceType, AvailabilityZone, SubnetId } = LaunchTemplateAndOverrides?.Overrides ?? {};
      return {
        code: ErrorCode,
        message: ErrorMessage,
        ...(InstanceType && { instanceType: InstanceType }),
        ...(AvailabilityZone && { zone: AvailabilityZone }),
        ...(SubnetId && { subnetId: SubnetId }),
        capacityType: capacityTypeOf(Lifecycle),
      };
    }),
  };
}
