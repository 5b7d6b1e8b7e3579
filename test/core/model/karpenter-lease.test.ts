import { expect, it } from "vitest";
import { runningKarpenter } from "#core/model/karpenter-lease.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const lease = (spec: object, name = "karpenter-leader-election", namespace = "kube-system") => ({ metadata: { name, namespace }, spec });
const renewTime = "2026-01-01T11:59:58.123456Z";

it.for([
  { name: "one that is being renewed", leases: [lease({ holderIdentity: "karpenter-1", renewTime })], runs: true },
  { name: "one of several that is being renewed", leases: [lease({}), lease({ holderIdentity: "k", renewTime })], runs: true },
  { name: "one that was renewed a minute ago", leases: [lease({ holderIdentity: "k", renewTime: "2026-01-01T11:59:00Z" })], runs: false },
  { name: "one that its leader gave back", leases: [lease({ holderIdentity: "", renewTime })], runs: false },
  { name: "one that was never renewed", leases: [lease({ holderIdentity: "k" })], runs: false },
  { name: "that of another controller", leases: [lease({ holderIdentity: "k", renewTime }, "cert-manager")], runs: false },
  { name: "one in the namespace karpenter", leases: [lease({ holderIdentity: "k", renewTime }, undefined, "karpenter")], runs: true },
  { name: "one in a tenant's namespace", leases: [lease({ holderIdentity: "k", renewTime }, undefined, "team-a")], runs: false },
  { name: "one renewed in the far future", leases: [lease({ holderIdentity: "k", renewTime: "9999-12-31T23:59:59Z" })], runs: false },
  { name: "none", leases: [], runs: false },
])("Karpenter runs by its Lease, $name: $runs", ({ leases, runs }) => {
  expect(runningKarpenter(leases, NOW) !== undefined).toBe(runs);
});
