/** Whether the addresses of a network (CIDR) are IPv6. */
export function isIpv6(cidr: string | undefined): boolean {
  return cidr?.includes(":") ?? false;
}

/**
 * The address of the cluster's DNS on EKS: the tenth of the service network, "10.100.0.10" or "fd12::a" (the rule of
 * the bootstrap script in Amazon's images). Undefined for a text that is not a network.
 */
export function clusterDnsOf(serviceCidr: string | undefined): string | undefined {
  const network = serviceCidr?.split("/")[0] ?? "";
  if (/^[0-9a-f:]*::$/i.test(network)) return `${network}a`;
  return /^\d+\.\d+\.\d+\.\d+$/.test(network) ? network.replace(/\d+$/, "10") : undefined;
}
