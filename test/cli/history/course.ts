import type { HistorySource } from "#cli/history/source.ts";
import type { Lab } from "#lab/host.ts";
import { FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, openLab, SPOT, START } from "../../simulation/story.ts";

const MINUTE = 60_000;

/** A pod that no node of the NodePool can ever hold. */
const STUCK = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "stuck", namespace: "shop" },
  spec: { nodeSelector: { team: "blue" }, containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "1" } } }] },
};

/** A small pod that comes while machines are on their way. */
const LATE = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "late", namespace: "shop" },
  spec: { containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "10m" } } }] },
};

const SPOT_POOL = { ...nodePool([SPOT, FAMILIES]), metadata: { name: "spot" } };

/** Pods of 1 cpu that run on machines of one capacity type. */
const pods = (name: string, replicas: number, capacityType: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        nodeSelector: { "karpenter.sh/capacity-type": capacityType },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "main", image: "pause", resources: { requests: { cpu: "1" } } }],
      },
    },
  },
});

/** An hour of a lab in which pods come, one waits in vain, EC2 takes a machine back, and pods go. */
export async function troubledHour(): Promise<{ readonly lab: Lab; readonly source: HistorySource }> {
  const lab = openLab(1, {});
  const { clock } = lab.world;
  const pass = (minutes: number): Promise<unknown> => clock.run({ until: clock.now() + minutes * MINUTE });
  const objects = [
    NODE_CLASS,
    nodePool([ON_DEMAND, FAMILIES]),
    SPOT_POOL,
    pods("inflate", 7, "on-demand"),
    pods("batch", 2, "spot"),
    STUCK,
  ];
  for (const object of objects) lab.world.apply(object);
  await pass(1 / 3);
  lab.world.apply(LATE);
  await pass(5);
  lab.world.delete("Pod", "late", "shop");
  await pass(5);
  const [first] = lab.cloud.machines().filter(({ instance }) => instance.state === "running" && instance.capacityType === "spot");
  if (first === undefined) throw new Error("no machine runs");
  lab.cloud.interruptSpot(first.instance.id);
  await pass(10);
  lab.world.scale("Deployment", "default", "inflate", 1);
  await pass(40);
  return { lab, source: { cluster: lab.world.cluster, now: clock.now(), store: lab.deps.store, close: () => {} } };
}

export { START };
