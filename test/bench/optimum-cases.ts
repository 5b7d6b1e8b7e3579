import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import type { PodSpec } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import type { DaemonSet } from "#core/model/workloads.ts";
import { instanceTypesOf } from "#core/offerings/instance-types.ts";
import { daemonSet, nodePool, pendingPod, randomNumbers, snapshotOf } from "./workloads.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
/** Families whose types every case has in all sizes, so that each pod fits some type. */
const COMMON_FAMILIES = /^(m5|t3)\./;
const CPUS = ["50m", "100m", "250m", "500m", "750m", "1", "1500m", "2", "3", "4", "6"] as const;
const MEMORIES = ["64Mi", "256Mi", "512Mi", "1Gi", "2Gi", "3Gi", "4Gi", "8Gi", "12Gi", "24Gi"] as const;

const catalogue = bundledCatalogue("us-west-2", { withSyntheticSpot: true });
const zones = catalogue.zones.map(({ name }) => name);

/** Instance types of the categories c, m, r and t, with root volumes of this size. */
function typesWith(volumeSize: string) {
  return instanceTypesOf({
    catalogue,
    nodeClass: {
      spec: {
        amiSelectorTerms: [{ alias: "al2023@latest" }],
        subnetSelectorTerms: [],
        securityGroupSelectorTerms: [],
        blockDeviceMappings: [{ deviceName: "/dev/xvda", rootVolume: true, ebs: { volumeType: "gp3", volumeSize } }],
      },
      status: { subnets: catalogue.zones.map(({ name, zoneId }) => ({ id: name, zone: name, zoneID: zoneId })) },
    },
    unavailable: [],
    settings: { vmMemoryOverheadPercent: 0.075, reservedEnis: 0 },
  }).filter(({ name }) => /^[cmrt]\d/.test(name));
}

/**
 * A provisioning case small enough to be solved exactly: 3 to 40 pods of 1 to 5 shapes, some with a zone selector, a
 * hard spread over zones or anti-affinity on hosts, and DaemonSets, on up to about 200 types of the AWS catalogue. The
 * same for one seed in every run.
 */
export function optimumCase(seed: number): Snapshot {
  const random = randomNumbers(seed * 7919);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const shapes = 1 + below(5);
  const count = Math.max(shapes, 3 + below(38));
  const all = typesWith(pick(["8Gi", "20Gi", "100Gi"]));
  const share = (2 + below(18)) / 100;
  const instanceTypes = all.filter(({ name }) => COMMON_FAMILIES.test(name) || random() < share);
  const capacityTypes = pick([["on-demand"], ["on-demand", "spot"]]);
  const specs = Array.from({ length: shapes }, (_, shape) => ({
    app: `app-${shape}`,
    requests: { cpu: pick(CPUS), memory: pick(MEMORIES) },
    spec: specFor(`app-${shape}`, below(100), () => pick(zones)),
  }));
  return snapshotOf(
    {
      nodePools: [nodePool("default", [{ key: "karpenter.sh/capacity-type", operator: "In", values: capacityTypes }])],
      daemonSets: Array.from({ length: below(3) }, (_, i): DaemonSet => daemonSet(`daemon-${i}`)),
      instanceTypes,
      pods: () =>
        Array.from({ length: count }, (_, i) => {
          // Each shape has a pod, the others are drawn, so that some shapes have many.
          const { app, requests, spec } = specs[i < shapes ? i : Math.min(below(shapes), below(shapes))] ?? pick(specs);
          return pendingPod(`${app}-${i}`, { app }, requests, spec);
        }),
    },
    count,
  );
}

function specFor(app: string, roll: number, zone: () => string): PodSpec {
  const labelSelector = { matchLabels: { app } };
  if (roll < 15) return { nodeSelector: { [ZONE]: zone() } };
  if (roll < 30)
    return { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector }] };
  if (roll < 42)
    return {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: HOSTNAME }] } },
    };
  if (roll < 48) return { nodeSelector: { "kubernetes.io/arch": "amd64" } };
  return {};
}
