import { parseDuration } from "../lib/duration.ts";
import { hashedNumber } from "../lib/pseudo-random.ts";
import { fromRfc3339 } from "../model/conditions.ts";
import type { NodeClaim } from "../model/node-claim.ts";

/** Nodes that were made together expire within this share of their lifetime, before its end. */
const SPREAD = 0.1;
const STEPS = 10_000;

/**
 * When a NodeClaim expires, ms; undefined for "Never". Up to a tenth of `expireAfter` earlier than that says, and never
 * later: nodes that were made together do not expire together. The UID decides, so that the time stays the same.
 */
export function expiryOf({ metadata, spec }: NodeClaim): number | undefined {
  const lifetime = parseDuration(spec.expireAfter ?? "720h");
  if (lifetime === undefined) return undefined;
  const early = SPREAD * ((hashedNumber(0, metadata.uid ?? metadata.name) % STEPS) / STEPS);
  return fromRfc3339(metadata.creationTimestamp) + Math.floor(lifetime * (1 - early));
}
