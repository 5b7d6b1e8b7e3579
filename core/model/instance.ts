import type { CapacityType } from "./instance-type.ts";

/** An EC2 instance as CreateFleet or DescribeInstances returns it. */
export interface Instance {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly imageId: string;
  readonly state: "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";
  /** Milliseconds since the epoch. */
  readonly launchedAt: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly subnetId?: string;
  readonly securityGroupIds?: readonly string[];
  readonly privateDnsName?: string;
  /** The capacity reservation that the instance was launched into and still uses. */
  readonly reservationId?: string;
  /** The instance's partition of a placement group, "1" and up. */
  readonly partition?: string;
}

/** The facts of an instance that records keep. */
export type KnownInstance = Pick<
  Instance,
  "id" | "instanceType" | "zone" | "capacityType" | "imageId" | "subnetId" | "securityGroupIds" | "reservationId" | "partition"
>;

/** The instance id in "aws:///ZONE/ID". */
export function instanceIdOf(providerId: string | undefined): string | undefined {
  return providerId?.slice(providerId.lastIndexOf("/") + 1) || undefined;
}

/** The provider id of the node of an instance, as EKS writes it. */
export const providerIdOf = ({ zone, id }: { readonly zone: string; readonly id: string }): string => `aws:///${zone}/${id}`;
