import { join } from "node:path";
import type { Pod } from "#core/model/pod.ts";
import { isDaemonSetPod } from "#core/pods/predicates.ts";
import type { Lab, LabOptions } from "./host.ts";

/** Something that a person or EC2 does, and how the story waits for its effect. */
interface Act {
  /** As a person would type or say it. */
  readonly what: string;
  readonly act: (lab: Lab) => void;
  /** Holds once the effect is there; the next act follows. */
  readonly until: (lab: Lab) => boolean;
  /** Set where the nodes that the act leads to need a reason: what another plan would have cost is then printed. */
  readonly explainsNodes?: true;
}

/** A story: manifests, then acts. */
export interface LabStory {
  /** The name in `npm start -- NAME`. */
  readonly name: string;
  readonly title: string;
  /** The region, unless --region names another; the default region of the lab when absent. */
  readonly region?: string;
  /** Settings that differ from those of the lab. */
  readonly settings?: LabOptions["settings"];
  readonly manifests: readonly string[];
  readonly acts: readonly Act[];
}

/** The pool of an installation, which stories without one of their own use too. */
export const DEFAULT_POOL = join(import.meta.dirname, "../infra/default-pool.yaml");

const file = (name: string): string => join(import.meta.dirname, "stories", `${name}.yaml`);

/** The pods of the manifests, without the daemons of nodes. */
function pods({ world }: Lab): readonly Pod[] {
  return (world.store.list("Pod") as readonly Pod[]).filter((pod) => !isDaemonSetPod(pod));
}

/** Holds when that many pods run, none is pending, and every claim is initialized; DaemonSets are not counted. */
function settled(replicas: number, nodes?: number): (lab: Lab) => boolean {
  return (lab) => {
    const all = pods(lab);
    const { store } = lab.world;
    const claims = store.list("NodeClaim") as readonly {
      readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
    }[];
    const ready = claims.every(({ status }) => status?.conditions?.some(({ type, status: s }) => type === "Initialized" && s === "True"));
    const running = all.filter(({ metadata, status }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined).length;
    const nodeList = store.list("Node");
    const count = nodeList.some(({ metadata }) => metadata.deletionTimestamp !== undefined) ? -1 : nodeList.length;
    return all.length === replicas && running === replicas && ready && claims.length === count && count === (nodes ?? count);
  };
}

const scale =
  (namespace: string, replicas: number) =>
  (lab: Lab): void =>
    lab.world.scale("Deployment", namespace, "inflate", replicas);

const interrupt = (lab: Lab): void => {
  const spot = lab.cloud.machines().find(({ instance }) => instance.state === "running" && instance.capacityType === "spot");
  if (spot === undefined) throw new Error("there is no spot instance to interrupt");
  lab.cloud.interruptSpot(spot.instance.id);
};

/** Holds when a replacement runs and the interrupted instance has ended. */
function interrupted(replicas: number): (lab: Lab) => boolean {
  return (lab) => settled(replicas)(lab) && lab.cloud.machines().some(({ endedAt }) => endedAt !== undefined);
}

/** Holds when consolidation has left that many nodes, and that many instances have ended since the story began. */
function consolidated(replicas: number, nodes: number, gone: number): (lab: Lab) => boolean {
  return (lab) => settled(replicas, nodes)(lab) && lab.cloud.machines().filter(({ endedAt }) => endedAt !== undefined).length >= gone;
}

/** Holds when no node and no machine is left. */
function asleep({ world, cloud }: Lab): boolean {
  return world.store.list("Node").length === 0 && cloud.machines().every(({ endedAt }) => endedAt !== undefined);
}

const scaleTo = (replicas: number, until: Act["until"]): Act => ({
  what: `kubectl scale deployment/inflate --replicas ${replicas}`,
  act: scale("default", replicas),
  until,
});

/** The stories that `npm start` plays. */
export const STORIES: readonly LabStory[] = [
  {
    name: "inflate",
    title: "Five pods of 1Gi and a choice of c5.large, m5.large, r5.large, m5.xlarge: the cheapest that holds them is one m5.large",
    manifests: [file("inflate")],
    acts: [{ what: "kubectl scale -n other deployment/inflate --replicas 5", act: scale("other", 5), until: settled(5, 1) }],
  },
  {
    name: "up-and-down",
    title: "The default pool: a large node comes, a small one takes its place, none is left",
    manifests: [DEFAULT_POOL, file("inflate-cpu")],
    acts: [scaleTo(5, settled(5, 1)), scaleTo(1, consolidated(1, 1, 1)), scaleTo(0, settled(0, 0))],
  },
  {
    name: "interruption",
    title: "A spot node gets its two-minute notice: the replacement comes first, then it drains",
    manifests: [file("spot"), file("inflate-cpu")],
    acts: [
      scaleTo(2, settled(2, 1)),
      { what: "EC2 takes the machine back in two minutes", act: interrupt, until: interrupted(2), explainsNodes: true },
    ],
  },
];

/** Further stories, most of them from Korean workshops; they are played by their names. */
export const MORE_STORIES: readonly LabStory[] = [
  {
    name: "night",
    title: "The NodePool sleeps from 9:10 to 9:30: the cluster goes to zero nodes and is back before the morning",
    manifests: [file("night"), file("inflate-cpu")],
    acts: [
      scaleTo(5, settled(5)),
      { what: "the evening comes at 9:10", act: () => {}, until: asleep },
      { what: "the morning comes at 9:30", act: () => {}, until: settled(5) },
    ],
  },
  {
    name: "replace",
    title: "A c5a.2xlarge whose pods have gone but for one: a c5a.large takes its place",
    region: "ap-northeast-2",
    manifests: [DEFAULT_POOL, file("inflate-cpu")],
    acts: [scaleTo(5, settled(5, 1)), scaleTo(1, consolidated(1, 1, 1))],
  },
  {
    name: "spot-to-spot",
    title: "Spot for spot (gate SpotToSpotConsolidation): a second node comes and goes with its pods, then a smaller one takes over",
    region: "ap-northeast-2",
    settings: { spotToSpotConsolidation: true },
    manifests: [file("spot"), file("inflate-cpu")],
    acts: [scaleTo(5, settled(5, 1)), scaleTo(10, settled(10, 2)), scaleTo(5, consolidated(5, 1, 1)), scaleTo(1, consolidated(1, 1, 2))],
  },
];
