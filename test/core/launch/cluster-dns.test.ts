import { expect, it } from "vitest";
import { clusterDnsOf, isIpv6 } from "#core/launch/cluster-dns.ts";

it.for([
  { cidr: "10.100.0.0/16", dns: "10.100.0.10", ipv6: false },
  { cidr: "172.20.0.0/16", dns: "172.20.0.10", ipv6: false },
  { cidr: "fd30:1c53:5f8a::/108", dns: "fd30:1c53:5f8a::a", ipv6: true },
  { cidr: "what", dns: undefined, ipv6: false },
  { cidr: undefined, dns: undefined, ipv6: false },
])("EKS puts the DNS of $cidr at $dns", ({ cidr, dns, ipv6 }) => {
  expect(clusterDnsOf(cidr)).toBe(dns);
  expect(isIpv6(cidr)).toBe(ipv6);
});
