/**
 * What `view` shows, as JSON: docs/view-data.md describes it for other programs. Prices are USD per hour, times are
 * milliseconds since the epoch, cpu is in cores, memory and disks are in bytes. The page imports this file and nothing
 * else of the core.
 */

/** Price of some nodes. */
export interface Cost {
  readonly perHour: number;
  /** The same instance types at the list price of on-demand. */
  readonly onDemandPerHour: number;
  /** Nodes whose price is unknown; they count as 0. */
  readonly unpriced: number;
}

/** How much of a resource pods ask for, and how much there is. */
export interface NodeResource {
  readonly name: string;
  readonly requested: number;
  readonly allocatable: number;
}

/**
 * "goes": the next pass removes the node. "next": a later pass. "leaving": it is being removed. "stays": something
 * blocks it, or nothing is saved. "unseen": no pass has reached it. "other": no NodePool of ours made it.
 */
export type NodeVerdict = "goes" | "next" | "leaving" | "stays" | "unseen" | "other";

/** Whether a node stays, and what that depends on. */
export interface Fate {
  readonly verdict: NodeVerdict;
  /** One sentence. */
  readonly text: string;
  /** Of a node that stays: what a user may do so that it can go, as a phrase. */
  readonly remedy?: string;
  /** Further sentences: sets of nodes that were tried, pods that hold the drain. */
  readonly details: readonly string[];
}

export interface NodeOverview {
  readonly name: string;
  /** Empty for a node that no NodeClaim made, as the four fields after it may be. */
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly state: "ready" | "not ready" | "starting" | "leaving";
  /** Why the state is not "ready". */
  readonly problem?: string;
  readonly createdAt: number;
  /** When the node is replaced because of its age. */
  readonly expiresAt?: number;
  readonly pricePerHour: number;
  readonly onDemandPerHour: number;
  /** cpu, memory and pods first, then what else pods ask for. */
  readonly room: readonly NodeResource[];
  readonly pods: number;
  readonly fate: Fate;
}

export interface Budget {
  readonly reason: "Empty" | "Underutilized" | "Drifted" | "Unhealthy" | "Asleep";
  /** Nodes of the NodePool that count, and how many of them leave or are not ready. */
  readonly total: number;
  readonly disrupting: number;
  /** How many may be disrupted at once, and how many more now; null without a limit. */
  readonly limit: number | null;
  readonly allowed: number | null;
  /** The budget that decides, as the manifest has it. */
  readonly text: string;
  /** When a schedule opens or closes a budget. */
  readonly changesAt?: number;
}

export interface PoolOverview {
  readonly name: string;
  readonly weight: number;
  /** Why no node can be made from it. */
  readonly problem?: string;
  readonly nodes: number;
  readonly cost: Cost;
  /** Set for a static NodePool. */
  readonly replicas?: number;
  /** Instance types that it may launch. */
  readonly instanceTypes: number;
  /** What its nodes have, beside its limits; a limit is null where there is none. */
  readonly usage: readonly { readonly name: string; readonly used: number; readonly limit: number | null }[];
  readonly consolidationPolicy: string;
  readonly consolidateAfter: string;
  readonly budgets: readonly Budget[];
}

/** A pod, as a list shows it. */
export interface PodOverview {
  readonly namespace: string;
  readonly name: string;
  /** Empty while the pod is not bound. */
  readonly node: string;
  /** The kind of its controller; empty for a pod without one. */
  readonly owner: string;
  readonly phase: string;
  readonly createdAt: number;
  readonly cpu: number;
  readonly memory: number;
}

/**
 * Why pods wait. "coming": a NodeClaim is on its way for them. "room": a node has room, and kube-scheduler has not
 * bound them yet. "planned": the next pass buys a node. "left": no node can take them; the text says what to change.
 * "other": they ask not to run on our nodes, or kube-scheduler has not tried them.
 */
export interface WaitingPods {
  readonly state: "coming" | "room" | "planned" | "left" | "other";
  readonly text: string;
  /** NodeClaim or node that the pods wait for. */
  readonly target?: string;
  readonly pods: readonly PodOverview[];
}

export type ClaimStep = "planned" | "created" | "launched" | "registered";

/** A NodeClaim that is not initialized. */
export interface ClaimOverview {
  readonly name: string;
  readonly nodePool: string;
  /** The last step that is done. */
  readonly step: ClaimStep;
  readonly since: number;
  readonly createdAt: number;
  /** Of the instance, once there is one. */
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly pods: number;
  /** How long the steps that are left take on other NodeClaims here, ms (median); absent where none is known. */
  readonly usualMs?: number;
  /** What stands in the way. */
  readonly problem?: string;
}

/** How long a step takes: the median over NodeClaims of the cluster that have done it. */
export interface StepTime {
  readonly step: "launched" | "registered" | "initialized";
  readonly medianMs: number;
  readonly claims: number;
}

export interface CommandOverview {
  /** "planned": the next pass would decide it. */
  readonly phase: string;
  readonly method: string;
  readonly reason: string;
  readonly decision: string;
  readonly since: number;
  readonly savingsPerHour: number;
  readonly pods: number;
  /** Names of the nodes that go. */
  readonly nodes: readonly string[];
  /** What is launched in their place, as text. */
  readonly replacements: readonly string[];
  readonly text: string;
}

/** One cluster at one instant. */
export interface ClusterOverview {
  readonly name: string;
  readonly at: number;
  /** Reservations about what is shown, a sentence each. */
  readonly remarks: readonly string[];
  readonly cost: Cost;
  readonly pods: { readonly total: number; readonly waiting: number };
  readonly nodePools: readonly PoolOverview[];
  readonly nodes: readonly NodeOverview[];
  readonly waiting: readonly WaitingPods[];
  readonly claims: readonly ClaimOverview[];
  readonly stepTimes: readonly StepTime[];
  readonly commands: readonly CommandOverview[];
}

/** One line of a story. */
export interface StoryLine {
  readonly at: number;
  readonly what: string;
  readonly which: string;
  readonly why: string;
  readonly isError: boolean;
}

/** An instant of a story; `scene` names its overview. */
export interface Frame {
  readonly scene: string;
  readonly at: number;
  readonly perHour: number;
  readonly nodes: number;
  readonly lines: readonly StoryLine[];
}

export interface Story {
  readonly name: string;
  readonly title: string;
  readonly start: number;
  readonly frames: readonly Frame[];
}

/** One kind of node in a bill. */
export interface BillLine {
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  /** Nodes and USD per hour in each bill, in the order of `bills`. */
  readonly nodes: readonly number[];
  readonly perHour: readonly number[];
}

/** What becomes of a node in a what-if. */
export interface NodeChange {
  readonly node: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
  readonly change: "stays" | "goes" | "new";
  /** When it goes. */
  readonly at?: number;
  readonly text: string;
}

/** A what-if: the bills side by side, each node's fate, and the steps. */
export interface ChangeOverview {
  /** What is changed, a line each; empty where only disruption is played. */
  readonly change: readonly string[];
  readonly warnings: readonly string[];
  /** "today", "left alone", "changed". */
  readonly bills: readonly { readonly title: string; readonly nodes: number; readonly perHour: number }[];
  readonly lines: readonly BillLine[];
  readonly nodes: readonly NodeChange[];
  readonly steps: readonly { readonly at: number; readonly text: string }[];
  readonly outcome: "settled" | "waiting" | "unsettled";
  readonly settledAt: number;
  readonly podsMoved: number;
  /** Pods that find no place, and why. */
  readonly left: readonly { readonly pod: string; readonly text: string }[];
}

/** A point of the cost over time. */
export interface CostPoint {
  readonly at: number;
  readonly perHour: number;
  readonly onDemandPerHour: number;
}

/** Something that was decided or happened, from the stack's history. */
export interface PastEvent {
  readonly at: number;
  /** "Disrupted", "Removed", "PodsWaited" and so on. */
  readonly kind: string;
  /** What it is about: "nodeclaim/default-x7k2p". */
  readonly title: string;
  /** One sentence, as the commands `history` and `why` print it. */
  readonly text: string;
}

/** What the machines of a NodePool cost in a time; the figures of the command `report`. */
export interface PastPool {
  readonly nodePool: string;
  readonly nodeHours: number;
  readonly dollars: number;
  readonly onDemandDollars: number;
}

/** What happened to a cluster lately; only known where the stack's table is read. */
export interface PastOverview {
  readonly since: number;
  readonly until: number;
  /** USD that the machines cost in this time, and would have cost on demand. */
  readonly dollars: number;
  readonly onDemandDollars: number;
  /** USD less than on demand, for the hours on spot. */
  readonly savedBySpot: number;
  /** USD: each saving of a consolidation, counted for a day at most. */
  readonly savedByConsolidation: number;
  /** What the consolidations of this time save an hour by their own account, and how many there were. */
  readonly consolidationSavesPerHour: number;
  readonly consolidations: number;
  /** Machines that came, that went, and that EC2 took. */
  readonly launched: number;
  readonly ended: number;
  readonly interruptions: number;
  readonly pools: readonly PastPool[];
  readonly costs: readonly CostPoint[];
  /** The latest first. */
  readonly events: readonly PastEvent[];
  /** Events of this time that are not listed. */
  readonly moreEvents: number;
}

/** The figures of a cluster, to be put beside those of others. */
export interface SceneFigures {
  readonly at: number;
  readonly cost: Cost;
  readonly nodes: number;
  readonly spotNodes: number;
  readonly pods: number;
  readonly waiting: number;
  /** Pods that no node can take. */
  readonly left: number;
  readonly claims: number;
}

/** An overview that can be asked for by its id. */
export interface Scene {
  readonly id: string;
  readonly name: string;
  /** Absent until it is read, and for scenes of a what-if. */
  readonly figures?: SceneFigures;
  /** Why it cannot be shown now; the last one that could is shown until then. */
  readonly problem?: string;
}

/** The index of a view: what there is to show. */
export interface ViewIndex {
  /** Raised by changes that a reader would not understand. */
  readonly version: 1;
  readonly kind: "live" | "file" | "lab" | "what-if";
  readonly title: string;
  /** Grows with each change of the index or of a scene. */
  readonly revision: number;
  /** Clusters; of a what-if, before and after. Scenes of a story are not listed here. */
  readonly scenes: readonly Scene[];
  readonly stories?: readonly Story[];
  readonly change?: ChangeOverview;
  /** Cost over time by scene. */
  readonly costs?: Readonly<Record<string, readonly CostPoint[]>>;
  /** The last day by scene. */
  readonly past?: Readonly<Record<string, PastOverview>>;
}
