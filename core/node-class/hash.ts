import { canonicalJson, contentHash } from "../lib/fnv.ts";
import type { EC2NodeClass, MetadataOptions } from "../model/node-class.ts";
import { amiFamilyOf } from "./family.ts";

/**
 * Version of this hash's rules. Not Karpenter's ("v5"): its hash is made by reflection and cannot be reproduced, and claims under
 * another version count as unknown, never as drifted (ec2nodeclass.md §9).
 */
export const NODE_CLASS_HASH_VERSION = "karpenter-serverless/v1";

export const NODE_CLASS_HASH_KEY = "karpenter.k8s.aws/ec2nodeclass-hash";
export const NODE_CLASS_HASH_VERSION_KEY = "karpenter.k8s.aws/ec2nodeclass-hash-version";

/** What the schema fills in when a manifest says nothing. */
export const DEFAULT_METADATA_OPTIONS: Required<MetadataOptions> = {
  httpEndpoint: "enabled",
  httpProtocolIPv6: "disabled",
  httpPutResponseHopLimit: 1,
  httpTokens: "required",
};

/** Spec fields whose result is looked at in the status instead (dynamic drift), or that no node is made from. */
const NOT_HASHED = new Set([
  "subnetSelectorTerms",
  "securityGroupSelectorTerms",
  "amiSelectorTerms",
  "amiFamily",
  "capacityReservationSelectorTerms",
  "ipPrefixCount",
]);

/**
 * Changes when nodes made from this NodeClass would be made differently. Lists count as sets, zero values as absent; the
 * cluster's CA bundle belongs to it, since userData carries it.
 */
export function nodeClassHash(nodeClass: Pick<EC2NodeClass, "spec">, caBundle = ""): string {
  const { spec } = nodeClass;
  const fields = Object.entries(spec).filter(([name]) => !NOT_HASHED.has(name));
  return contentHash(
    normalized({
      ...Object.fromEntries(fields),
      metadataOptions: { ...DEFAULT_METADATA_OPTIONS, ...spec.metadataOptions },
      amiFamily: amiFamilyOf(spec),
      caBundle,
    }),
  );
}

/** Without zero values, lists sorted; undefined when nothing is left. */
function normalized(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(normalized).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items.sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .map(([key, field]) => [key, normalized(field)] as const)
      .filter(([, field]) => field !== undefined);
    return fields.length === 0 ? undefined : Object.fromEntries(fields);
  }
  return value === null || value === "" || value === 0 || value === false ? undefined : value;
}
