import { canonicalJson, contentHash } from "../lib/fnv.ts";
import { MIN_VALUES_RELAXED, ZONE } from "../model/labels.ts";
import { isClosed, type LaunchGroup } from "../model/launch-group.ts";
import type { NodeClaim } from "../model/node-claim.ts";
import type { LaunchGroupPlan, NodeClaimRecord } from "../model/node-claim-record.ts";
import { formatResources, maxResources, parseResources } from "../model/quantity.ts";
import { PRICE_OVERLAY_APPLIED } from "../node-overlay/annotations.ts";

/**
 * The most NodeClaims of one CreateFleet: 2,000 nodes are then 40 to 60 calls, fewer than EC2's burst, and a call that
 * fails delays no more than these. No benchmark has tuned it.
 */
export const MAX_GROUP = 50;

/**
 * How long a member waits for one that does not come: longer than it takes to make all NodeClaims of the plan, of which
 * some 100 a second are made. No benchmark has tuned it.
 */
const JOIN_MS = 8_000;
const JOIN_MS_PER_CLAIM = 10;

/** Zones that a NodeClaim is taken to be launched in when it names none. */
const USUAL_ZONES = 3;

/** Requested resources that a launch template depends on. */
const RENDERED_REQUESTS = ["vpc.amazonaws.com/efa"];

/**
 * Hash of all of a NodeClaim that its launch is rendered from, beside its name, its UID and how much it requests: two
 * of one hash have the same request, given that its instance types hold what either requests.
 */
export function launchHash({ metadata: { labels, annotations }, spec }: Pick<NodeClaim, "metadata" | "spec">): string {
  const requirements = spec.requirements.map((one) => canonicalJson({ ...one, values: one.values?.toSorted() })).sort();
  const asked = RENDERED_REQUESTS.filter((name) => Number(spec.resources?.requests?.[name] ?? 0) !== 0);
  return contentHash({
    ...{ labels, requirements, asked, nodeClassRef: spec.nodeClassRef, taints: spec.taints, startupTaints: spec.startupTaints },
    annotations: [MIN_VALUES_RELAXED, PRICE_OVERLAY_APPLIED].map((name) => annotations?.[name]),
  });
}

/**
 * The intents of one plan. Those that may become the same machines launch together, at most `MAX_GROUP` at a time.
 * NodeClaims that may be launched in several zones form a group for each zone, because of zones with one price EC2
 * takes the first in the request, and their nodes should be spread. Equal intents give equal groups.
 * @param least fewer are launched one by one, as soon as each is ready: EC2's burst of calls has room for them; absent:
 * all are
 */
export function withLaunchGroups(records: readonly NodeClaimRecord[], least: number | undefined): readonly NodeClaimRecord[] {
  if (least === undefined) return records;
  const plans = new Map<string, LaunchGroupPlan>();
  for (const alike of Map.groupBy(records, ({ manifest }) => launchHash(manifest)).values()) {
    const turns = zonesOf(alike[0]?.manifest);
    if (alike.length < least * turns) continue;
    for (let zoneTurn = 0; zoneTurn < turns; zoneTurn++) {
      const own = alike.filter((_, i) => i % turns === zoneTurn);
      const size = Math.ceil(own.length / Math.ceil(own.length / MAX_GROUP));
      for (let start = 0; start < own.length; start += size) {
        const group = own.slice(start, start + size);
        const plan = planOf(group, zoneTurn, JOIN_MS + records.length * JOIN_MS_PER_CLAIM);
        for (const { name } of group) plans.set(name, plan);
      }
    }
  }
  return records.map((record) => {
    const launchGroup = plans.get(record.name);
    return launchGroup ? { ...record, launchGroup } : record;
  });
}

function planOf(group: readonly NodeClaimRecord[], zoneTurn: number, joinMs: number): LaunchGroupPlan {
  const requests = maxResources(...group.map(({ manifest }) => parseResources(manifest.spec.resources?.requests)));
  return {
    id: `${baseOf(group[0]?.intentId ?? "")}${ATTEMPT}1`,
    members: group.map(({ name }) => name).sort(),
    requests: formatResources(requests),
    zoneTurn,
    joinMs,
  };
}

/** Separates the number of the attempt, so that each has its own client token. */
const ATTEMPT = ".";
/** EC2 takes client tokens of 64 characters. */
const MAX_BASE = 56;
const baseOf = (intentId: string): string => (intentId.length > MAX_BASE ? contentHash(intentId) : intentId);

/** In how many zones a NodeClaim may be launched, as far as it says. */
function zonesOf(manifest: NodeClaim | undefined): number {
  const zones = manifest?.spec.requirements.filter(({ key, operator }) => key === ZONE && operator === "In") ?? [];
  return Math.min(USUAL_ZONES, ...zones.map(({ values = [] }) => Math.max(values.length, 1)));
}

/** The group of the members that an answer gave no instance; undefined when only one is left. */
export function nextGroup(plan: LaunchGroupPlan, { answer, launch }: LaunchGroup): LaunchGroupPlan | undefined {
  const members = launch?.members.filter((name) => !Object.hasOwn(answer?.instances ?? {}, name)) ?? [];
  if (members.length < 2) return undefined;
  const at = plan.id.lastIndexOf(ATTEMPT);
  const id = `${plan.id.slice(0, at)}${ATTEMPT}${Number(plan.id.slice(at + 1)) + 1}`;
  const { joinedAt: _, ...same } = plan;
  return { ...same, id, members };
}

/** The members that share the launch of a NodeClaim of this hash, sorted. */
export function alikeMembers({ members }: LaunchGroup, alike: string): readonly string[] {
  const unlike = new Set(members.filter((member) => member.alike !== alike).map(({ name }) => name));
  return [...new Set(members.map(({ name }) => name))].filter((name) => !unlike.has(name)).sort();
}

/** Whether all that are expected have joined. */
export function isComplete(plan: LaunchGroupPlan, group: LaunchGroup): boolean {
  const joined = new Set(group.members.map(({ name }) => name));
  return isClosed(group) || plan.members.every((name) => joined.has(name));
}
