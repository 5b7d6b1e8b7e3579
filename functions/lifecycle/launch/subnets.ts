import { isIpv6 } from "../../../core/launch/cluster-dns.ts";
import { freeAddresses, hasChoice } from "../../../core/launch/free-addresses.ts";
import type { InstanceType } from "../../../core/model/instance-type.ts";
import type { NodeClaimRecord } from "../../../core/model/node-claim-record.ts";
import type { EC2NodeClass } from "../../../core/model/node-class.ts";
import { countedAddresses } from "../../adapters/subnet-addresses.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";

/** Free addresses by subnet, the launches of others counted; undefined where no zone of the class has a choice of subnets, or none were counted. */
export async function freeAddressesFor(
  nodeClass: EC2NodeClass,
  others: () => Promise<readonly NodeClaimRecord[]>,
  types: readonly InstanceType[],
  { cluster, store, now }: Pick<LifecycleDeps, "cluster" | "store" | "now">,
): Promise<Readonly<Record<string, number>> | undefined> {
  if (!hasChoice(nodeClass.status?.subnets ?? [])) return undefined;
  const counted = await countedAddresses(store, { cluster: cluster.name, nodeClass: nodeClass.metadata.name });
  if (counted === undefined) return undefined;
  const ipv6 = isIpv6(cluster.clusterDns ?? cluster.serviceCidr);
  return freeAddresses(counted, await others(), types, { spec: nodeClass.spec, ipv6, now: now() });
}
