import { contentHash, utf8 } from "../hash/fnv.ts";
import type { CapacityType, InstanceType } from "../model/instance-type.ts";
import { MIN_VALUES_RELAXED, NODE_POOL } from "../model/labels.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { EC2NodeClass, ResolvedAmi } from "../model/node-class.ts";
import { parseResources } from "../model/quantity.ts";
import type { FleetOverride, FleetRequest, LaunchTemplate, NodeClaimRecord, UnavailableOffering } from "../model/record.ts";
import { amiFor } from "../node-class/ami.ts";
import { aliasOf, amiFamilyOf } from "../node-class/family.ts";
import { launchReadiness } from "../node-class/readiness.ts";
import { PRICE_OVERLAY_APPLIED } from "../node-overlay/annotations.ts";
import { fullSubnets } from "../offerings/unavailable.ts";
import { has } from "../requirements/requirement.ts";
import { type Requirements, requirementsFrom } from "../requirements/requirements.ts";
import { type Candidate, filterForLaunch } from "./filter.ts";
import { type InstanceSpec, launchTemplate } from "./launch-template.ts";
import { subnetByZone } from "./subnets.ts";
import { CLAIM_UID_TAG, NODE_CLAIM_TAG, ownershipTags } from "./tags.ts";
import { type ClusterFacts, renderUserData, USER_DATA_LIMIT } from "./user-data.ts";

/** What a launch is rendered from. */
export interface LaunchInput {
  readonly claim: NodeClaim;
  readonly record: Pick<NodeClaimRecord, "uid">;
  /** Undefined when it has gone. */
  readonly nodeClass: EC2NodeClass | undefined;
  /** As `instanceTypesOf` gives them for this NodeClass, marks of unavailable offerings and NodeOverlays included. */
  readonly instanceTypes: readonly InstanceType[];
  readonly cluster: ClusterFacts;
  /** How often this claim's launch was rendered before; part of the client token. */
  readonly attempt: number;
  /** Marks not expired: subnets without addresses are passed over. */
  readonly unavailable?: readonly UnavailableOffering[];
  /** Free addresses by subnet id, if known. */
  readonly freeIps?: Readonly<Record<string, number>>;
}

/** Why there is no launch. The first two end the claim; "Refused" keeps it for another try until it times out (launch.md §6). */
export interface LaunchError {
  readonly kind: "InsufficientCapacity" | "NodeClassNotReady" | "Refused";
  readonly reason: string;
  readonly message: string;
}

/** What to send, or why nothing can be sent. */
export type RenderedLaunch =
  | { readonly ok: { readonly request: FleetRequest; readonly templates: readonly LaunchTemplate[] } }
  | { readonly error: LaunchError };

/**
 * Renders a claim down to what EC2 is told: one CreateFleet for one instance and the templates that it names. Equal inputs give equal
 * requests; prices are in it, so store it before sending it, and repeat what was stored.
 */
export function renderLaunch(input: LaunchInput): RenderedLaunch {
  const { claim, nodeClass, cluster } = input;
  const readiness = launchReadiness(nodeClass);
  if (readiness !== undefined || nodeClass === undefined) {
    return refuse(readiness?.kind ?? "InsufficientCapacity", readiness?.reason ?? "NodeClassNotFound", readiness?.message ?? "");
  }
  const uid = input.record.uid ?? claim.metadata.uid;
  if (uid === undefined)
    return refuse("Refused", "LaunchFailed", `NodeClaim ${claim.metadata.name} has no UID yet: create the object first`);
  if (input.instanceTypes.length === 0) return refuse("Refused", "InstanceTypeResolutionFailed", "no instance types are known");

  const requirements = requirementsFrom(claim.spec.requirements);
  const relaxed = claim.metadata.annotations?.[MIN_VALUES_RELAXED] === "true";
  const requests = parseResources(claim.spec.resources?.requests);
  const filtered = filterForLaunch(input.instanceTypes, requirements, requests, { relaxMinValues: relaxed });
  if ("none" in filtered) return refuse("InsufficientCapacity", "InsufficientCapacity", filtered.none);

  const { candidates, capacityType } = filtered.ok;
  const tags = ownershipTags(cluster.name, nodeClass, claim.metadata.labels?.[NODE_POOL] ?? "");
  const subnets = subnetByZone(nodeClass.status?.subnets ?? [], input.freeIps, fullSubnets(input.unavailable ?? []));
  const launchTemplates: { name: string; overrides: readonly FleetOverride[] }[] = [];
  const templates: LaunchTemplate[] = [];
  try {
    for (const group of groupByTemplate(candidates, nodeClass, requests)) {
      const overrides = overridesOf(group, capacityType, subnets);
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
      launchTemplates.push({ name: template.name, overrides });
    }
  } catch (error) {
    if (error instanceof RangeError) return refuse("Refused", "LaunchFailed", error.message);
    throw error;
  }
  if (launchTemplates.length === 0) {
    return refuse(
      "Refused",
      "LaunchFailed",
      `no AMI and subnet of EC2NodeClass ${nodeClass.metadata.name} fit any of ${candidates.length} instance types`,
    );
  }
  const request: FleetRequest = {
    clientToken: clientToken(uid, input.attempt),
    capacityType,
    launchTemplates,
    tags: { ...tags, [NODE_CLAIM_TAG]: claim.metadata.name, [CLAIM_UID_TAG]: uid },
    ...(claim.metadata.annotations?.[PRICE_OVERLAY_APPLIED] === "true" && { prioritized: true as const }),
    ...(nodeClass.spec.context !== undefined && !relaxed && { context: nodeClass.spec.context }),
  };
  return { ok: { request, templates } };
}

/** EC2 takes at most 64 characters; a longer UID is replaced by its hash. */
export function clientToken(uid: string, attempt: number): string {
  const token = `${uid}-${attempt}`;
  return token.length <= 64 ? token : `${contentHash(uid)}-${attempt}`;
}

function refuse(kind: LaunchError["kind"], reason: string, message: string): RenderedLaunch {
  return { error: { kind, reason, message } };
}

interface Group {
  readonly ami: ResolvedAmi;
  readonly maxPods: number;
  readonly efaInterfaces: number;
  readonly candidates: readonly Candidate[];
}

/** Types that can share a template: same image, same pod limit, same number of EFA interfaces if the claim asks for any (launch.md §3). */
function groupByTemplate(
  candidates: readonly Candidate[],
  nodeClass: EC2NodeClass,
  requests: Readonly<Record<string, number>>,
): readonly Group[] {
  const wantsEfa = (requests["vpc.amazonaws.com/efa"] ?? 0) > 0;
  const groups = new Map<string, { ami: ResolvedAmi; maxPods: number; efaInterfaces: number; candidates: Candidate[] }>();
  for (const candidate of candidates) {
    const ami = amiFor(candidate.type, nodeClass);
    if (ami === undefined) continue;
    const maxPods = Number(candidate.type.capacity["pods"] ?? 0);
    const efaInterfaces = wantsEfa ? Number(candidate.type.capacity["vpc.amazonaws.com/efa"] ?? 0) : 0;
    const key = `${ami.id} ${maxPods} ${efaInterfaces}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ami, maxPods, efaInterfaces, candidates: [candidate] });
    else group.candidates.push(candidate);
  }
  return [...groups.values()];
}

function overridesOf(
  { ami, candidates }: Group,
  capacityType: CapacityType,
  subnets: ReturnType<typeof subnetByZone>,
): readonly FleetOverride[] {
  const overrides: FleetOverride[] = [];
  for (const { type, offerings } of candidates) {
    for (const { zone, price, capacityType: offered } of offerings) {
      const subnet = subnets.get(zone);
      if (offered !== capacityType || subnet === undefined) continue;
      overrides.push({ instanceType: type.name, subnetId: subnet.id, zone, imageId: ami.id, price });
    }
  }
  return overrides;
}

function templateFor(
  { ami, maxPods, efaInterfaces }: Group,
  { claim, cluster }: LaunchInput,
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
    maxPods: spec.kubelet?.maxPods ?? maxPods,
    capacityType,
    ...(claim.spec.taints && { taints: claim.spec.taints }),
    ...(claim.spec.startupTaints && { startupTaints: claim.spec.startupTaints }),
    ...(spec.kubelet && { kubelet: spec.kubelet }),
    ...(spec.userData !== undefined && { userData: spec.userData }),
    ...(spec.instanceStorePolicy && { instanceStorePolicy: spec.instanceStorePolicy }),
    ...(imageVersion !== undefined && { imageVersion }),
  });
  const tenancy = requirements.get("karpenter.k8s.aws/instance-tenancy");
  const dedicated = tenancy !== undefined && !has(tenancy, "default");
  const instance: InstanceSpec = { imageId: ami.id, userData, capacityType, efaInterfaces, dedicated };
  return launchTemplate(nodeClass, instance, tags);
}
