import { join } from "node:path";
import type { Lab } from "./host.ts";

/** Something that a person (or EC2) does, and what the story then waits for. */
export interface Act {
  /** As a person would type it, or say it. */
  readonly what: string;
  readonly act: (lab: Lab) => void;
  /** When the story goes on. */
  readonly until: (lab: Lab) => boolean;
}

export interface LabStory {
  readonly title: string;
  readonly manifests: readonly string[];
  readonly acts: readonly Act[];
}

const file = (name: string): string => join(import.meta.dirname, "stories", `${name}.yaml`);

interface PodLike {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?: { readonly phase?: string };
}

function pods({ world }: Lab): readonly PodLike[] {
  return world.store.list("Pod") as readonly PodLike[];
}

/** That many pods run, none waits, and every claim is up: nothing is left to be done at once. */
export function settled(replicas: number, nodes?: number): (lab: Lab) => boolean {
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

/** A replacement runs, and the machine that got the notice is gone. */
function interrupted(replicas: number): (lab: Lab) => boolean {
  return (lab) => settled(replicas)(lab) && lab.cloud.machines().some(({ endedAt }) => endedAt !== undefined);
}

/** What `npm start` plays. */
export const STORIES: readonly LabStory[] = [
  {
    title: "Five pods of 1Gi and a choice of c5.large, m5.large, r5.large, m5.xlarge: the cheapest that holds them is one m5.large",
    manifests: [file("inflate")],
    acts: [{ what: "kubectl scale -n other deployment/inflate --replicas 5", act: scale("other", 5), until: settled(5, 1) }],
  },
  {
    title: "The default pool: a large node comes, a small one takes its place, none is left",
    manifests: [file("default"), file("inflate-cpu")],
    acts: [
      { what: "kubectl scale deployment/inflate --replicas 5", act: scale("default", 5), until: settled(5, 1) },
      {
        what: "kubectl scale deployment/inflate --replicas 1",
        act: scale("default", 1),
        until: (lab) => settled(1, 1)(lab) && lab.cloud.machines().length > 1,
      },
      { what: "kubectl scale deployment/inflate --replicas 0", act: scale("default", 0), until: settled(0, 0) },
    ],
  },
  {
    title: "A spot node gets its two-minute notice: the replacement comes first, then it drains",
    manifests: [file("spot"), file("inflate-cpu")],
    acts: [
      { what: "kubectl scale deployment/inflate --replicas 2", act: scale("default", 2), until: settled(2, 1) },
      { what: "EC2 takes the machine back in two minutes", act: interrupt, until: interrupted(2) },
    ],
  },
];
