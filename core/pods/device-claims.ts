import type { PodSpec } from "../model/pod.ts";

/** Whether a pod asks for devices by Dynamic Resource Allocation. What containers claim is always among the pod's claims: the API server sees to that. */
export function hasDeviceClaims({ resourceClaims }: PodSpec): boolean {
  return resourceClaims !== undefined && resourceClaims.length > 0;
}
