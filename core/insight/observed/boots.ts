import { conditionOf, fromRfc3339 } from "../../model/conditions.ts";
import type { Node } from "../../model/node.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { Trace } from "./trace.ts";

/** Fewer boots say too little about the cluster. */
const LEAST = 5;

/** How long each machine of a trace took from its launch until its node registered, ms. Empty when there are few. */
export function bootsOf({ entries }: Trace): readonly number[] {
  const claims = entries.flatMap(({ put }) => (put?.NodeClaim ?? []) as readonly NodeClaim[]);
  const nodes = entries.flatMap(({ put }) => (put?.Node ?? []) as readonly Node[]);
  const launched = new Map(claims.map((claim) => [claim.status?.providerID, launchOf(claim)]));
  const registered = new Map(nodes.map(({ spec, metadata }) => [spec.providerID, fromRfc3339(metadata.creationTimestamp)]));
  const boots = [...registered].map(([id, at]) => at - (launched.get(id) ?? Number.NaN)).filter((ms) => ms >= 0);
  return boots.length < LEAST ? [] : boots;
}

const launchOf = ({ status }: NodeClaim): number => fromRfc3339(conditionOf(status?.conditions, "Launched")?.lastTransitionTime);
