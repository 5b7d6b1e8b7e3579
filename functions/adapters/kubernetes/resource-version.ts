/**
 * Resource versions of one kind are numbers, as long as they may be, and grow with each change: the API promises it since Kubernetes 1.35
 * and has kept to it before (KEP-5504). Others are not compared, and what bears them is not remembered.
 */
export function isComparable(version: string | undefined): version is string {
  return version !== undefined && /^[1-9]\d*$/.test(version);
}

/** Whether `version` is the other or came after it; both must be comparable. */
export function isAtLeast(version: string, other: string): boolean {
  return version.length === other.length ? version >= other : version.length > other.length;
}
