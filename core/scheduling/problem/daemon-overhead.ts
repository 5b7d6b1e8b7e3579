import { oncePer } from "../../lib/once-per.ts";
import { INITIALIZED, REGISTERED, WELL_KNOWN_LABELS } from "../../model/labels.ts";
import type { Pod, PodSpec } from "../../model/pod.ts";
import { admittedSpec, podRequests } from "../../model/pod-requests.ts";
import { addResources, type Resources } from "../../model/quantity.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import type { Taint, Toleration } from "../../model/taint.ts";
import { hasDeviceClaims } from "../../pods/device-claims.ts";
import { TOLERATE_SOFT, untolerated } from "../../pods/taints.ts";
import {
  compatible,
  intersectAll,
  labelsCompatible,
  type Requirements,
  requirementsFrom,
  requirementsFromLabels,
} from "../../requirements/requirements.ts";
import { type HostPort, hostPorts } from "../rules/host-ports.ts";
import { only, requiredTerms } from "../rules/preferences.ts";
import { addAll, type Bitset, emptyBitset, fullBitset, intersection, isEmpty, members, removeAll } from "../tables/bitset.ts";
import type { TypeTable } from "../tables/type-table.ts";

/** A DaemonSet, as the pod that it runs on each of its nodes. */
export interface Daemon {
  readonly uid: string;
  /** "namespace/name" of the DaemonSet. */
  readonly name: string;
  readonly requests: Resources;
  readonly ports: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** nodeSelector joined with each OR-ed required term; a node must meet one of them. */
  readonly alternatives: readonly Requirements[];
}

/**
 * The DaemonSets of a cluster. Requests, ports and tolerations are those of the newest existing pod, because an
 * admission webhook may have changed them. Required node affinity comes from the template, because each daemon pod is
 * pinned to its own node (karpenter: pkg/controllers/provisioning/provisioner.go, Provisioner.getDaemonSetPods).
 */
export const daemonsOf: (snapshot: Snapshot) => readonly Daemon[] = oncePer((snapshot) => {
  const newest = new Map<string, Pod>();
  for (const pod of snapshot.pods) {
    const owner = (pod.metadata.ownerReferences ?? []).find(({ controller, kind }) => controller === true && kind === "DaemonSet");
    if (owner === undefined) continue;
    const known = newest.get(owner.uid);
    if (known === undefined || isNewer(pod, known)) newest.set(owner.uid, pod);
  }
  return [...snapshot.daemonSets]
    .sort((a, b) => (`${a.metadata.namespace}/${a.metadata.name}` < `${b.metadata.namespace}/${b.metadata.name}` ? -1 : 1))
    .flatMap((daemonSet) => {
      const uid = daemonSet.metadata.uid ?? `${daemonSet.metadata.namespace}/${daemonSet.metadata.name}`;
      const { template } = daemonSet.spec;
      const example = newest.get(uid) ?? { spec: admittedSpec(template.spec) };
      const { spec } = example;
      // Dynamic Resource Allocation is not supported on new nodes, so a DaemonSet with device claims does not run
      // there.
      if (hasDeviceClaims(spec)) return [];
      return {
        uid,
        name: `${daemonSet.metadata.namespace ?? "default"}/${daemonSet.metadata.name}`,
        requests: podRequests(example),
        ports: hostPorts(spec),
        tolerations: spec.tolerations ?? [],
        alternatives: alternativesOf(spec.nodeSelector, template.spec),
      };
    });
});

function isNewer(a: Pod, b: Pod): boolean {
  const [left, right] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return left > right || (left === right && a.metadata.name > b.metadata.name);
}

function alternativesOf(nodeSelector: PodSpec["nodeSelector"], template: PodSpec): readonly Requirements[] {
  const selector = requirementsFromLabels(nodeSelector);
  const terms = requiredTerms(template);
  return terms.length === 0 ? [selector] : terms.map(({ matchExpressions }) => intersectAll(selector, requirementsFrom(matchExpressions)));
}

/** DaemonSets that run on a node with these labels and taints. PreferNoSchedule taints do not keep them away. */
export function expectedDaemons(
  daemons: readonly Daemon[],
  labels: Readonly<Record<string, string>>,
  taints: readonly Taint[],
): readonly Daemon[] {
  return daemons.filter(
    ({ tolerations, alternatives }) =>
      untolerated(taints, [...tolerations, TOLERATE_SOFT]) === undefined && alternatives.some((wanted) => labelsCompatible(labels, wanted)),
  );
}

/** Instance types of a pool that run the same DaemonSets. */
export interface DaemonGroup {
  readonly daemons: readonly Daemon[];
  /** Total requests of the DaemonSets. */
  readonly overhead: Resources;
  readonly ports: readonly HostPort[];
  readonly types: Bitset;
}

/** Labels that a new node will get once it is up; DaemonSets may select them. */
const ASSUMED_LABELS: Requirements = new Map([REGISTERED, INITIALIZED].map((key) => [key, only(key, "true")]));

/**
 * Groups the instance types of a pool by the DaemonSets that they run; `groupOf[type]` is an index into `groups`
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, buildDaemonOverheadGroups).
 */
export function daemonGroups(
  daemons: readonly Daemon[],
  pool: { readonly requirements: Requirements; readonly taints: readonly Taint[] },
  table: TypeTable,
): { readonly groups: readonly DaemonGroup[]; readonly groupOf: Int32Array } {
  const labels = intersectAll(pool.requirements, ASSUMED_LABELS);
  // Each DaemonSet divides the groups into the types that run it and the others.
  let parts: readonly { readonly daemons: readonly Daemon[]; readonly types: Bitset }[] = [
    { daemons: [], types: fullBitset(table.types.length) },
  ];
  for (const daemon of daemons) {
    if (untolerated(pool.taints, [...daemon.tolerations, TOLERATE_SOFT]) !== undefined) continue;
    const running = emptyBitset(table.types.length);
    for (const wanted of daemon.alternatives) {
      if (!compatible(labels, wanted, WELL_KNOWN_LABELS)) continue;
      const types = fullBitset(table.types.length);
      table.keepAgreeing(types, intersectAll(labels, wanted).values());
      addAll(running, types);
    }
    parts = parts.flatMap((part) => {
      const others = part.types.slice();
      removeAll(others, running);
      return [
        { daemons: [...part.daemons, daemon], types: intersection(part.types, running) },
        { daemons: part.daemons, types: others },
      ].filter(({ types }) => !isEmpty(types));
    });
  }
  const ordered = parts
    .map((part) => ({ ...part, own: members(part.types) }))
    .filter(({ own }) => own.length > 0)
    .sort((one, other) => (one.own[0] ?? 0) - (other.own[0] ?? 0));
  const groupOf = new Int32Array(table.types.length);
  ordered.forEach(({ own }, index) => {
    for (const t of own) groupOf[t] = index;
  });
  const groups = ordered.map(({ daemons: running, types }) => ({
    daemons: running,
    overhead: addResources(...running.map(({ requests }) => requests)),
    ports: running.flatMap(({ ports }) => ports),
    types,
  }));
  return { groups, groupOf };
}
