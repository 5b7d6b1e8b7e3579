import { nameOf, type RawJson } from "../../support/scheduling/judge-rules.ts";

/*
 * Which pods, nodes and planned NodeClaims a decision may exchange for one another. Names, UIDs and times are drawn by
 * the specs, and an answer that takes the twin of a pod or node is the same answer.
 */

/** The fields of a container that decisions read, without its drawn name. */
function containerText({ name: _, ...container }: RawJson): RawJson {
  return container;
}

/** Text that is equal for pods that scheduling and disruption cannot tell apart. */
function podText({ metadata, spec, status }: RawJson): string {
  const { nodeName: _, ...rest } = spec;
  const owners = (metadata.ownerReferences ?? []).map(({ kind }: RawJson) => kind);
  return JSON.stringify([
    metadata.namespace,
    metadata.labels,
    metadata.annotations,
    owners,
    { ...rest, containers: (spec.containers ?? []).map(containerText), initContainers: (spec.initContainers ?? []).map(containerText) },
    status?.phase,
    (status?.conditions ?? []).map(({ type, status: is }: RawJson) => `${type}=${is}`),
  ]);
}

/** The class of each pod of a scenario, by "namespace/name". */
export function podClasses(scenario: RawJson): ReadonlyMap<string, string> {
  return new Map(scenario.pods.map((pod: RawJson) => [nameOf(pod), podText(pod)]));
}

/** The class of each node of a scenario, by name: its labels, taints, room, pods, and the state of its NodeClaim. */
export function nodeClasses(scenario: RawJson): ReadonlyMap<string, string> {
  return new Map(
    scenario.nodes.map(({ metadata, spec, status }: RawJson) => {
      const claim = scenario.nodeClaims.find((one: RawJson) => one.status?.providerID === spec.providerID);
      const { "kubernetes.io/hostname": _, ...labels } = metadata.labels ?? {};
      const pods = scenario.pods.filter((pod: RawJson) => pod.spec.nodeName === metadata.name).map(podText);
      const conditions = (claim?.status?.conditions ?? []).map(({ type, status: is }: RawJson) => `${type}=${is}`);
      return [
        metadata.name,
        JSON.stringify([labels, metadata.annotations, spec.taints, status?.allocatable, pods.sort(), conditions.sort()]),
      ];
    }),
  );
}

/** The members' classes as one text; a member without a class stands for itself. */
export function classesOf(members: readonly string[], classes: ReadonlyMap<string, string>): string {
  return JSON.stringify(members.map((one) => classes.get(one) ?? one).sort());
}
