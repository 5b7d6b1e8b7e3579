import { createLab, type Lab, type LabOptions } from "#lab/host.ts";
import type { RecursiveLoop } from "#lab/world/lineage.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { CATALOGUE, deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, SPOT, START } from "../simulation/story.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** How long the world runs before the case begins, and at most after it. */
const SETTLED_MS = 4 * MINUTE;
const MAX_MS = 4 * 60 * MINUTE;

/** An ordinary end of nodes, whose wake-ups are counted. */
export interface Case {
  readonly name: string;
  readonly objects: readonly ApiObject[];
  readonly replicas: number;
  /** What ends the nodes that exist at that moment. */
  readonly begin: (lab: Lab) => void;
  /** Its chain may be longer than Lambda's guard allows: nobody knows when what it waits for comes. */
  readonly isOpenEnded?: boolean;
}

/** What came of a case. */
export interface Outcome {
  /** How often messages of one chain ran one function, at most. */
  readonly longest: number;
  /** From the beginning of the case until its nodes and their NodeClaims were gone. */
  readonly seconds: number;
  readonly deadLetters: number;
  /** How often Lambda has stopped a chain. */
  readonly stopped: number;
  /** Invocations of the lifecycle function for the case. */
  readonly lifecycles: number;
}

const KEEPS = { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never", budgets: [{ nodes: "10%" }] } };

/** Pods of 1 CPU that run on for `stays` seconds after their deletion; their grace period is `grace`. */
function podsThatStay(stays: number, grace = stays, requests: object = { cpu: "1" }): ApiObject {
  const made = deployment(0, requests) as ApiObject & { readonly spec: { readonly template: { metadata: object; spec: object } } };
  const { template } = made.spec;
  const metadata = { ...template.metadata, annotations: { "testcluster/stop-after": `${stays}s` } };
  const spec = { ...made.spec, template: { metadata, spec: { ...template.spec, terminationGracePeriodSeconds: grace } } };
  return { ...made, spec } as ApiObject;
}

const deleteNodeClaims = ({ world }: Lab): void => {
  for (const { metadata } of world.store.list("NodeClaim")) world.delete("NodeClaim", metadata.name);
};

const noticeSpot = ({ cloud }: Lab): void => {
  for (const { instance, endedAt } of cloud.machines()) if (endedAt === undefined) cloud.interruptSpot(instance.id);
};

/** Another label in the NodePool's template: all its nodes are drifted. */
function drift({ world }: Lab): void {
  const pool = nodePool([ON_DEMAND, FAMILIES], KEEPS) as ApiObject & { readonly spec: { readonly template: object } };
  const template = { ...pool.spec.template, metadata: { labels: { edition: "second" } } };
  world.apply({ ...pool, spec: { ...pool.spec, template } } as ApiObject);
}

const drain = (stays: number, grace = stays): Case => ({
  name: grace === stays ? `drain, pods stay ${stays} s` : `drain, pods stay ${stays} s of ${grace} s`,
  objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES], KEEPS), podsThatStay(stays, grace)],
  replicas: 3,
  begin: deleteNodeClaims,
});

const BUDGET: ApiObject = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "inflate", namespace: "default" },
  spec: { minAvailable: "100%", selector: { matchLabels: { app: "inflate" } } },
} as ApiObject;

/** A PodDisruptionBudget that allows no eviction for some minutes. */
const blocked = (minutes: number): Case => ({
  name: `drain, a PodDisruptionBudget blocks it for ${minutes} minutes`,
  objects: [...drain(10).objects, BUDGET],
  replicas: 3,
  isOpenEnded: true,
  begin: (lab) => {
    deleteNodeClaims(lab);
    lab.world.clock.after(minutes * MINUTE, "the budget is removed", () => {
      lab.world.delete("PodDisruptionBudget", "inflate", "default");
    });
  },
});

/** The cases; `drifting` nodes drift together. */
export const casesOf = (drifting: number): readonly Case[] => [
  ...[0, 10, 20, 40, 120].map((stays) => drain(stays)),
  drain(20, 120),
  {
    name: "spot notice, pods stay 30 s",
    objects: [NODE_CLASS, nodePool([SPOT, FAMILIES], KEEPS), podsThatStay(30)],
    replicas: 3,
    begin: noticeSpot,
  },
  blocked(8),
  {
    name: `${drifting} drifting nodes, pods stay 30 s`,
    // One pod fills a node.
    objects: [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES], { ...KEEPS, limits: { cpu: 1_000_000 } }), podsThatStay(30, 30, { cpu: "14" })],
    replicas: drifting,
    begin: drift,
  },
];

/** The stack's functions under Lambda's guard, as an account has it by default. */
const GUARDED: Readonly<Record<string, RecursiveLoop>> = {};

/** Plays a case under AWS's times until all nodes that it ends are gone. */
export async function playCase(one: Case, options: Pick<LabOptions, "sources"> & { readonly isGuarded: boolean }): Promise<Outcome> {
  const lab = createLab({
    ...{ seed: 1, start: START, region: "us-west-2", world: "aws", sources: options.sources, catalogue: CATALOGUE },
    ...(options.isGuarded && { recursiveLoop: GUARDED }),
  });
  const { clock, store } = lab.world;
  for (const object of one.objects) lab.world.apply(object);
  await clock.run({ until: clock.now() + 65 * SECOND });
  lab.world.scale("Deployment", "default", "inflate", one.replicas);
  await clock.run({ until: clock.now() + SETTLED_MS });
  const before = lab.invocations.get("lifecycle") ?? 0;
  const ending = new Set([...store.list("Node"), ...store.list("NodeClaim")].map(({ metadata }) => metadata.uid));
  const began = clock.now();
  one.begin(lab);
  const areGone = (): boolean => ![...store.list("Node"), ...store.list("NodeClaim")].some(({ metadata }) => ending.has(metadata.uid));
  const end = await clock.run({ until: areGone, latest: began + MAX_MS });
  if (ending.size === 0 || end !== "until")
    throw new Error(`${one.name}: ${ending.size} objects did not end within ${MAX_MS / MINUTE} minutes`);
  const seconds = Math.round((clock.now() - began) / SECOND);
  const lifecycles = (lab.invocations.get("lifecycle") ?? 0) - before;
  // What Lambda has stopped becomes a dead letter after its last delivery.
  await clock.run({ until: clock.now() + 60 * MINUTE });
  const queues = Object.values(lab.wakeUps).filter((queue) => typeof queue === "object");
  lab.close();
  return {
    longest: Math.max(...lab.chains.longest.values()),
    seconds,
    deadLetters: queues.reduce((sum, { deadLetters }) => sum + deadLetters.length, 0),
    stopped: [...lab.chains.stopped.values()].reduce((sum, count) => sum + count, 0),
    lifecycles,
  };
}
