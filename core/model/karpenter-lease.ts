import { fromRfc3339 } from "./conditions.ts";
import type { KubernetesObject } from "./kubernetes.ts";

/** coordination.k8s.io/v1 Lease: which replica of a controller leads. */
export interface KubernetesLease extends KubernetesObject {
  readonly spec?: {
    /** Empty once the leader has given the Lease back. */
    readonly holderIdentity?: string;
    /** RFC 3339. */
    readonly renewTime?: string;
  };
}

/**
 * The name of the Lease that Karpenter's leader renews every few seconds, in the namespace that Karpenter is installed
 * in (karpenter: pkg/operator/options/options.go, Options.AddFlags).
 */
export const KARPENTER_LEASE = "karpenter-leader-election";

/**
 * A leader that was renewed within this time is taken to run. It is longer than Karpenter's restart takes, so that
 * nothing is decided between two of its leaders. No benchmark has tuned it.
 */
const MAX_RENEWAL_AGE_MS = 60_000;

/**
 * The namespaces that Karpenter's documentation installs it in. Tenants may write Leases in their own namespaces
 * (Kubernetes' ClusterRole `edit` lets them), and one of this name there must not stop the cluster.
 */
const NAMESPACES: ReadonlySet<string> = new Set(["kube-system", "karpenter"]);

/** The Lease of a Karpenter that runs; undefined when none runs. A time of renewal in the future is no renewal. */
export function runningKarpenter(leases: readonly KubernetesLease[], now: number): KubernetesLease | undefined {
  return leases.find(({ metadata, spec }) => {
    if (metadata.name !== KARPENTER_LEASE || !NAMESPACES.has(metadata.namespace ?? "") || !spec?.holderIdentity) return false;
    return Math.abs(now - fromRfc3339(spec.renewTime)) < MAX_RENEWAL_AGE_MS;
  });
}
