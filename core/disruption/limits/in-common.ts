import { INSTANCE_TYPE, ZONE } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { Pod } from "../../model/pod.ts";
import { NODE_CLASS_HASH_KEY } from "../../node-class/hash.ts";
import { type MovedPods, unwellOf } from "./pod-health.ts";

const FACTS: Readonly<Record<string, (claim: NodeClaim) => string | undefined>> = {
  AMI: ({ status }) => status?.imageID,
  "the EC2NodeClass hash": ({ metadata }) => metadata.annotations?.[NODE_CLASS_HASH_KEY],
  "the instance type": ({ metadata }) => metadata.labels?.[INSTANCE_TYPE],
  "the zone": ({ metadata }) => metadata.labels?.[ZONE],
};

/**
 * What the nodes of pods that are worse have in common, and no node of their well siblings has, as the end of a
 * sentence: ": all that are worse run with AMI ami-1". "" where nothing is.
 */
export function inCommon(moved: MovedPods, pods: readonly Pod[], claims: readonly NodeClaim[]): string {
  const byNode = new Map(claims.map((claim) => [claim.status?.nodeName, claim]));
  const { unwell, well } = unwellOf(moved, pods);
  const claimsOf = (some: readonly Pod[]): readonly NodeClaim[] => some.flatMap(({ spec }) => byNode.get(spec.nodeName ?? "") ?? []);
  const [bad, good] = [claimsOf(unwell), claimsOf(well)];
  const shared = Object.entries(FACTS).flatMap(([name, factOf]) => {
    const values = new Set(bad.map(factOf));
    const [value] = values;
    if (bad.length === 0 || values.size !== 1 || value === undefined) return [];
    return good.some((claim) => factOf(claim) === value) ? [] : [`${name} ${value}`];
  });
  return shared.length === 0 ? "" : `: all that are worse run with ${shared.join(", ")}`;
}
