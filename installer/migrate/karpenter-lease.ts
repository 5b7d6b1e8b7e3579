import { KARPENTER_LEASE, type KubernetesLease, runningKarpenter } from "#core/model/karpenter-lease.ts";
import type { ClusterApi, KubeObject } from "../account/ports.ts";

/** Who holds Karpenter's Lease during a hand-over. */
const HOLDER = "karpenter-serverless-hand-over";
const TYPE = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" } as const;

/** Where the functions look for the Lease (core/model/karpenter-lease.ts); a Karpenter elsewhere has one of its own. */
const NAMESPACES: readonly string[] = ["kube-system", "karpenter"];

type LeaseApi = Pick<ClusterApi, "find" | "apply" | "remove">;

/** Of a Karpenter that runs: "NAMESPACE/NAME"; undefined when none runs, also while this program holds the Lease. */
export async function runningLease(api: Pick<ClusterApi, "list">, now: number): Promise<string | undefined> {
  const leases = (await api.list(TYPE, { fieldSelector: `metadata.name=${KARPENTER_LEASE}` })) as readonly KubernetesLease[];
  const running = runningKarpenter(
    leases.filter(({ spec }) => spec?.holderIdentity !== HOLDER),
    now,
  );
  return running && `${running.metadata.namespace}/${running.metadata.name}`;
}

/**
 * Holds Karpenter's own Lease. While a holder renews it, no Karpenter of that namespace becomes leader, and the
 * functions decide nothing new (functions/shared/beside-karpenter.ts), so that neither acts. A holder that
 * was killed holds it for less than a minute.
 */
export interface HeldLease {
  /** Call it at least every ten seconds. */
  readonly renew: () => Promise<void>;
  /** Gives it to the first that asks. */
  readonly release: () => Promise<void>;
}

export function holdLease(api: LeaseApi, karpenterNamespace: string | undefined, now: () => number): HeldLease {
  const namespace = NAMESPACES.find((one) => one === karpenterNamespace) ?? "kube-system";
  const object: KubeObject = { ...TYPE, metadata: { name: KARPENTER_LEASE, namespace } };
  return {
    renew: async () => {
      const renewTime = new Date(now()).toISOString().replace(/Z$/, "000Z");
      await api.apply({ ...object, spec: { holderIdentity: HOLDER, leaseDurationSeconds: 15, renewTime } } as KubeObject);
    },
    release: async () => {
      const found = (await api.find(object)) as KubernetesLease | undefined;
      if (found?.spec?.holderIdentity === HOLDER) await api.remove(object);
    },
  };
}
