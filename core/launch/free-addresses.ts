import type { InstanceType } from "../model/instance-type.ts";
import type { NodeClaimRecord } from "../model/node-claim-record.ts";
import type { EC2NodeClassSpec, ResolvedSubnet } from "../model/node-class.ts";

/** Free addresses of subnets as EC2 told them. */
export interface CountedAddresses {
  /** ms. */
  readonly at: number;
  /** By subnet id. */
  readonly free: Readonly<Record<string, number>>;
}

/** Addresses of one prefix. */
const PREFIX = 16;
/** Counts this old say nothing any more: the catalog function has not run for a while. */
const STALE_MS = 10 * 60_000;

/** Whether any zone has a choice of subnets: elsewhere nothing hangs on their addresses. */
export function hasChoice(subnets: readonly Pick<ResolvedSubnet, "zone">[]): boolean {
  return new Set(subnets.map(({ zone }) => zone)).size < subnets.length;
}

/**
 * IPv4 addresses that a node will take of its subnet: one for each pod, in whole prefixes where the class hands out prefixes. Pods of an IPv6 cluster take
 * none; the node takes one.
 */
export function addressesOf(pods: number, { ipPrefixCount = 0 }: Pick<EC2NodeClassSpec, "ipPrefixCount">, ipv6: boolean): number {
  if (ipv6) return 1;
  return ipPrefixCount === 0 ? pods : 1 + PREFIX * Math.max(ipPrefixCount, Math.ceil(pods / PREFIX));
}

/**
 * Free addresses by subnet, less what machines take that EC2 had not counted yet: those launched since, and those that are being launched, which count in
 * each subnet that they may come to stand in (launch.md §7). Undefined when the counts are too old. `now` in ms; `records` are those of other claims.
 */
export function freeAddresses(
  counted: CountedAddresses | undefined,
  records: readonly NodeClaimRecord[],
  types: readonly InstanceType[],
  { spec, ipv6, now }: { readonly spec: Pick<EC2NodeClassSpec, "ipPrefixCount">; readonly ipv6: boolean; readonly now: number },
): Readonly<Record<string, number>> | undefined {
  if (counted === undefined || now - counted.at > STALE_MS) return undefined;
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
