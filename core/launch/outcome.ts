import type { FleetRequest, FleetResult } from "../model/fleet.ts";
import { type KnownInstance, providerIdOf } from "../model/instance.ts";
import type { InstanceType } from "../model/instance-type.ts";
import type { ResourceList } from "../model/kubernetes.ts";
import {
  CAPACITY_RESERVATION_ID,
  CAPACITY_RESERVATION_INTERRUPTIBLE,
  CAPACITY_RESERVATION_TYPE,
  CAPACITY_TYPE,
  INSTANCE_PROFILE_ANNOTATION,
  INSTANCE_TYPE,
  NODE_CLASS,
  NODE_POOL,
  PLACEMENT_GROUP_ID,
  PLACEMENT_GROUP_PARTITION,
  ZONE,
  ZONE_ID,
} from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass } from "../model/node-class.ts";
import { formatResources, parseResources, type Resources } from "../model/quantity.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { NODE_CLASS_HASH_KEY, NODE_CLASS_HASH_VERSION, NODE_CLASS_HASH_VERSION_KEY, nodeClassHash } from "../node-class/hash.ts";
import { allocatableOf } from "../offerings/overhead.ts";
import { efaOnly } from "../offerings/suits.ts";
import { UNAVAILABLE_MS } from "../offerings/unavailable.ts";
import { failureOf, type LaunchFailure } from "./failure.ts";
import { marksOf, reservationOf } from "./marks.ts";

/** What the NodeClaim's status, labels and annotations take from its instance. */
interface Launched {
  readonly providerID: string;
  readonly imageID: string;
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  /** The NodeClaim's own labels win over those of the cloud. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface LaunchOutcome {
  readonly launched?: Launched;
  readonly failure?: LaunchFailure;
  /** Offerings without capacity; also present when an instance was launched. */
  readonly unavailable: readonly UnavailableOffering[];
}

interface LaunchContext {
  readonly claim: NodeClaim;
  readonly nodeClass: EC2NodeClass;
  readonly instanceTypes: readonly InstanceType[];
  /** Base64 PEM; part of the hash of the NodeClass. */
  readonly caBundle?: string;
}

/** Reads the result of one CreateFleet. `now` in ms; marks expire three minutes later. */
export function readOutcome(request: FleetRequest, result: FleetResult, now: number, context: LaunchContext): LaunchOutcome {
  const unavailable = marksOf(request, result, now + UNAVAILABLE_MS, context.nodeClass.status?.placementGroup?.id);
  if (result.instance !== undefined) return { launched: launchedAs(knownInstance(request, result.instance), context), unavailable };
  return { failure: failureOf(result.errors), unavailable };
}

/** The launched instance, with the reservation of its request, because EC2 does not return the reservation. */
export function knownInstance(request: FleetRequest, instance: KnownInstance): KnownInstance {
  if (request.capacityType !== "reserved") return instance;
  const reservation = reservationOf(request, instance);
  return { ...instance, capacityType: "reserved", ...(reservation && { reservationId: reservation.id }) };
}

/**
 * The facts of an instance. Also used for an instance found by its tags, after a crash between the launch and the
 * write.
 */
export function launchedAs(instance: KnownInstance, { claim, nodeClass, instanceTypes, caBundle }: LaunchContext): Launched {
  const type = instanceTypes.find(({ name }) => name === instance.instanceType);
  const zoneId = nodeClass.status?.subnets?.find(({ zone }) => zone === instance.zone)?.zoneID;
  const profile = nodeClass.spec.instanceProfile ?? nodeClass.status?.instanceProfile;
  const capacity = type ? parseResources(type.capacity) : {};
  const listed = efaOnly(nodeClass.spec.networkInterfaces).length > 0;
  const wantsEfa = listed || claim.spec.resources?.requests?.["vpc.amazonaws.com/efa"] !== undefined;
  return {
    providerID: providerIdOf(instance),
    imageID: instance.imageId,
    capacity: present(capacity, wantsEfa),
    allocatable: type ? present(allocatableOf(type), wantsEfa) : {},
    labels: {
      ...typeLabels(type),
      ...(type?.capacity["pods"] !== undefined && { "karpenter.k8s.aws/instance-pods": String(type.capacity["pods"]) }),
      [INSTANCE_TYPE]: instance.instanceType,
      [ZONE]: instance.zone,
      ...(zoneId && { [ZONE_ID]: zoneId }),
      [CAPACITY_TYPE]: instance.capacityType,
      ...reservationLabels(instance, nodeClass),
      ...placementLabels(instance, nodeClass),
      "karpenter.k8s.aws/instance-tenancy": tenancyOf(claim),
      // A NodeClaim made by hand may lack this label, and the label identifies our nodes.
      [NODE_CLASS]: claim.spec.nodeClassRef.name,
      ...(claim.metadata.labels?.[NODE_POOL] && { [NODE_POOL]: claim.metadata.labels[NODE_POOL] }),
      ...claim.metadata.labels,
    },
    annotations: {
      [NODE_CLASS_HASH_KEY]: nodeClassHash(nodeClass, caBundle),
      [NODE_CLASS_HASH_VERSION_KEY]: NODE_CLASS_HASH_VERSION,
      ...(profile && { [INSTANCE_PROFILE_ANNOTATION]: profile }),
    },
  };
}

/** Labels of the reservation that an instance uses. */
function reservationLabels({ reservationId }: KnownInstance, { status }: EC2NodeClass): Readonly<Record<string, string>> {
  if (reservationId === undefined) return {};
  const { reservationType = "default", interruptible = false } = status?.capacityReservations?.find(({ id }) => id === reservationId) ?? {};
  return {
    [CAPACITY_RESERVATION_ID]: reservationId,
    [CAPACITY_RESERVATION_TYPE]: reservationType,
    [CAPACITY_RESERVATION_INTERRUPTIBLE]: String(interruptible),
  };
}

/** Labels of the placement group of the NodeClass. */
function placementLabels({ partition }: KnownInstance, { status }: EC2NodeClass): Readonly<Record<string, string>> {
  if (status?.placementGroup === undefined) return {};
  return { [PLACEMENT_GROUP_ID]: status.placementGroup.id, ...(partition !== undefined && { [PLACEMENT_GROUP_PARTITION]: partition }) };
}

/** Labels that the instance type alone decides. */
function typeLabels(type: InstanceType | undefined): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const { key, operator, values } of type?.requirements ?? []) {
    const [value] = values ?? [];
    if (
      operator === "In" &&
      values?.length === 1 &&
      value !== undefined &&
      !key.includes("capacity-reservation-") &&
      key !== PLACEMENT_GROUP_PARTITION
    )
      labels[key] = value;
  }
  return labels;
}

function tenancyOf(claim: NodeClaim): string {
  const wanted = claim.spec.requirements.find(({ key }) => key === "karpenter.k8s.aws/instance-tenancy");
  return wanted?.operator === "In" && !wanted.values?.includes("default") ? "dedicated" : "default";
}

/** Without zeros; EFA interfaces are present only when pods request them. */
function present(resources: Resources, wantsEfa: boolean): ResourceList {
  const kept = Object.entries(resources).filter(([name, milli]) => milli !== 0 && (wantsEfa || name !== "vpc.amazonaws.com/efa"));
  return formatResources(Object.fromEntries(kept));
}
