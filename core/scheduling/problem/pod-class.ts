import { oncePer } from "../../lib/once-per.ts";
import { ownValue } from "../../lib/own-value.ts";
import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { countedSpec, podRequests } from "../../model/pod-requests.ts";
import type { Resources } from "../../model/quantity.ts";
import { keysOf } from "../../pods/label-selector.ts";
import { podUid } from "../../pods/predicates.ts";
import { canonical, has, type Requirement } from "../../requirements/requirement.ts";
import { intersectAll, type Requirements } from "../../requirements/requirements.ts";
import { type HostPort, hostPorts } from "../rules/host-ports.ts";
import { type PreferencePolicy, type RelaxationStep, relaxationSteps } from "../rules/preferences.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { PodVolumes, Volumes } from "../rules/volumes.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import { EBS_VOLUMES } from "../tables/resource-columns.ts";
import type { TopologyBuilder } from "./topology.ts";

/**
 * Pods that scheduling cannot distinguish: same requests, constraints, ports, volumes, and labels as far as selectors
 * read them. Attempts place classes, not pods. 300 replicas of one Deployment are one class:
 *
 *     { index: 0, pods: [web-0, web-1, …], example: web-0, requests: { cpu: 1000, … }, … }
 */
export interface PodClass {
  readonly index: number;
  /** In the order of the queue. */
  readonly pods: readonly Pod[];
  /** The first pod, which represents all. */
  readonly example: Pod;
  /** Requests of one pod, in milli-units, and its own EBS volumes as EBS_VOLUMES. */
  readonly requests: Resources;
  /** Equal texts for classes that selectors cannot distinguish. */
  readonly labels: string;
  /** Equal texts for classes with the same selectors, affinity, tolerations and spreads. */
  readonly placement: string;
  readonly ports: readonly HostPort[];
  /** Where the volumes may be used; the same for all pods of the class. */
  readonly volumeAlternatives: PodVolumes["alternatives"];
  /** By CSI driver, the volumes of one of the pods; undefined when the class has none. */
  readonly attaches: ((pod: Pod) => PodVolumes["claimsByDriver"]) | undefined;
}

/**
 * A class at one step of relaxation, with everything that does not change while pods are placed
 * (karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, PodData). `problem.relaxations[class]` lists the
 * steps:
 *
 *     problem.relaxations[podClass.index]?.find((podData) => place(podData, pod)); // strictest first
 */
export interface PodData extends RelaxationStep {
  /** Unique in the problem. */
  readonly id: number;
  /** Equal for PodData that differ only in topology: a claim's instance types fit all of them or none. */
  readonly fitKey: number;
  /** Equal for PodData that a claim refuses for the same lasting reasons. */
  readonly quoteKey: number;
  readonly class: PodClass;
  /** Requests of one pod in the order of the axis, in milli-units. */
  readonly vector: Float64Array;
  /** Requirements on a new claim: all but that on the hostname, which a claim does not have yet. */
  readonly set: RequirementSet;
  /** False when the pod, or each place of its volumes, requires an existing host by name. */
  readonly acceptsNewHost: boolean;
  /** Requirements of the volumes on a new node, of which one must hold too; empty when there are none. */
  readonly volumeSets: readonly RequirementSet[];
  /** Topology groups that decide where the pod may go. */
  readonly deciding: readonly TopologyGroup[];
  /** The deciding groups whose key is the hostname. */
  readonly hosts: readonly TopologyGroup[];
  /** The deciding groups of other keys, then `watching`: a claim may have to be narrowed to some of a key's domains. */
  readonly areas: readonly TopologyGroup[];
  /**
   * Hard spreads of other pods that count this pod, and their required affinity (ProblemOptions.decidesAffinity). A
   * claim is narrowed to one domain for them, because otherwise kube-scheduler would count the pod in a domain that the
   * plan does not know.
   */
  readonly watching: ReadonlySet<TopologyGroup>;
  /** Deciding groups that select the pod itself. */
  readonly self: ReadonlySet<TopologyGroup>;
  /** Groups of required rules; other deciding groups are preferences. */
  readonly hard: ReadonlySet<TopologyGroup>;
  /** Groups whose counts change when the pod is placed. */
  readonly counting: readonly TopologyGroup[];
  /** Whether the outcome depends on where other pods are, so that a refusal may not last. */
  readonly hasTopology: boolean;
}

/** What decides about the relaxation steps of pods. */
export interface ClassOptions {
  readonly policy: PreferencePolicy;
  /** Whether some pool has a PreferNoSchedule taint. */
  readonly softTaints: boolean;
}

/**
 * Sorts pods as the queue does (cpu and memory descending, oldest, UID; virtual pods last) and groups equal ones into
 * classes, in that order (karpenter: pkg/controllers/provisioning/scheduling/queue.go, byCPUAndMemoryDescending).
 * `readByOthers`: pods whose selectors may read the pods' labels. `moved`: running pods that disruption moves; they
 * form classes of their own.
 */
export function classesOf(
  pods: readonly Pod[],
  volumes: Volumes,
  readByOthers: Iterable<Pod>,
  moved: ReadonlySet<Pod>,
  virtual: ReadonlySet<Pod> = new Set(),
): readonly PodClass[] {
  const labelKeys = labelKeysRead(pods, readByOthers);
  const requestMemo = new Map<string, Resources>();
  const ebsVolumes = volumes.ownEbsVolumes(pods);
  const queued = pods.map((pod) => {
    const own = ebsVolumes.get(pod) ?? 0;
    const text = `${requestsText(countedSpec(pod))}${own === 0 ? "" : `/${own} volumes`}`;
    const requests = requestMemo.get(text) ?? withVolumes(podRequests(pod), own);
    requestMemo.set(text, requests);
    const { cpu = 0, memory = 0 } = requests;
    return {
      pod,
      requests,
      text,
      cpu,
      memory,
      last: virtual.has(pod) ? 1 : 0,
      created: pod.metadata.creationTimestamp ?? "",
      uid: podUid(pod),
    };
  });
  queued.sort((a, b) => a.last - b.last || b.cpu - a.cpu || b.memory - a.memory || compare(a.created, b.created) || compare(a.uid, b.uid));
  const ruleTexts = new Map<string, number>();
  const byText = new Map<string, { pods: Pod[]; requests: Resources; labels: string; placement: string }>();
  for (const { pod, requests, text, last } of queued) {
    const labels = labelsText(pod, labelKeys);
    const placement = placementOf(pod, labels, ruleTexts);
    const key = `${moved.has(pod) ? "moved" : ""}${last === 1 ? "virtual" : ""}${text}|${labels}|${placement}|${ownText(pod.spec, volumes, pod)}`;
    const known = byText.get(key);
    if (known === undefined) byText.set(key, { pods: [pod], requests, labels, placement });
    else known.pods.push(pod);
  }
  return [...byText.values()].flatMap(({ pods: alike, requests, labels, placement }, index) => {
    const [example] = alike;
    if (example === undefined) return [];
    return [
      {
        index,
        pods: alike,
        example,
        requests,
        labels,
        placement,
        ports: hostPorts(example.spec),
        volumeAlternatives: volumes.of(example).alternatives,
        attaches: hasVolumes(example.spec) ? (pod: Pod) => volumes.of(pod).claimsByDriver : undefined,
      },
    ];
  });
}

function withVolumes(requests: Resources, volumes: number): Resources {
  return volumes === 0 ? requests : { ...requests, [EBS_VOLUMES]: volumes * 1000 };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Container = NonNullable<Pod["spec"]["containers"]>[number];

/**
 * A text of everything that decides about requests. Built by hand, because this runs for every pod and JSON is several
 * times slower.
 */
function requestsText({ containers, initContainers, overhead, resources }: Pod["spec"]): string {
  let text = containersText(containers);
  if (initContainers !== undefined && initContainers.length > 0) text += `/${containersText(initContainers)}`;
  if (overhead !== undefined || resources !== undefined) text += `/${JSON.stringify([overhead, resources])}`;
  return text;
}

function containersText(containers: readonly Container[] | undefined): string {
  let text = "";
  for (const { resources, restartPolicy } of containers ?? []) {
    const requests = resources?.requests ?? {};
    for (const name in requests) text += `${name}=${requests[name]},`;
    text += restartPolicy === undefined ? ";" : `${restartPolicy};`;
  }
  return text;
}

/** The namespace, and the labels that selectors read; as long as the pod's labels, however many keys are read. */
function labelsText({ metadata }: Pod, keysRead: ReadonlySet<string>): string {
  let text = metadata.namespace ?? "default";
  for (const key of Object.keys(metadata.labels ?? {}).sort()) if (keysRead.has(key)) text += `,${key}=${ownValue(metadata.labels, key)}`;
  return text;
}

/** The rules about places as a text, and whether they read the pod's own labels; undefined for a pod without rules. */
interface PlaceRules {
  readonly text: string;
  readonly readLabels: boolean;
}

/** Once for each spec: all virtual pods of a CapacityBuffer share one, and a pass looks at the same pods many times. */
const placeRules = oncePer(({ nodeSelector, affinity, tolerations, topologySpreadConstraints }: Pod["spec"]): PlaceRules | undefined => {
  if (
    nodeSelector === undefined &&
    affinity?.nodeAffinity === undefined &&
    affinity?.podAffinity === undefined &&
    affinity?.podAntiAffinity === undefined &&
    tolerations === undefined &&
    topologySpreadConstraints === undefined
  ) {
    return undefined;
  }
  const text = JSON.stringify([nodeSelector, affinity, tolerations, topologySpreadConstraints]);
  // matchLabelKeys and mismatchLabelKeys make selectors that depend on the pod's own labels.
  return { text, readLabels: text.includes("LabelKeys") };
});

/**
 * Names where a pod may go. Texts count by their number in `known`, because they may be long and most pods share few.
 */
function placementOf({ metadata, spec }: Pod, labels: string, known: Map<string, number>): string {
  const rules = placeRules(spec);
  if (rules === undefined) return "";
  const number = known.get(rules.text) ?? known.size;
  known.set(rules.text, number);
  return `${rules.readLabels ? labels : (metadata.namespace ?? "default")} ${number}`;
}

/** A text of the rare things that distinguish pods: host ports, device claims, volumes. */
function ownText(spec: Pod["spec"], volumes: Volumes, pod: Pod): string {
  const ports = hostPorts(spec);
  const claims = (spec.resourceClaims ?? []).length > 0;
  const hasOwnVolumes = hasVolumes(spec);
  if (ports.length === 0 && !claims && !hasOwnVolumes) return "";
  return JSON.stringify([ports, spec.resourceClaims, hasOwnVolumes ? volumeText(volumes.of(pod)) : ""]);
}

function hasVolumes(spec: Pod["spec"]): boolean {
  return (spec.volumes ?? []).some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral);
}

/** A text of where the volumes can be used and how many there are; which ones they are does not matter. */
function volumeText({ alternatives, claimsByDriver }: PodVolumes): string {
  const places = alternatives.map((set) => [...set.values()].map(canonical).sort());
  return JSON.stringify([places, [...claimsByDriver].map(([driver, claims]) => [driver, claims.length]).sort()]);
}

/** Label keys that some selector reads; other labels do not distinguish pods. */
function labelKeysRead(pods: readonly Pod[], others: Iterable<Pod>): ReadonlySet<string> {
  const keys = new Set<string>();
  const seen = new Set<unknown>();
  const read = ({ spec }: Pod): void => {
    if (spec.affinity === undefined && spec.topologySpreadConstraints === undefined) return;
    const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
    const terms = [podAffinity, podAntiAffinity].flatMap((side) => [
      ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
    ]);
    for (const { labelSelector, matchLabelKeys, mismatchLabelKeys } of terms) {
      if (seen.has(labelSelector)) continue;
      for (const key of [...keysOf(labelSelector), ...(matchLabelKeys ?? []), ...(mismatchLabelKeys ?? [])]) keys.add(key);
    }
    for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
      for (const key of [...keysOf(labelSelector), ...(matchLabelKeys ?? [])]) keys.add(key);
    }
  };
  for (const pod of pods) read(pod);
  for (const pod of others) read(pod);
  return keys;
}

/** A relaxation step with its requirement set and topology groups; the same for classes of one `placement`. */
export interface PlacementStep extends RelaxationStep {
  readonly set: RequirementSet;
  readonly acceptsNewHost: boolean;
  /** Groups of the rules that the step keeps. */
  readonly owned: readonly TopologyGroup[];
  /** Groups of the required rules. */
  readonly required: readonly TopologyGroup[];
}

/** The relaxation steps of a class, strictest first. */
export function placementSteps(
  { example }: PodClass,
  options: ClassOptions,
  sets: RequirementSets,
  topology: TopologyBuilder,
): readonly PlacementStep[] {
  const { podAffinity, podAntiAffinity } = example.spec.affinity ?? {};
  const affinityTerms = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isRequired = new Set(affinityTerms);
  const affinityGroups = topology.requiredAffinity(example, affinityTerms);
  const required = [
    ...affinityGroups,
    ...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => topology.affinity(example, term, "anti")),
    ...(example.spec.topologySpreadConstraints ?? []).flatMap((constraint) =>
      constraint.whenUnsatisfiable === "DoNotSchedule" ? [topology.spread(example, constraint, example.spec.tolerations ?? [])] : [],
    ),
  ];
  return relaxationSteps(example.spec, options.policy, options.softTaints).map((step) => ({
    ...step,
    set: sets.intern(withoutHost(step.requirements)),
    acceptsNewHost: acceptsNewHost(step.requirements.get(HOSTNAME)),
    required,
    owned: [
      ...step.spreads.map((constraint) => topology.spread(example, constraint, step.tolerations)),
      ...affinityGroups,
      ...step.affinity.filter((term) => !isRequired.has(term)).map((term) => topology.affinity(example, term, "affinity")),
      ...step.antiAffinity.map((term) => topology.affinity(example, term, "anti")),
    ],
  }));
}

/**
 * Where the volumes of a class can be used, as requirements on new nodes. Undefined when they are tied to hosts by name
 * (a CSI driver of local disks does so), which no new node can be.
 */
export function volumeSetsOf({ volumeAlternatives }: PodClass, sets: RequirementSets): readonly RequirementSet[] | undefined {
  const reachable = volumeAlternatives.filter((set) => acceptsNewHost(set.get(HOSTNAME)));
  if (volumeAlternatives.length > 0 && reachable.length === 0) return undefined;
  return reachable.map((set) => sets.intern(withoutHost(set)));
}

function withoutHost(set: Requirements): Requirements {
  if (!set.has(HOSTNAME)) return set;
  return intersectAll(new Map([...set].filter(([key]) => key !== HOSTNAME)));
}

/**
 * Whether a requirement on the hostname allows a new node, whose name is not known yet: not when it lists names to use.
 */
function acceptsNewHost(item: Requirement | undefined): boolean {
  return item === undefined || has(item, "a-host-that-is-still-to-come");
}

/** The text behind `quoteKey`. PodData with volumes gets a text of its own, because volumes are rare. */
export function quoteKeyText({ fitKey, hosts, areas, self, volumeSets, id }: Omit<PodData, "quoteKey">): string {
  const hostRules = hosts.filter(({ kind }) => kind !== "affinity").map((group) => `${group.index}${self.has(group) ? "+" : ""}`);
  return `${fitKey}/${hostRules.join()}/${areas[0]?.key ?? ""}/${volumeSets.length > 0 ? id : ""}`;
}
