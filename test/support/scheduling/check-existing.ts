import { checkVolumeLimit, volumesReach } from "./check-volumes.ts";
import {
  type Amounts,
  amounts,
  daemonsOf,
  exceeds,
  hardTaint,
  type JudgedMachine,
  likesNode,
  nameOf,
  plus,
  portsClash,
  portsOf,
  type RawJson,
  type Report,
  requestsOf,
} from "./judge-rules.ts";

/** Reports what is wrong with the pods that a plan adds to an existing machine. */
export function checkExisting(scenario: RawJson, machine: JudgedMachine, added: RawJson[], report: Report): void {
  const node = scenario.nodes.find((n: RawJson) => n.metadata.name === machine.name);
  const claim = scenario.nodeClaims.find((c: RawJson) =>
    node ? c.status?.providerID === node.spec.providerID : c.metadata.name === machine.name,
  );
  const room = { ...amounts(claim?.status?.allocatable), ...nonZero(amounts(node?.status?.allocatable)) };
  const used = [...machine.pods, ...added].reduce((sum: Amounts, pod) => plus(sum, requestsOf(pod)), {});
  const over = exceeds(used, room);
  if (over !== undefined) report(`node ${machine.name} has too little ${over}`, ...added.map(nameOf));
  const present = [...machine.pods, ...daemonsToCome(scenario, machine)];
  for (const pod of added) {
    const taint = hardTaint(machine.taints, pod.spec.tolerations);
    if (taint) report(`taint ${taint.key} of node ${machine.name} is not tolerated`, nameOf(pod));
    if (!likesNode(pod.spec, machine.labels)) report(`node ${machine.name} does not match the pod's selector or affinity`, nameOf(pod));
    if (present.some((other) => portsClash(portsOf(pod.spec), portsOf(other.spec))))
      report(`host port taken on ${machine.name}`, nameOf(pod));
    if (!volumesReach(scenario, pod, machine.labels)) report(`a volume cannot be used on ${machine.name}`, nameOf(pod));
    present.push(pod);
  }
  checkVolumeLimit(scenario, machine.name, [...machine.pods, ...added], added, report);
}

function nonZero(list: Amounts): Amounts {
  return Object.fromEntries(Object.entries(list).filter(([, n]) => n !== 0));
}

/** Pods of DaemonSets that the machine should run and does not run yet: they are bound before all other pods. */
function daemonsToCome(scenario: RawJson, machine: JudgedMachine): RawJson[] {
  const owners = new Set(machine.pods.flatMap((pod) => (pod.metadata.ownerReferences ?? []).map((owner: RawJson) => owner.uid)));
  return daemonsOf(scenario).flatMap(({ uid, pod, placement }) =>
    owners.has(uid) || hardTaint(machine.taints, pod.spec.tolerations) || !likesNode(placement, machine.labels) ? [] : [pod],
  );
}
