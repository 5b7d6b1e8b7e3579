import { canonicalJson, contentHash } from "../lib/fnv.ts";
import type { EC2NodeClass, MetadataOptions } from "../model/node-class.ts";
import { amiFamilyOf } from "./family.ts";
import { COMMON_KUBELET_FIELDS } from "./kubelet-fields.ts";

/**
 * Version of this hash's rules, different from Karpenter's "v5" and "v6", because Karpenter hashes Go structs by
 * reflection and that cannot be reproduced. A NodeClaim with a hash of another version counts as unknown, never as
 * drifted.
 */
export const NODE_CLASS_HASH_VERSION = "karpenter-serverless/v1";

export const NODE_CLASS_HASH_KEY = "karpenter.k8s.aws/ec2nodeclass-hash";
export const NODE_CLASS_HASH_VERSION_KEY = "karpenter.k8s.aws/ec2nodeclass-hash-version";

/** The defaults of the CRD's schema. */
export const DEFAULT_METADATA_OPTIONS: Required<MetadataOptions> = {
  httpEndpoint: "enabled",
  httpProtocolIPv6: "disabled",
  httpPutResponseHopLimit: 1,
  httpTokens: "required",
};

/**
 * Fields that do not belong to the hash: dynamic drift compares their resolved values in the status, or no node depends
 * on them.
 */
const NOT_HASHED = new Set([
  "subnetSelectorTerms",
  "securityGroupSelectorTerms",
  "amiSelectorTerms",
  "amiFamily",
  "capacityReservationSelectorTerms",
  "ipPrefixCount",
]);

/**
 * Changes when nodes of this NodeClass would be created differently. Lists count as sets, zero values as absent, except
 * in the kubelet's fields that only AL2023 takes: there `false` differs from the kubelet's default. The cluster's CA
 * bundle is included, because the user data contains it.
 */
export function nodeClassHash(nodeClass: Pick<EC2NodeClass, "spec">, caBundle = ""): string {
  const { spec } = nodeClass;
  const fields = Object.entries(spec).filter(([name]) => !NOT_HASHED.has(name));
  const other = Object.entries(spec.kubelet ?? {}).filter(([name]) => !COMMON_KUBELET_FIELDS.has(name));
  return contentHash(
    normalized({
      ...Object.fromEntries(fields),
      metadataOptions: { ...DEFAULT_METADATA_OPTIONS, ...spec.metadataOptions },
      amiFamily: amiFamilyOf(spec),
      caBundle,
      ...(other.length > 0 && { kubeletFields: canonicalJson(Object.fromEntries(other)) }),
    }),
  );
}

/** Without zero values, lists sorted; undefined when nothing is left. */
function normalized(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(normalized).filter((item) => item !== undefined);
    const sorted = items.map((item) => ({ item, text: canonicalJson(item) })).sort((a, b) => (a.text < b.text ? -1 : 1));
    return items.length === 0 ? undefined : sorted.map(({ item }) => item);
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .map(([key, field]) => [key, normalized(field)] as const)
      .filter(([, field]) => field !== undefined);
    return fields.length === 0 ? undefined : Object.fromEntries(fields);
  }
  return value === null || value === "" || value === 0 || value === false ? undefined : value;
}
