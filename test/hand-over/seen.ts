import { LONG, list, type Thing } from "../e2e/observe.ts";
import type { Stage } from "../e2e/stage.ts";
import { eventually } from "../e2e/support/wait.ts";

// What a person sees of the pods and of the bill.

/** The machines that are paid for now, and where each pod runs. */
export interface Seen {
  readonly machines: readonly string[];
  readonly pods: ReadonlyMap<string, string>;
}

export const alive = ({ fake }: Pick<Stage, "fake">) =>
  [...fake.state.instances.values()].filter(({ state }) => state === "pending" || state === "running");

/** Pods of the default namespace that are not being deleted. */
export async function podsIn({ cluster }: Pick<Stage, "cluster">): Promise<readonly Thing[]> {
  const { items } = await cluster.get<{ items: readonly Thing[] }>("/api/v1/namespaces/default/pods");
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export async function see(stage: Stage): Promise<Seen> {
  const pods = new Map((await podsIn(stage)).map(({ metadata, spec }) => [metadata.name, spec.nodeName ?? "-"]));
  const machines = alive(stage)
    .map(({ id }) => id)
    .sort();
  return { machines, pods };
}

/** Waits until so many pods run, each on a machine of its own, and no other machine is there. */
export const settled = (stage: Stage, count: number): Promise<Seen> =>
  eventually(
    `${count} pods run on ${count} machines`,
    async () => {
      const pods = await podsIn(stage);
      const claims = await list(stage, "nodeclaims");
      const running = pods.filter(({ status }) => status?.phase === "Running");
      const machines = alive(stage);
      if ([running, pods, claims, machines].every(({ length }) => length === count)) return see(stage);
      throw new Error(`${running.length} of ${pods.length} pods run; ${claims.length} NodeClaims; ${machines.length} machines`);
    },
    { timeoutMs: LONG, everyMs: 500 },
  );

/** Throws where a machine came or went, or a pod was moved. */
export function sameAs(before: Seen, after: Seen): void {
  if (before.machines.join() !== after.machines.join())
    throw new Error(`the machines were ${before.machines.join(", ")} and are ${after.machines.join(", ")}`);
  onSameNodes(before, after);
}

/** Throws where a machine went or a pod was moved; new ones may be there. */
export function goesOn(before: Seen, after: Seen): void {
  const gone = before.machines.filter((id) => !after.machines.includes(id));
  if (gone.length > 0) throw new Error(`machines are gone: ${gone.join(", ")}`);
  onSameNodes(before, after);
}

function onSameNodes(before: Seen, after: Seen): void {
  for (const [name, node] of before.pods) {
    const now = after.pods.get(name);
    if (now !== node) throw new Error(`pod ${name} was on ${node} and is ${now === undefined ? "gone" : `on ${now}`}`);
  }
}

/** Throws where a node is to go: no autoscaler may think that it has drifted or is not needed. */
export async function unmarked(stage: Stage): Promise<void> {
  const marks = (await list(stage, "nodeclaims")).flatMap(({ metadata, status }) =>
    (status?.conditions ?? [])
      .filter(({ type, status: value }) => (type === "Drifted" || type === "DisruptionReason") && value === "True")
      .map(({ type, reason }) => `${metadata.name} ${type} ${reason}`),
  );
  const taints = (await list(stage, "nodes")).flatMap(({ metadata, spec }) =>
    (spec.taints ?? []).filter(({ key }) => key.startsWith("karpenter.sh/")).map(({ key }) => `${metadata.name} ${key}`),
  );
  if (marks.length + taints.length > 0) throw new Error([...marks, ...taints].join("; "));
}
