import { HOSTNAME } from "../../model/labels.ts";
import type { Pod } from "../../model/pod.ts";
import { podRequests } from "../../model/pod-requests.ts";
import type { Resources } from "../../model/quantity.ts";
import { keysOf } from "../../pods/label-selector.ts";
import { podUid } from "../../pods/predicates.ts";
import { canonical, has, type Requirement } from "../../requirements/requirement.ts";
import { intersectAll, type Requirements } from "../../requirements/requirements.ts";
import { type HostPort, hostPorts } from "../rules/host-ports.ts";
import { type PreferencePolicy, type RelaxationStep, shapesOf } from "../rules/preferences.ts";
import type { TopologyGroup } from "../rules/topology-group.ts";
import type { PodVolumes, Volumes } from "../rules/volumes.ts";
import type { RequirementSet, RequirementSets } from "../tables/requirement-sets.ts";
import type { TopologyBuilder } from "./topology.ts";

/** Pods that scheduling cannot tell apart. The solver works on these, not on pods. */
export interface PodClass {
  readonly index: number;
  /** In the order of the queue; the first stands for all. */
  readonly pods: readonly Pod[];
  readonly example: Pod;
  readonly requests: Resources;
  /** The same for classes that selectors cannot tell apart. */
  readonly labels: string;
  /** The same for classes that ask for the same places and company. */
  readonly placement: string;
  readonly ports: readonly HostPort[];
  /** Where volumes may be used: the same for all pods of the class. */
  readonly volumeAlternatives: PodVolumes["alternatives"];
  /** CSI driver to the volumes of one of the pods; undefined when the class has none. */
  readonly attaches: ((pod: Pod) => PodVolumes["claimsByDriver"]) | undefined;
}

/** A class at one step of relaxation, with everything that does not change while pods are placed. */
export interface PodData extends RelaxationStep {
  readonly id: number;
  /** The same for asks that differ in topology alone: what a claim's own types say to one they say to all. */
  readonly fitKey: number;
  /** The same for asks that a claim refuses for the same lasting reasons. */
  readonly quoteKey: number;
  readonly class: PodClass;
  readonly vector: Float64Array;
  /** Requirements on a new claim: all but the hostname, which it does not have yet. */
  readonly set: RequirementSet;
  /** False when the pod wants a host that exists. */
  readonly acceptsNewHost: boolean;
  /** One of these must hold too; empty when volumes do not matter. */
  readonly volumeSets: readonly RequirementSet[];
  /** Groups that decide where the pod may go. */
  readonly deciding: readonly TopologyGroup[];
  /** Those of them that look at hosts. */
  readonly hosts: readonly TopologyGroup[];
  /** The others: a claim may have to be narrowed to some of a key's domains. */
  readonly areas: readonly TopologyGroup[];
  /** Areas that are hard spreads of others which count the pod: a claim is narrowed to one domain, so that they know in which it lies. */
  readonly watching: ReadonlySet<TopologyGroup>;
  /** Deciding groups that the pod itself counts in, or would. */
  readonly self: ReadonlySet<TopologyGroup>;
  /** Those of them that must hold; the others are preferences. */
  readonly hard: ReadonlySet<TopologyGroup>;
  /** Groups whose counts change when the pod is placed. */
  readonly counting: readonly TopologyGroup[];
  /** Whether the outcome depends on where other pods lie, so that a refusal may not last. */
  readonly hasTopology: boolean;
}

/** What decides which shapes pods are tried in. */
export interface ClassOptions {
  readonly policy: PreferencePolicy;
  readonly softTaints: boolean;
}

/** Sorts pods as the queue does (cpu desc, memory desc, oldest, UID; virtual ones last) and folds alike ones into classes, in that order. */
export function classesOf(
  pods: readonly Pod[],
  volumes: Volumes,
  readByOthers: Iterable<Pod>,
  moved: ReadonlySet<Pod>,
  virtual: ReadonlySet<Pod> = new Set(),
): readonly PodClass[] {
  const labelKeys = labelKeysRead(pods, readByOthers);
  const requestMemo = new Map<string, Resources>();
  const queued = pods.map((pod) => {
    const text = requestsText(pod.spec);
    const requests = requestMemo.get(text) ?? podRequests(pod.spec);
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
  const byText = new Map<string, { pods: Pod[]; requests: Resources; labels: string; placement: string }>();
  for (const { pod, requests, text, last } of queued) {
    const labels = labelsText(pod, labelKeys);
    const placement = placementText(pod, labels);
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Container = NonNullable<Pod["spec"]["containers"]>[number];

/** What requests follow from. Written by hand: this runs for every pod, and JSON takes several times as long. */
function requestsText({ containers, initContainers, overhead, resources }: Pod["spec"]): string {
  let text = containersText(containers);
  if (initContainers !== undefined && initContainers.length > 0) text += `/${containersText(initContainers)}`;
  if (overhead !== undefined || resources !== undefined) text += `/${JSON.stringify([overhead, resources?.requests])}`;
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

function labelsText({ metadata }: Pod, keys: readonly string[]): string {
  let text = metadata.namespace ?? "default";
  for (const key of keys) {
    const value = metadata.labels?.[key];
    text += value === undefined ? "," : `,=${value}`;
  }
  return text;
}

function placementText({ metadata, spec }: Pod, labels: string): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec;
  if (
    nodeSelector === undefined &&
    affinity?.nodeAffinity === undefined &&
    affinity?.podAffinity === undefined &&
    affinity?.podAntiAffinity === undefined &&
    tolerations === undefined &&
    topologySpreadConstraints === undefined
  ) {
    return "";
  }
  const text = JSON.stringify([nodeSelector, affinity, tolerations, topologySpreadConstraints]);
  // matchLabelKeys and mismatchLabelKeys make selectors that depend on the pod's own labels.
  return text.includes("LabelKeys") ? `${labels} ${text}` : `${metadata.namespace ?? "default"} ${text}`;
}

/** What else tells pods apart, and is rare. */
function ownText(spec: Pod["spec"], volumes: Volumes, pod: Pod): string {
  const ports = (spec.containers ?? []).some(({ ports }) => ports?.some(({ hostPort }) => hostPort));
  const claims = (spec.resourceClaims ?? []).length > 0;
  const hasOwnVolumes = hasVolumes(spec);
  if (!ports && !claims && !hasOwnVolumes) return "";
  return JSON.stringify([hostPorts(spec), spec.resourceClaims, hasOwnVolumes ? volumeText(volumes.of(pod)) : ""]);
}

function hasVolumes(spec: Pod["spec"]): boolean {
  return (spec.volumes ?? []).some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral);
}

/** Which volumes they are does not matter here, only where they can be used and how many there are. */
function volumeText({ alternatives, claimsByDriver }: PodVolumes): string {
  const places = alternatives.map((set) => [...set.values()].map(canonical).sort());
  return JSON.stringify([places, [...claimsByDriver].map(([driver, claims]) => [driver, claims.length]).sort()]);
}

/** Labels that some selector looks at; any other difference between pods does not matter. */
function labelKeysRead(pods: readonly Pod[], others: Iterable<Pod>): readonly string[] {
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
  return [...keys].sort();
}

/** A shape bound to the run's groups and sets: all that follows from what a class asks for in places and company. */
export interface Draft extends RelaxationStep {
  readonly set: RequirementSet;
  readonly acceptsNewHost: boolean;
  readonly owned: readonly TopologyGroup[];
  readonly required: readonly TopologyGroup[];
}

/** The shapes of a class, strictest first. The same for classes of one `placement`. */
export function draftsOf({ example }: PodClass, options: ClassOptions, sets: RequirementSets, topology: TopologyBuilder): readonly Draft[] {
  const { podAffinity, podAntiAffinity } = example.spec.affinity ?? {};
  const company = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const companions = topology.requiredAffinity(example, company);
  const required = [
    ...companions,
    ...(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => topology.affinity(example, term, "anti")),
    ...(example.spec.topologySpreadConstraints ?? []).flatMap((constraint) =>
      constraint.whenUnsatisfiable === "DoNotSchedule" ? [topology.spread(example, constraint, example.spec.tolerations ?? [])] : [],
    ),
  ];
  return shapesOf(example.spec, options.policy, options.softTaints).map((shape) => ({
    ...shape,
    set: sets.intern(withoutHost(shape.requirements)),
    acceptsNewHost: acceptsNewHost(shape.requirements.get(HOSTNAME)),
    required,
    owned: [
      ...shape.spreads.map((constraint) => topology.spread(example, constraint, shape.tolerations)),
      ...companions,
      ...shape.affinity.filter((term) => !company.includes(term)).map((term) => topology.affinity(example, term, "affinity")),
      ...shape.antiAffinity.map((term) => topology.affinity(example, term, "anti")),
    ],
  }));
}

/** Where the class' volumes can be used, as requirements on new nodes. */
export function volumeSetsOf({ volumeAlternatives }: PodClass, sets: RequirementSets): readonly RequirementSet[] {
  return volumeAlternatives.map((set) => sets.intern(withoutHost(set)));
}

function withoutHost(set: Requirements): Requirements {
  if (!set.has(HOSTNAME)) return set;
  return intersectAll(new Map([...set].filter(([key]) => key !== HOSTNAME)));
}

/** A claim will have a host name that nobody knows; only a pod that names hosts to use cannot live with that. */
function acceptsNewHost(item: Requirement | undefined): boolean {
  return item === undefined || has(item, "a-host-that-is-still-to-come");
}

/** What decides whether a claim that refuses one ask for good refuses another too. Volumes are told apart by class: they are rare. */
export function quoteKeyText({ fitKey, hosts, areas, self, volumeSets, id }: Omit<PodData, "quoteKey">): string {
  const apart = hosts.filter(({ kind }) => kind !== "affinity").map((group) => `${group.index}${self.has(group) ? "+" : ""}`);
  return `${fitKey}/${apart.join()}/${areas[0]?.key ?? ""}/${volumeSets.length > 0 ? id : ""}`;
}
