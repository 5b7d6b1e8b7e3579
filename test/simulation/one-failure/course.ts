import type { Pod } from "#core/model/pod.ts";
import { createLab, type Lab } from "#lab/host.ts";
import type { CallHooks } from "#lab/world/intercept.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { SECOND, settleSecond } from "../second-cluster.ts";
import { CATALOGUE, deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, SPOT, START } from "../story.ts";

/** What happens to pods, and when it is over. */
export interface Course {
  readonly name: string;
  /** The sources of wake-ups beside the sweep. */
  readonly sources: readonly ("audit" | "notify")[];
  /** What is there two minutes before. */
  readonly objects: readonly ApiObject[];
  /** Brings the cluster into the state that the course begins in. */
  readonly prepare?: (lab: Lab) => unknown;
  /** Returns the names of nodes that EC2 takes back: a pod that runs there does not count. */
  readonly act: (lab: Lab) => readonly string[];
  /** How many pods shall run, on machines that stay. */
  readonly pods: number;
}

/** How many clusters the stack has: of several, sweeps come by the queues. */
export const STACKS = ["one", "several"] as const;
export type Stack = (typeof STACKS)[number];

const MINUTE = 60_000;
/** How long a course may take, ms: what is not over then is never over. */
export const MAX_MS = 15 * MINUTE;
const STEP_MS = 250;
const SEED = 1;

const scale =
  (replicas: number) =>
  ({ world }: Lab): readonly string[] => {
    world.scale("Deployment", "default", "inflate", replicas);
    return [];
  };
const ONE_TYPE = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5.large"] };

function interruptFirst({ world, cloud }: Lab): readonly string[] {
  const own = cloud.machines().find(({ nodeName }) => world.store.get("Node", nodeName) !== undefined);
  if (own === undefined) throw new Error("no machine runs that could be interrupted");
  cloud.interruptSpot(own.instance.id);
  return [own.nodeName];
}

export const COURSES: readonly Course[] = [
  {
    name: "one machine",
    sources: ["notify"],
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" })],
    act: scale(2),
    pods: 2,
  },
  {
    name: "three machines",
    sources: ["notify"],
    objects: [NODE_CLASS, nodePool([ON_DEMAND, ONE_TYPE]), deployment(0, { cpu: "1500m" })],
    act: scale(3),
    pods: 3,
  },
  {
    name: "new NodePool",
    sources: ["notify"],
    objects: [deployment(2, { cpu: "1" })],
    act: ({ world }) => {
      for (const object of [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES])]) world.apply(object);
      return [];
    },
    pods: 2,
  },
  {
    name: "spot notice",
    sources: ["notify"],
    objects: [NODE_CLASS, nodePool([SPOT, FAMILIES]), deployment(0, { cpu: "1" })],
    prepare: scale(2),
    act: interruptFirst,
    pods: 2,
  },
  {
    name: "sweeps alone",
    sources: [],
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES]), deployment(0, { cpu: "1" })],
    act: scale(2),
    pods: 2,
  },
];

/** Seconds from the act until all pods run; undefined when they do not within MAX_MS. */
export async function secondsOf(course: Course, stack: Stack, hooks: CallHooks): Promise<number | undefined> {
  let hasBegun = false;
  const lab = createLab({
    ...{ seed: SEED, start: START, region: "us-west-2", sources: course.sources, catalogue: CATALOGUE, ec2: {} },
    ...(stack === "several" && { second: SECOND }),
    hooks: {
      before: (call) => (hasBegun ? hooks.before?.(call) : undefined),
      after: (call, result) => (hasBegun ? hooks.after?.(call, result) : undefined),
    },
  });
  try {
    const { clock } = lab.world;
    for (const object of course.objects) lab.world.apply(object);
    settleSecond(lab);
    await clock.run({ until: START + 2 * MINUTE });
    course.prepare?.(lab);
    await clock.run({ until: clock.now() + 3 * MINUTE });
    hasBegun = true;
    const began = clock.now();
    const leaving = new Set(course.act(lab));
    while (clock.now() - began < MAX_MS) {
      await clock.run({ until: clock.now() + STEP_MS });
      if (running(lab, leaving) >= course.pods) return (clock.now() - began) / 1_000;
    }
    return undefined;
  } finally {
    lab.close();
  }
}

/** How many pods run on nodes that stay. */
function running({ world }: Lab, leaving: ReadonlySet<string>): number {
  const pods = world.store.list("Pod") as unknown as readonly Pod[];
  const stays = ({ spec, metadata }: Pod): boolean => metadata.deletionTimestamp === undefined && !leaving.has(spec.nodeName ?? "");
  return pods.filter((pod) => pod.status?.phase === "Running" && stays(pod)).length;
}
