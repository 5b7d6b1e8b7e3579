// Room core/scheduling/problem: the input of a search, built once for each run. In: a Snapshot and the pods to place.
// Out: a SchedulingProblem (pod classes, templates of NodePools, existing nodes, topology groups), and the counts that
// an attempt changes (NodeState, TopologyState). Must not know: planned claims, packing, strategies beyond their names.

import { HOSTNAME } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { Pod } from "../../model/pod.ts";
import type { CostSettings } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podUid } from "../../pods/predicates.ts";
import { GroupIndex, type TopologyGroup } from "../rules/topology-group.ts";
import { volumesOf } from "../rules/volumes.ts";
import { RequirementSets } from "../tables/requirement-sets.ts";
import { ResourceAxis } from "../tables/resource-axis.ts";
import { typeTable } from "../tables/type-table.ts";
import { cheapestTermsFirst } from "./cheapest-terms.ts";
import { type Daemon, daemonsOf } from "./daemon-overhead.ts";
import { type ExistingNode, existingNodes } from "./existing-node.ts";
import type { NodeView } from "./node-view.ts";
import {
  type ClassOptions,
  classesOf,
  type PlacementStep,
  type PodClass,
  type PodData,
  placementSteps,
  quoteKeyText,
  volumeSetsOf,
} from "./pod-class.ts";
import { reservationCapacity } from "./reservation-capacity.ts";
import type { Template } from "./template.ts";
import { templatesOf } from "./template.ts";
import { type Place, TopologyBuilder } from "./topology.ts";

/**
 * Everything about one run that placing pods does not change. It is built once and shared by all attempts, by packing
 * and by trial clusters.
 *
 *     const problem = problemFor(snapshot, nodeViews(snapshot), pods, options);
 *     new Attempt(problem, { claims: "fewest-pods", seed: 0 }).run();
 */
export interface SchedulingProblem {
  readonly axis: ResourceAxis;
  readonly sets: RequirementSets;
  /** NodePools that can launch nodes, in the order in which they are tried. */
  readonly templates: readonly Template[];
  /** Existing nodes that can take pods, in the order in which they are tried. */
  readonly nodes: readonly ExistingNode[];
  /** Pods to place, in the order of the queue. */
  readonly classes: readonly PodClass[];
  /** By class: its relaxation steps, strictest first. */
  readonly relaxations: readonly (readonly PodData[])[];
  /** By PodData.quoteKey: number of pods that have it at some step. */
  readonly podsOfQuoteKey: readonly number[];
  /** All topology rules of the run, by index. */
  readonly groups: readonly TopologyGroup[];
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly reservedMode: "strict" | "fallback";
  /** Names of nodes inside their consolidateAfter window: `moved` pods are not put there. */
  readonly settling: ReadonlySet<string>;
  /** Running pods that disruption would move. */
  readonly moved: ReadonlySet<Pod>;
  /** Virtual pods of CapacityBuffers; they are placed after real ones. */
  readonly virtual: ReadonlySet<Pod>;
  /** Instances left by id of the capacity reservation. */
  readonly reservations: ReadonlyMap<string, number>;
}

/** SolveOptions with defaults filled in. */
interface ProblemOptions extends CostSettings {
  readonly policy: ClassOptions["policy"];
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly reservedMode: "strict" | "fallback";
  /** Names of nodes that the run treats as removed. */
  readonly excludeNodes: ReadonlySet<string>;
  readonly settling: ReadonlySet<string>;
  readonly moved: ReadonlySet<Pod>;
  /** Virtual pods of CapacityBuffers among those to place. */
  readonly virtual?: ReadonlySet<Pod>;
  /**
   * Whether claims are narrowed to one domain for required affinity too that selects their pods (undecidedAffinity).
   * That takes more nodes where the pods with the affinity would find a place in any case.
   */
  readonly decidesAffinity?: boolean;
}

/**
 * Builds the problem of a snapshot. `views` are its nodes, `pods` those to place; all other pods with a node stay
 * there.
 */
export function problemFor(
  snapshot: Snapshot,
  views: readonly NodeView[],
  pods: readonly Pod[],
  options: ProblemOptions,
): SchedulingProblem {
  const present = views.filter(
    ({ name, node }) => !options.excludeNodes.has(name) && !(node && options.excludeNodes.has(node.metadata.name)),
  );
  const planning = new Set(pods.map(podUid));
  const daemons: readonly Daemon[] = daemonsOf(snapshot);
  const volumes = volumesOf(snapshot);
  const others = snapshot.pods.filter((pod) => (pod.spec.nodeName ?? "") !== "" && !planning.has(podUid(pod)));
  const classes = classesOf(pods, volumes, others, options.moved, options.virtual);
  const offered = new Set(present.flatMap(({ capacity, allocatable }) => [...Object.keys(capacity), ...Object.keys(allocatable)]));
  const tables = [...new Set(snapshot.instanceTypes.values())].map(typeTable);
  const isOffered = (name: string): boolean => offered.has(name) || tables.some(({ amounts }) => amounts.names.has(name));
  const axis = new ResourceAxis(
    [...classes, ...daemons].map(({ requests }) => requests),
    isOffered,
  );
  const sets = new RequirementSets();
  const templates = templatesOf(snapshot, present, daemons, sets, axis, options);
  const softTaints = templates.some(({ taints }) => taints.some(({ effect }) => effect === "PreferNoSchedule"));
  const topology = new TopologyBuilder(snapshot, templates);
  const byPlacement = new Map<string, readonly PlacementStep[]>();
  const steps = classes.map((podClass) => {
    const known = byPlacement.get(podClass.placement) ?? placementSteps(podClass, { policy: options.policy, softTaints }, sets, topology);
    byPlacement.set(podClass.placement, known);
    return known;
  });
  const inverse = classes.map(({ example }) =>
    (example.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
      topology.affinity(example, term, "inverse"),
    ),
  );
  const destinations = present.filter(({ markedForDeletion }) => !markedForDeletion);
  const expected = snapshot.nominated.size === 0 ? [] : arrivals(snapshot, destinations);
  topology.count(destinations, placesOf(snapshot, present, others));
  const { relaxations, quoteKeys } = relaxationsOf({ classes, steps, inverse, axis, sets, templates, topology }, options);
  const podsOfQuoteKey = Array.from({ length: quoteKeys }, () => 0);
  for (const { quoteKey, class: podClass } of relaxations.flat())
    podsOfQuoteKey[quoteKey] = (podsOfQuoteKey[quoteKey] ?? 0) + podClass.pods.length;
  return {
    axis,
    sets,
    templates,
    podsOfQuoteKey,
    nodes: existingNodes(destinations, [...others, ...expected], daemons, volumes, axis),
    classes,
    relaxations,
    groups: topology.groups,
    minValuesPolicy: options.minValuesPolicy,
    reservedMode: options.reservedMode,
    settling: options.settling,
    moved: options.moved,
    virtual: options.virtual ?? new Set(),
    reservations: reservationCapacity(templates),
  };
}

interface Relaxable {
  readonly classes: readonly PodClass[];
  /** The steps of each class. */
  readonly steps: readonly (readonly PlacementStep[])[];
  /** The inverse groups of each class's own anti-affinity. */
  readonly inverse: readonly (readonly TopologyGroup[])[];
  readonly axis: ResourceAxis;
  readonly sets: RequirementSets;
  readonly templates: readonly Template[];
  readonly topology: TopologyBuilder;
}

/** The steps of each class with what placing a pod by them needs, and how many quote keys they have. */
function relaxationsOf(
  { classes, steps, inverse, axis, sets, templates, topology }: Relaxable,
  options: ProblemOptions,
): { readonly relaxations: readonly (readonly PodData[])[]; readonly quoteKeys: number } {
  let id = 0;
  const fitKeys = new Map<string, number>();
  const quoteKeys = new Map<string, number>();
  const groupIndex = new GroupIndex(topology.groups);
  const demanded = new Set(steps.flatMap((all) => all.flatMap(({ required }) => required)));
  const selecting = new Map<string, readonly TopologyGroup[]>();
  const relaxations = classes.map((podClass, c) => {
    const selected = selecting.get(podClass.labels) ?? groupIndex.selecting(podClass.example);
    selecting.set(podClass.labels, selected);
    // Pods count in the groups that select them, and in the inverse groups of their own anti-affinity.
    const counting = [...selected.filter(({ kind }) => kind !== "inverse"), ...(inverse[c] ?? [])];
    const keptAway = selected.filter(({ kind }) => kind === "inverse");
    const vector = axis.vector(podClass.requests);
    const volumeSets = volumeSetsOf(podClass, sets);
    const ownText = `${vector.join()} ${podClass.ports.length > 0 ? JSON.stringify(podClass.ports) : ""}`;
    const inOrder = cheapestTermsFirst(steps[c] ?? [], { vector, pods: podClass.pods.length }, { templates, sets });
    return inOrder.map(({ owned, required, ...step }): PodData => {
      const deciding = [...new Set([...owned, ...keptAway])];
      // Without them a claim could stay open to several domains: the plan would count its pods nowhere, kube-scheduler
      // in one domain.
      const watching = counting.filter(
        (group) =>
          (group.kind === "spread" || (group.kind === "affinity" && options.decidesAffinity === true)) &&
          group.key !== HOSTNAME &&
          demanded.has(group) &&
          !deciding.includes(group),
      );
      const tolerations = step.tolerations.length > 0 ? JSON.stringify(step.tolerations) : "";
      const podData = {
        ...step,
        acceptsNewHost: step.acceptsNewHost && volumeSets !== undefined,
        id: id++,
        class: podClass,
        vector,
        volumeSets: volumeSets ?? [],
        fitKey: numbered(fitKeys, `${step.set.id} ${ownText} ${step.acceptsNewHost && volumeSets !== undefined} ${tolerations}`),
        deciding,
        hosts: deciding.filter(({ key }) => key === HOSTNAME),
        areas: [...deciding.filter(({ key }) => key !== HOSTNAME), ...watching],
        watching: new Set(watching),
        self: new Set(deciding.filter((group) => selected.includes(group))),
        hard: new Set(required),
        counting,
        hasTopology: deciding.length > 0,
      };
      return { ...podData, quoteKey: numbered(quoteKeys, quoteKeyText(podData)) };
    });
  });
  return { relaxations, quoteKeys: quoteKeys.size };
}

/** The number of a text; new texts are numbered in their order. */
function numbered(ids: Map<string, number>, text: string): number {
  const known = ids.get(text);
  if (known !== undefined) return known;
  ids.set(text, ids.size);
  return ids.size - 1;
}

/** Bound pods with their nodes, and nominated pods with their NodeClaims: both count in topology groups. */
function placesOf(snapshot: Snapshot, views: readonly NodeView[], bound: readonly Pod[]): readonly (readonly [Pod, Place])[] {
  const byNode = new Map(views.flatMap((view) => (view.node ? [[view.node.metadata.name, view] as const] : [])));
  const placed: (readonly [Pod, Place])[] = [];
  for (const pod of bound) {
    const view = byNode.get(pod.spec.nodeName ?? "");
    if (view !== undefined) placed.push([pod, view]);
  }
  if (snapshot.nominated.size > 0) {
    const claims = new Map(snapshot.nodeClaims.map((claim) => [claim.metadata.name, claim]));
    for (const pod of snapshot.pods) {
      const claim = (pod.spec.nodeName ?? "") === "" ? claims.get(snapshot.nominated.get(podUid(pod)) ?? "") : undefined;
      if (claim !== undefined) placed.push([pod, placeOfClaim(claim)]);
    }
  }
  return placed;
}

/**
 * Pods that are nominated to a NodeClaim, as if they were bound to its node already, so that no other pod gets their
 * room. Pods that must leave another node are among them until they are bound again.
 */
function arrivals(snapshot: Snapshot, views: readonly NodeView[]): readonly Pod[] {
  const byClaim = new Map(views.flatMap((view) => (view.claim ? [[view.claim.metadata.name, view] as const] : [])));
  const destinationNodes = new Set(views.flatMap(({ node }) => (node ? [node.metadata.name] : [])));
  return snapshot.pods.flatMap((pod) => {
    const view = destinationNodes.has(pod.spec.nodeName ?? "") ? undefined : byClaim.get(snapshot.nominated.get(podUid(pod)) ?? "");
    return view === undefined ? [] : [{ ...pod, spec: { ...pod.spec, nodeName: view.node?.metadata.name ?? view.name } }];
  });
}

/** The labels and taints that a claim's node is sure to have. */
function placeOfClaim({ metadata, spec }: NodeClaim): Place {
  const single = spec.requirements.flatMap(({ key, operator, values }) =>
    operator === "In" && values?.length === 1 && values[0] !== undefined ? [[key, values[0]] as const] : [],
  );
  return { labels: { ...Object.fromEntries(single), ...metadata.labels, [HOSTNAME]: metadata.name }, taints: spec.taints ?? [] };
}
