import { instanceTypesByPool } from "#adapters/kubernetes/snapshot.ts";
import { readAddresses } from "#adapters/store/subnet-addresses.ts";
import { isIpv6 } from "#core/launch/cluster-dns.ts";
import { freeAddresses, hasChoice } from "#core/launch/free-addresses.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import { NODE_POOL } from "#core/model/labels.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { UnavailableOffering } from "#core/model/unavailable-offering.ts";
import { heldReservations } from "#core/offerings/reservations.ts";
import type { LifecycleDeps } from "../../shared/cluster-deps.ts";
import { instanceTypesFor } from "../../shared/instance-types.ts";
import { overlaidTypes } from "../../shared/overlaid-types.ts";

/** What a launch is rendered from, and its outcome read with. */
interface LaunchView {
  readonly nodeClass: EC2NodeClass | undefined;
  readonly instanceTypes: readonly InstanceType[];
  readonly unavailable: readonly UnavailableOffering[];
  /** Free addresses by subnet; only with `toBuy`, and only where a zone has a choice of subnets. */
  readonly freeIps: Readonly<Record<string, number>> | undefined;
}

/**
 * Reads a NodeClaim's class and what can be launched with it.
 * @param toBuy the record to launch for; with it, what other records have taken counts, and unavailable offerings are
 * left out
 * @param known the class, if this pass has read it: what is launched is described with the class that it is launched by
 */
export async function readLaunchView(
  claim: NodeClaim,
  deps: LifecycleDeps,
  { toBuy, known }: { readonly toBuy?: NodeClaimRecord; readonly known?: EC2NodeClass | undefined } = {},
): Promise<LaunchView> {
  const { cluster, store, settings } = deps;
  const [nodeClass, catalogue, unavailable] = await Promise.all([
    known ?? recentClass(claim.spec.nodeClassRef.name, deps),
    deps.catalogue(),
    toBuy ? store.unavailable(cluster.name, deps.now()) : [],
  ]);
  let listed: Promise<readonly NodeClaimRecord[]> | undefined;
  const others = async (): Promise<readonly NodeClaimRecord[]> => {
    listed ??= store.list(cluster.name);
    return (await listed).filter(({ name }) => name !== toBuy?.name);
  };
  const held = toBuy && nodeClass?.status?.capacityReservations?.length ? heldReservations(await others()) : undefined;
  const typesOf = (known: EC2NodeClass) => instanceTypesFor(catalogue, known, unavailable, settings, held);
  const instanceTypes = nodeClass ? await launchTypes(claim, nodeClass, typesOf, deps) : [];
  const freeIps = toBuy && nodeClass ? await freeAddressesFor(nodeClass, others, instanceTypes, deps) : undefined;
  return { nodeClass, instanceTypes, unavailable, freeIps };
}

/** The class; NodeClaims of one plan are launched together, so one that was read a moment ago serves all of them. */
async function recentClass(
  name: string,
  { kubernetes, memory, now }: Pick<LifecycleDeps, "kubernetes" | "memory" | "now">,
): Promise<EC2NodeClass | undefined> {
  const at = now();
  const recent = memory.recall("nodeClasses", at, { key: name });
  if (recent !== undefined) return recent;
  const nodeClass = await kubernetes.get("EC2NodeClass", name);
  if (nodeClass !== undefined) memory.keep("nodeClasses", nodeClass, at, name);
  return nodeClass;
}

/**
 * The instance types of a NodeClaim's class (`typesOf`) as NodeOverlays change them. All NodePools are read, because
 * conflicts between NodeOverlays depend on them; a NodeClaim without a NodePool has no NodeOverlays, as in Karpenter.
 */
export async function launchTypes(
  claim: NodeClaim,
  nodeClass: EC2NodeClass,
  typesOf: (nodeClass: EC2NodeClass) => readonly InstanceType[],
  { kubernetes, settings }: Pick<LifecycleDeps, "kubernetes" | "settings">,
): Promise<readonly InstanceType[]> {
  const own = typesOf(nodeClass);
  const pool = claim.metadata.labels?.[NODE_POOL];
  if (!settings.nodeOverlay || pool === undefined) return own;
  const overlays = await kubernetes.list("NodeOverlay");
  if (overlays.length === 0) return own;
  const [nodePools, nodeClasses] = await Promise.all([kubernetes.list("NodePool"), kubernetes.list("EC2NodeClass")]);
  const byPool = instanceTypesByPool(nodePools, nodeClasses, (_nodePool, other) => typesOf(other));
  // The NodePool may refer to another class by now than the NodeClaim does.
  return overlaidTypes(overlays, nodePools, new Map([...byPool, [pool, own]])).instanceTypes.get(pool) ?? own;
}

/**
 * Free addresses by subnet, less those that the launches of others take; undefined where no zone of the class has a
 * choice of subnets, or where none have been counted.
 */
async function freeAddressesFor(
  nodeClass: EC2NodeClass,
  others: () => Promise<readonly NodeClaimRecord[]>,
  types: readonly InstanceType[],
  { cluster, store, log, now }: Pick<LifecycleDeps, "cluster" | "store" | "log" | "now">,
): Promise<Readonly<Record<string, number>> | undefined> {
  if (!hasChoice(nodeClass.status?.subnets ?? [])) return undefined;
  const counted = await readAddresses({ store, log }, { cluster: cluster.name, nodeClass: nodeClass.metadata.name });
  if (counted === undefined) return undefined;
  const ipv6 = isIpv6(cluster.clusterDns ?? cluster.serviceCidr);
  return freeAddresses(counted, await others(), types, { spec: nodeClass.spec, ipv6, now: now() });
}
