import type { Lab } from "#lab/host.ts";
import type { SimulatedInstance } from "#lab/world/simulated-instance.ts";
import type { MutableObject } from "#lab/world/store.ts";
import { USER } from "#lab/world/world.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { isOrdinary, ODD, SICKNESS } from "./invariants/facts.ts";
import { ringNeighbour } from "./neighbour.ts";
import { hold } from "./pauses.ts";
import type { Act, Pick } from "./script.ts";
import { SECOND_WORKLOAD } from "./second-cluster.ts";

const MINUTE_MS = 60_000;

/** Performs one act. When its object no longer exists nothing happens, as for a user who is too late. */
export function perform(act: Act, lab: Lab): void {
  const { world, cloud } = lab;
  switch (act.what) {
    case "scale":
      if (world.store.get("Deployment", act.workload, "default")) world.scale("Deployment", "default", act.workload, act.replicas);
      return;
    case "run job":
      world.apply(job(act));
      return;
    case "delete job":
      world.delete("Job", act.name, "default");
      return;
    case "restart":
      restart(lab, act.workload);
      return;
    case "delete pod":
      withPicked(lab, "Pod", act.pick, ({ metadata }) => void world.delete("Pod", metadata.name, metadata.namespace));
      return;
    case "hold pod":
      withPicked(lab, "Pod", act.pick, ({ metadata }) => holdPod(lab, metadata.name, metadata.namespace, act.value));
      return;
    case "delete node":
      withPicked(lab, "Node", act.pick, ({ metadata }) => void world.delete("Node", metadata.name));
      return;
    case "delete claim":
      withPicked(lab, "NodeClaim", act.pick, ({ metadata }) => void world.delete("NodeClaim", metadata.name));
      return;
    case "edit pool":
      world.store.patch("NodePool", act.pool, undefined, { user: USER }, (pool: MutableObject) => ({
        ...pool,
        spec: merge(pool.spec, act.spec),
      }));
      return;
    case "delete pool":
      world.delete("NodePool", act.pool);
      return;
    case "apply":
      world.apply(act.object);
      return;
    case "delete":
      world.delete(act.kind, act.name, act.namespace);
      return;
    case "twin node":
      twinNode(lab, act);
      return;
    case "break hardware":
      breakHardware(lab, act);
      return;
    case "others reserve":
      cloud.reservations.splice(0, 1, ...cloud.reservations.slice(0, 1).map((one) => ({ ...one, instances: act.left })));
      return;
    case "scale second":
      lab.second?.scale("Deployment", "default", SECOND_WORKLOAD, act.replicas);
      return;
    case "ring neighbour":
      ringNeighbour(lab);
      return;
    case "interrupt":
      withMachine(lab, act.pick, (m) => m.instance.capacityType === "spot", cloud.interruptSpot);
      return;
    case "recommend rebalance":
      withMachine(lab, act.pick, (m) => m.instance.capacityType === "spot", cloud.recommendRebalance);
      return;
    case "retire machine":
      withMachine(lab, act.pick, () => true, cloud.scheduleRetirement);
      return;
    case "stop machine":
      // Which machine is picked says nothing of the pick's further digits.
      withMachine(lab, act.pick, () => true, (act.pick * 1_000) % 1 < POWERED_OFF_SHARE ? cloud.powerOff : cloud.kill);
      return;
    case "spot prices":
      cloud.moveSpotPrices(act.spot);
      return;
    case "pause":
      hold(lab, act);
      return;
    case "read prices":
      lab.readPrices();
      return;
    case "outage":
      cloud.outages.push({ ...act.of, until: world.clock.now() + act.minutes * MINUTE_MS });
      return;
  }
}

/** The share of machines that somebody stops which are not terminated, but powered off. */
const POWERED_OFF_SHARE = 0.4;

function withPicked({ world }: Lab, kind: string, pick: Pick, act: (object: ApiObject) => void): void {
  const objects = world.store.list(kind);
  const picked = objects[Math.floor(pick * objects.length)];
  if (picked) act(picked);
}

function withMachine({ cloud }: Lab, pick: Pick, which: (machine: SimulatedInstance) => boolean, act: (instanceId: string) => void): void {
  const machines = cloud.machines().filter((m) => m.endedAt === undefined && which(m));
  const picked = machines[Math.floor(pick * machines.length)];
  if (picked) act(picked.instance.id);
}

/**
 * A node with the providerID, the labels and the state of another, which its kubelet never renews. It takes no pods, so
 * that those of others have no part in it.
 */
function twinNode(lab: Lab, { pick, minutes }: Extract<Act, { what: "twin node" }>): void {
  const { clock, store } = lab.world;
  withPicked(lab, "Node", pick, ({ metadata, spec, status, ...node }) => {
    const name = `${ODD}-${metadata.name}`;
    if (!isOrdinary({ metadata }) || store.get("Node", name) !== undefined) return;
    const taints = [{ key: "sim/twin", effect: "NoSchedule" }];
    const writer = { user: `system:node:${name}` };
    store.create({ ...node, metadata: { name, labels: { ...metadata.labels } }, spec: { ...(spec as object), taints } }, writer);
    store.patch("Node", name, undefined, { ...writer, subresource: "status" }, (twin: MutableObject) => ({ ...twin, status }));
    clock.after(minutes * MINUTE_MS, "the twin is deleted", () => void lab.world.delete("Node", name));
  });
}

/** As EKS's node monitoring agent writes it. */
function breakHardware(lab: Lab, { pick, minutes }: Extract<Act, { what: "break hardware" }>): void {
  const { clock, store } = lab.world;
  const report = (name: string, status: "True" | "False"): void => {
    const reason = status === "True" ? "AcceleratedHardwareIsReady" : "NvidiaXID79Error";
    const condition = { type: SICKNESS, status, reason, lastTransitionTime: new Date(clock.now()).toISOString() };
    store.patch("Node", name, undefined, { user: "system:serviceaccount:kube-system:monitoring", subresource: "status" }, (node) => {
      const others = (node.status?.conditions ?? []).filter(({ type }: { readonly type: string }) => type !== SICKNESS);
      node.status = { ...node.status, conditions: [...others, condition] };
      return node;
    });
  };
  withPicked(lab, "Node", pick, ({ metadata }) => {
    report(metadata.name, "False");
    if (minutes !== undefined) clock.after(minutes * MINUTE_MS, "hardware works again", () => report(metadata.name, "True"));
  });
}

function holdPod({ world }: Lab, name: string, namespace: string | undefined, value: string | undefined): void {
  world.store.patch("Pod", name, namespace, { user: USER }, (pod: MutableObject) => {
    const { "karpenter.sh/do-not-disrupt": _, ...others } = pod.metadata.annotations ?? {};
    pod.metadata.annotations = value === undefined ? others : { ...others, "karpenter.sh/do-not-disrupt": value };
    return pod;
  });
}

/** As `kubectl rollout restart deployment`. */
function restart({ world }: Lab, workload: string): void {
  const at = new Date(world.clock.now()).toISOString();
  world.store.patch("Deployment", workload, "default", { user: USER }, (deployment: MutableObject) => {
    const { metadata } = deployment.spec.template;
    deployment.spec.template.metadata = { ...metadata, annotations: { ...metadata?.annotations, "kubectl.kubernetes.io/restartedAt": at } };
    return deployment;
  });
}

function job({ name, pods, cpu }: Extract<Act, { what: "run job" }>): ApiObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: "default" },
    spec: {
      completions: pods,
      parallelism: pods,
      template: {
        metadata: { labels: { job: name } },
        spec: { containers: [{ name: "work", image: "work", resources: { requests: { cpu, memory: "256Mi" } } }] },
      },
    },
  };
}

/** As `kubectl patch --type merge`. */
function merge(into: MutableObject, change: MutableObject): MutableObject {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const result = { ...into };
  for (const [key, value] of Object.entries(change)) result[key] = merge(into?.[key], value);
  return result;
}
