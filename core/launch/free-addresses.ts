import type { InstanceType } from "../model/instance-type.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClassSpec, ResolvedSubnet } from "../model/node-class.ts";

/** Free addresses of subnets, as EC2 counted them. */
export interface CountedAddresses {
  /** ms. */
  readonly at: number;
  /** By subnet id. */
  readonly free: Readonly<Record<string, number>>;
}

/** IPv4 addresses of one prefix (/28). */
const ADDRESSES_PER_PREFIX = 16;
/** Older counts are not used: the catalog function has not run for a while. No benchmark has tuned it. */
const MAX_COUNT_AGE_MS = 10 * 60_000;

/** Whether any zone has more than one subnet: only then do free addresses decide. */
export function hasChoice(subnets: readonly Pick<ResolvedSubnet, "zone">[]): boolean {
  return new Set(subnets.map(({ zone }) => zone)).size < subnets.length;
}

/**
 * IPv4 addresses that a node takes from its subnet: one for each pod, in whole prefixes where the NodeClass assigns
 * prefixes. Pods of an IPv6 cluster take none; the node takes one.
 */
export function addressesOf(pods: number, { ipPrefixCount = 0 }: Pick<EC2NodeClassSpec, "ipPrefixCount">, ipv6: boolean): number {
  if (ipv6) return 1;
  return ipPrefixCount === 0 ? pods : 1 + ADDRESSES_PER_PREFIX * Math.max(ipPrefixCount, Math.ceil(pods / ADDRESSES_PER_PREFIX));
}

/**
 * Free addresses by subnet, less the addresses of instances that EC2 had not counted yet: instances launched since, and
 * launches in progress, which count in each subnet that they may use
 * (karpenter-provider-aws: pkg/providers/subnet/subnet.go, DefaultProvider.ZonalSubnetsForLaunch). Undefined when the
 * counts are too old. `now` in ms; `records` are those of other NodeClaims.
 */
export function freeAddresses(
  counted: CountedAddresses | undefined,
  records: readonly NodeClaimRecord[],
  types: readonly InstanceType[],
  { spec, ipv6, now }: { readonly spec: Pick<EC2NodeClassSpec, "ipPrefixCount">; readonly ipv6: boolean; readonly now: number },
): Readonly<Record<string, number>> | undefined {
  if (counted === undefined || now - counted.at > MAX_COUNT_AGE_MS) return undefined;
  const free: Record<string, number> = { ...counted.free };
  const pods = new Map(types.map(({ name, capacity }) => [name, Number(capacity["pods"] ?? 0)]));
  const take = (subnetId: string | undefined, names: readonly string[]): void => {
    if (subnetId === undefined || free[subnetId] === undefined) return;
    const least = Math.min(...names.map((name) => pods.get(name) ?? 0));
    free[subnetId] -= addressesOf(Number.isFinite(least) ? least : 0, spec, ipv6);
  };
  for (const { instance, launch, launchedAt = 0 } of records) {
    if (instance !== undefined && launchedAt >= counted.at) take(instance.subnetId, [instance.instanceType]);
    if (instance !== undefined || launch === undefined) continue;
    const overrides = launch.launchTemplates.flatMap((template) => template.overrides);
    for (const [subnetId, own] of Map.groupBy(overrides, (override) => override.subnetId)) {
      take(
        subnetId,
        own.map(({ instanceType }) => instanceType),
      );
    }
  }
  return free;
}
