import { HOSTNAME } from "../../model/labels.ts";
import type { NodeClaim } from "../../model/node-claim.ts";
import type { Pod } from "../../model/pod.ts";
import { NODE_VOLUME_PRICE } from "../../model/prices.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podUid } from "../../pods/predicates.ts";
import { GroupIndex, type TopologyGroup } from "../rules/topology-group.ts";
import { volumesOf } from "../rules/volumes.ts";
import { RequirementSets } from "../tables/requirement-sets.ts";
import { ResourceAxis } from "../tables/resource-axis.ts";
import { type Daemon, daemonsOf } from "./daemon-overhead.ts";
import { type ExistingNode, existingNodes } from "./existing-node.ts";
import type { NodeView } from "./node-view.ts";
import {
  type ClassOptions,
  classesOf,
  type Draft,
  draftsOf,
  type PodClass,
  type PodData,
  quoteKeyText,
  volumeSetsOf,
} from "./pod-class.ts";
import { reservationCapacity } from "./reservation-capacity.ts";
import type { Template } from "./template.ts";
import { templatesOf } from "./template.ts";
import { type Place, TopologyBuilder } from "./topology.ts";

/** Everything about one solve that placing pods does not change: worked out once, shared by every attempt. */
export interface SchedulingProblem {
  readonly axis: ResourceAxis;
  readonly sets: RequirementSets;
  readonly templates: readonly Template[];
  readonly nodes: readonly ExistingNode[];
  readonly classes: readonly PodClass[];
  /** Shapes of each class, strictest first. */
  readonly relaxations: readonly (readonly PodData[])[];
  readonly groups: readonly TopologyGroup[];
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly reservedMode: "strict" | "fallback";
  /** Nodes on which pods have just changed: `moved` pods are not put there. */
  readonly settling: ReadonlySet<string>;
  /** Pods that run and are moved by choice. */
  readonly moved: ReadonlySet<Pod>;
  /** Pods of CapacityBuffers: they come after those that exist. */
  readonly virtual: ReadonlySet<Pod>;
  /** What a new node costs beside its instance, USD per hour. */
  readonly nodeHour: number;
  /** Instances left by capacity reservation. */
  readonly reservations: ReadonlyMap<string, number>;
}

/** SolveOptions with every default filled in. */
export interface ProblemOptions {
  readonly policy: ClassOptions["policy"];
  readonly minValuesPolicy: "Strict" | "BestEffort";
  readonly reservedMode: "strict" | "fallback";
  /** Nodes that are to be thought away. */
  readonly excludeNodes: ReadonlySet<string>;
  readonly settling: ReadonlySet<string>;
  readonly moved: ReadonlySet<Pod>;
  /** Pods of CapacityBuffers among those to be placed. */
  readonly virtual?: ReadonlySet<Pod>;
  /** USD per hour; NODE_VOLUME_PRICE unless given. */
  readonly nodeHour?: number;
}

/** Lays a snapshot out for solving. `views` are its machines, `pods` those to place; all other pods with a node are there and stay. */
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
  const axis = new ResourceAxis([...classes.map(({ requests }) => requests), ...daemons.map(({ requests }) => requests)]);
  const sets = new RequirementSets();
  const templates = templatesOf(snapshot, present, daemons, sets, axis);
  const softTaints = templates.some(({ taints }) => taints.some(({ effect }) => effect === "PreferNoSchedule"));
  const topology = new TopologyBuilder(snapshot, templates);
  const byPlacement = new Map<string, readonly Draft[]>();
  const drafts = classes.map((podClass) => {
    const known = byPlacement.get(podClass.placement) ?? draftsOf(podClass, { policy: options.policy, softTaints }, sets, topology);
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
  let id = 0;
  const fitIds = new Map<string, number>();
  const bidIds = new Map<string, number>();
  const groupIndex = new GroupIndex(topology.groups);
  const demanded = new Set(drafts.flatMap((all) => all.flatMap(({ required }) => required)));
  const selecting = new Map<string, readonly TopologyGroup[]>();
  const relaxations = classes.map((podClass, c) => {
    const selected = selecting.get(podClass.labels) ?? groupIndex.selecting(podClass.example);
    selecting.set(podClass.labels, selected);
    // Pods count in groups that select them, and in the inverse ones that they own.
    const counting = [...selected.filter(({ kind }) => kind !== "inverse"), ...(inverse[c] ?? [])];
    const keptAway = selected.filter(({ kind }) => kind === "inverse");
    const vector = axis.vector(podClass.requests);
    const volumeSets = volumeSetsOf(podClass, sets);
    const ownText = `${vector.join()} ${podClass.ports.length > 0 ? JSON.stringify(podClass.ports) : ""}`;
    return (drafts[c] ?? []).map(({ owned, required, ...shape }): PodData => {
      const deciding = [...new Set([...owned, ...keptAway])];
      // Left open, its pods would be counted nowhere in the plan, and somewhere by kube-scheduler once the machine is there.
      const watching = counting.filter(
        (group) => group.kind === "spread" && group.key !== HOSTNAME && demanded.has(group) && !deciding.includes(group),
      );
      const tolerations = shape.tolerations.length > 0 ? JSON.stringify(shape.tolerations) : "";
      const podData = {
        ...shape,
        id: id++,
        class: podClass,
        vector,
        volumeSets,
        fitKey: numbered(fitIds, `${shape.set.id} ${ownText} ${shape.acceptsNewHost} ${tolerations}`),
        deciding,
        hosts: deciding.filter(({ key }) => key === HOSTNAME),
        areas: [...deciding.filter(({ key }) => key !== HOSTNAME), ...watching],
        watching: new Set(watching),
        self: new Set(deciding.filter((group) => selected.includes(group))),
        hard: new Set(required),
        counting,
        hasTopology: deciding.length > 0,
      };
      return { ...podData, quoteKey: numbered(bidIds, quoteKeyText(podData)) };
    });
  });
  return {
    axis,
    sets,
    templates,
    nodes: existingNodes(destinations, [...others, ...expected], daemons, volumes, axis),
    classes,
    relaxations,
    groups: topology.groups,
    minValuesPolicy: options.minValuesPolicy,
    reservedMode: options.reservedMode,
    settling: options.settling,
    moved: options.moved,
    virtual: options.virtual ?? new Set(),
    nodeHour: options.nodeHour ?? NODE_VOLUME_PRICE,
    reservations: reservationCapacity(templates),
  };
}

/** Numbers texts in the order in which they come. */
function numbered(ids: Map<string, number>, text: string): number {
  const known = ids.get(text);
  if (known !== undefined) return known;
  ids.set(text, ids.size);
  return ids.size - 1;
}

/** Bound pods with their nodes, and nominated pods with the claims that were written for them: both count in topology. */
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
      if (claim !== undefined) placed.push([pod, promised(claim)]);
    }
  }
  return placed;
}

/**
 * Pods that are nominated to a claim, launched or still meant, as if they lay there already: nobody else may be promised their room. Pods that must
 * leave another node are among them until they are bound anew.
 */
function arrivals(snapshot: Snapshot, views: readonly NodeView[]): readonly Pod[] {
  const byClaim = new Map(views.flatMap((view) => (view.claim ? [[view.claim.metadata.name, view] as const] : [])));
  const staying = new Set(views.flatMap(({ node }) => (node ? [node.metadata.name] : [])));
  return snapshot.pods.flatMap((pod) => {
    const view = staying.has(pod.spec.nodeName ?? "") ? undefined : byClaim.get(snapshot.nominated.get(podUid(pod)) ?? "");
    return view === undefined ? [] : [{ ...pod, spec: { ...pod.spec, nodeName: view.node?.metadata.name ?? view.name } }];
  });
}

/** The labels that a claim's node is sure to have. */
function promised({ metadata, spec }: NodeClaim): Place {
  const single = spec.requirements.flatMap(({ key, operator, values }) =>
    operator === "In" && values?.length === 1 && values[0] !== undefined ? [[key, values[0]] as const] : [],
  );
  return { labels: { ...Object.fromEntries(single), ...metadata.labels, [HOSTNAME]: metadata.name }, taints: spec.taints ?? [] };
}
