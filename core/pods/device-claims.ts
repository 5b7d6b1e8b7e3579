import type { PodSpec } from "../model/pod.ts";

/**
 * Whether a pod requests devices by Dynamic Resource Allocation. The API server ensures that the containers' claims are
 * among the pod's claims.
 */
export function hasDeviceClaims({ resourceClaims }: PodSpec): boolean {
  return resourceClaims !== undefined && resourceClaims.length > 0;
}
