// core/launch: renders a NodeClaim into one CreateFleet request with its launch templates, and reads the answer.
// NodeClaim, EC2NodeClass and instance types come in; requests, templates, marks and failures go out.
// AWS's client, the store and the lifecycle's order must not be known here.

import { contentHash, utf8 } from "../lib/fnv.ts";
import { violationText } from "../lib/invariant.ts";
import type { FleetRequest, LaunchTemplate } from "../model/fleet.ts";
import type { CapacityType, InstanceType } from "../model/instance-type.ts";
import { MIN_VALUES_RELAXED, NODE_POOL, PLACEMENT_GROUP_PARTITION } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { LaunchGroupPlan, NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClass, ResolvedSubnet } from "../model/node-class.ts";
import { parseResources, resourcesProblem } from "../model/quantity.ts";
import { CLAIM_UID_TAG, LAUNCH_GROUP_TAG, NAME_TAG, NODE_CLAIM_TAG, ownershipTags } from "../model/tags.ts";
import type { UnavailableOffering } from "../model/unavailable-offering.ts";
import { amiFor } from "../node-class/ami.ts";
import { aliasOf, amiFamilyOf } from "../node-class/family.ts";
import { launchReadiness } from "../node-class/readiness.ts";
import { PRICE_OVERLAY_APPLIED } from "../node-overlay/annotations.ts";
import { fullSubnets } from "../offerings/unavailable.ts";
import { has } from "../requirements/requirement.ts";
import { type Requirements, requirementsFrom } from "../requirements/requirements.ts";
import { isIpv6 } from "./cluster-dns.ts";
import { filterForLaunch } from "./filter.ts";
import { type InstanceSpec, launchTemplate } from "./launch-template.ts";
import { requestViolation } from "./request-invariants.ts";
import { subnetByZone } from "./subnets.ts";
import { groupByTemplate, inOrderOf, inTurn, overridesOf, type TemplateGroup } from "./template-groups.ts";
import { renderUserData, USER_DATA_LIMIT } from "./user-data.ts";
import type { ClusterFacts } from "./user-data-input.ts";

/** EC2's limit of templates in one CreateFleet; more expensive templates are left out. */
const MAX_TEMPLATES = 50;

/** The inputs of a rendered launch. */
export interface LaunchInput {
  readonly claim: NodeClaim;
  readonly record: Pick<NodeClaimRecord, "uid">;
  /** Undefined when the NodeClass was deleted. */
  readonly nodeClass: EC2NodeClass | undefined;
  /**
   * As `instanceTypesOf` returns them for this NodeClass, with marks of unavailable offerings and with NodeOverlays.
   */
  readonly instanceTypes: readonly InstanceType[];
  readonly cluster: ClusterFacts;
  /** How often this NodeClaim's launch was rendered before; part of the client token. */
  readonly attempt: number;
  /** Marks that have not expired: subnets without free addresses are skipped. */
  readonly unavailable?: readonly UnavailableOffering[];
  /** Feature gate ReservedCapacity: instances that are not bought as reserved stay out of open reservations. */
  readonly reservedCapacity?: boolean;
  /** Free addresses by subnet id, if known. */
  readonly freeIps?: Readonly<Record<string, number>>;
  /** Renders one request for several NodeClaims that are like this one. */
  readonly group?: Pick<LaunchGroupPlan, "id" | "requests" | "zoneTurn"> & { readonly count: number };
}

/**
 * Why there is no launch. The first two kinds remove the NodeClaim; "Refused" keeps it for retries until the launch
 * timeout.
 */
export interface LaunchError {
  readonly kind: "InsufficientCapacity" | "NodeClassNotReady" | "Refused";
  readonly reason: string;
  readonly message: string;
}

/** The request to send, or why no request can be sent. */
export type RenderedLaunch =
  | { readonly ok: { readonly request: FleetRequest; readonly templates: readonly LaunchTemplate[] } }
  | { readonly error: LaunchError };

/**
 * Renders one CreateFleet, and the launch templates that it names. Equal inputs give equal requests.
 * The request contains prices that change, so the caller stores it before it sends it, and repeats the stored request.
 * @example
 * const rendered = renderLaunch(input);
 * if ("ok" in rendered) await store.update({ ...record, launch: rendered.ok.request });
 */
export function renderLaunch(input: LaunchInput): RenderedLaunch {
  const { claim, nodeClass, cluster, group: together } = input;
  const readiness = launchReadiness(nodeClass);
  if (readiness !== undefined || nodeClass === undefined) {
    return refuse(readiness?.kind ?? "InsufficientCapacity", readiness?.reason ?? "NodeClassNotFound", readiness?.message ?? "");
  }
  const uid = input.record.uid ?? claim.metadata.uid;
  if (uid === undefined)
    return refuse("Refused", "LaunchFailed", `NodeClaim ${claim.metadata.name} has no UID yet: create the object first`);
  // The CRD's pattern lets in amounts that are none, such as "1e1.5".
  const unreadable = resourcesProblem(claim.spec.resources?.requests);
  if (unreadable !== undefined) return refuse("Refused", "LaunchFailed", `spec.resources.requests cannot be read: ${unreadable}`);
  if (input.instanceTypes.length === 0) return refuse("Refused", "InstanceTypeResolutionFailed", "no instance types are known");

  const requirements = requirementsFrom(claim.spec.requirements);
  const relaxed = claim.metadata.annotations?.[MIN_VALUES_RELAXED] === "true";
  const requests = parseResources(together?.requests ?? claim.spec.resources?.requests);
  const subnets = subnetByZone(nodeClass.status?.subnets ?? [], input.freeIps, fullSubnets(input.unavailable ?? []));
  const filter = (types: readonly InstanceType[]) => filterForLaunch(types, requirements, requests, { relaxMinValues: relaxed });
  // The filter chooses among what can be launched: otherwise a type without an image decides the capacity type.
  const filtered = filter(launchableTypes(input.instanceTypes, nodeClass, subnets));
  if ("none" in filtered) {
    const whole = filter(input.instanceTypes);
    if ("none" in whole) return refuse("InsufficientCapacity", "InsufficientCapacity", whole.none);
    // The next plan leaves out types without an image, but not before any image is known.
    const kind = (nodeClass.status?.amis ?? []).length > 0 ? "InsufficientCapacity" : "Refused";
    return refuse(
      kind,
      "LaunchFailed",
      `no AMI and subnet of EC2NodeClass ${nodeClass.metadata.name} fit any instance type of the NodeClaim`,
    );
  }

  const { candidates, capacityType } = filtered.ok;
  const tags = ownershipTags(cluster.name, nodeClass, claim.metadata.labels?.[NODE_POOL] ?? "");
  const zoneOrder = together ? inTurn([...subnets.keys()], together.zoneTurn) : inOrderOf(claim.metadata.name);
  const launchTemplates: FleetRequest["launchTemplates"][number][] = [];
  const templates: LaunchTemplate[] = [];
  try {
    for (const group of groupByTemplate(candidates, nodeClass, requests)) {
      const overrides = overridesOf(group, capacityType, subnets, zoneOrder);
      if (overrides.length === 0) continue;
      const template = templateFor(group, input, nodeClass, capacityType, requirements, tags);
      const bytes = utf8(template.userData).length;
      if (bytes > USER_DATA_LIMIT) {
        return refuse(
          "Refused",
          "UserDataSizeLimitExceeded",
          `userData is ${bytes} bytes, EC2 takes ${USER_DATA_LIMIT}: shorten spec.userData`,
        );
      }
      templates.push(template);
      launchTemplates.push({ name: template.name, overrides, ...(group.reservation && { reservation: group.reservation }) });
      if (launchTemplates.length === MAX_TEMPLATES) break;
    }
  } catch (error) {
    if (error instanceof RangeError) return refuse("Refused", "LaunchFailed", error.message);
    throw error;
  }
  const request: FleetRequest = {
    ...(together ? { clientToken: together.id, count: together.count } : { clientToken: clientToken(uid, input.attempt) }),
    capacityType,
    launchTemplates,
    tags: {
      [NAME_TAG]: together ? (claim.metadata.labels?.[NODE_POOL] ?? "") : nameTag(claim),
      ...tags,
      ...(together ? { [LAUNCH_GROUP_TAG]: together.id } : { [NODE_CLAIM_TAG]: claim.metadata.name, [CLAIM_UID_TAG]: uid }),
    },
    ...(claim.metadata.annotations?.[PRICE_OVERLAY_APPLIED] === "true" && { prioritized: true as const }),
    ...(nodeClass.spec.context !== undefined && !relaxed && { context: nodeClass.spec.context }),
  };
  const violation = requestViolation(request);
  return violation ? refuse("Refused", "LaunchFailed", violationText(violation)) : { ok: { request, templates } };
}

/**
 * What the EC2 console shows as the name of the machine, NODEPOOL/NODECLAIM, unless the EC2NodeClass sets its own.
 * Karpenter writes the node's name in a call of its own once the node has registered
 * (karpenter-provider-aws: pkg/controllers/nodeclaim/tagging/controller.go, Controller.tagInstance).
 */
export function nameTag({ metadata: { name, labels } }: Pick<NodeClaim, "metadata">): string {
  return `${labels?.[NODE_POOL] ?? ""}/${name}`.replace(/^\//, "");
}

/** Types with an image that they boot, with their offerings in zones that have a subnet. */
function launchableTypes(
  types: readonly InstanceType[],
  nodeClass: EC2NodeClass,
  subnets: ReadonlyMap<string, ResolvedSubnet>,
): readonly InstanceType[] {
  return types.flatMap((type) => {
    const offerings = type.offerings.filter(({ zone }) => subnets.has(zone));
    return offerings.length === 0 || amiFor(type, nodeClass) === undefined ? [] : [{ ...type, offerings }];
  });
}

/** EC2 takes at most 64 characters; a longer UID is replaced by its hash. */
export function clientToken(uid: string, attempt: number): string {
  const token = `${uid}-${attempt}`;
  return token.length <= 64 ? token : `${contentHash(uid)}-${attempt}`;
}

function refuse(kind: LaunchError["kind"], reason: string, message: string): RenderedLaunch {
  return { error: { kind, reason, message } };
}

function templateFor(
  { ami, maxPods, kubelet, efaInterfaces, reservation }: TemplateGroup,
  { claim, cluster, reservedCapacity }: LaunchInput,
  nodeClass: EC2NodeClass,
  capacityType: CapacityType,
  requirements: Requirements,
  tags: Readonly<Record<string, string>>,
): LaunchTemplate {
  const { spec } = nodeClass;
  const imageVersion = aliasOf(spec)?.version ?? /\bv(\d+\.\d+\.\d+)/.exec(ami.name ?? "")?.[1];
  const userData = renderUserData({
    family: amiFamilyOf(spec),
    cluster,
    labels: claim.metadata.labels ?? {},
    maxPods: typeof kubelet?.maxPods === "number" ? kubelet.maxPods : maxPods,
    capacityType,
    ...(claim.spec.taints && { taints: claim.spec.taints }),
    ...(claim.spec.startupTaints && { startupTaints: claim.spec.startupTaints }),
    ...(kubelet && { kubelet }),
    ...(spec.userData !== undefined && { userData: spec.userData }),
    ...(spec.instanceStorePolicy && { instanceStorePolicy: spec.instanceStorePolicy }),
    ...(imageVersion !== undefined && { imageVersion }),
  });
  const tenancy = requirements.get("karpenter.k8s.aws/instance-tenancy");
  const dedicated = tenancy !== undefined && !has(tenancy, "default");
  const partition = onlyPartition(requirements);
  const instance: InstanceSpec = {
    ...{ imageId: ami.id, userData, capacityType, efaInterfaces, dedicated },
    ipv6: isIpv6(cluster.clusterDns ?? cluster.serviceCidr),
    ...(partition !== undefined && { partition }),
    ...(reservation ? { reservation } : reservedCapacity && { reservation: "none" as const }),
  };
  return launchTemplate(nodeClass, instance, tags);
}

/** The placement group partition that a NodeClaim requires; undefined lets EC2 choose. */
function onlyPartition(requirements: Requirements): number | undefined {
  const wanted = requirements.get(PLACEMENT_GROUP_PARTITION);
  return wanted === undefined || wanted.complement || wanted.values.size !== 1 ? undefined : Number([...wanted.values][0]);
}
