/**
 * Whether a resource version can be compared. Resource versions of one kind are decimal numbers of any length that grow
 * with each change; the API guarantees it since Kubernetes 1.35 and did so in practice before (KEP-5504). Others are
 * not compared, and objects that have them are not remembered.
 */
export function isComparable(version: string | undefined): version is string {
  return version !== undefined && /^[1-9]\d*$/.test(version);
}

/** Whether `version` is the same as `other` or later; both must be comparable. */
export function isAtLeast(version: string, other: string): boolean {
  return version.length === other.length ? version >= other : version.length > other.length;
}
