import type { EC2NodeClassSpec } from "../model/node-class.ts";
import type { Family } from "../node-class/family.ts";
import type { LaunchFacts } from "./launch-facts.ts";

/**
 * EBS volumes that pods can have on a new node: what EC2 attaches to the type, less the node's own volumes. On types
 * whose network interfaces take the place of volumes, also less the interfaces beyond the first that the NodeClass
 * lists (AWS, Amazon EC2 User Guide, "Amazon EBS volume limits"). Undefined where EC2 states no limit.
 */
export function volumeLimit(
  { volumes, volumesShared }: LaunchFacts,
  { blockDeviceMappings = [], networkInterfaces = [] }: EC2NodeClassSpec,
  { defaultDevices }: Family,
): number | undefined {
  if (volumes === undefined) return undefined;
  const own = blockDeviceMappings.filter(({ ebs }) => ebs !== undefined).length || defaultDevices.length;
  const interfaces = volumesShared ? Math.max(0, networkInterfaces.length - 1) : 0;
  return Math.max(0, volumes - Math.max(1, own) - interfaces);
}
