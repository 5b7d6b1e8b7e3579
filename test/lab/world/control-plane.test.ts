import { describe, expect, it } from "vitest";
import type { Pod } from "#core/model/pod.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { budget, deployment, lab, node, pod, workload } from "./support.ts";

/** Rules that were found by holding the lab against a real control plane (npm run verify -- lab-parity). */

type Lab = ReturnType<typeof lab>;
const settle = ({ clock }: Lab) => clock.run({ idle: 10_000 });
const find = ({ world }: Lab, name: string): Pod => world.store.get("Pod", name, "default") as unknown as Pod;
const podsOf = ({ world }: Lab): readonly Pod[] => world.store.list("Pod") as unknown as readonly Pod[];
const scheduled = (p: Pod) => p.status?.conditions?.find(({ type }) => type === "PodScheduled");
const message = (l: Lab, name: string): string | undefined => scheduled(find(l, name))?.message;
const cpu = (amount: string, more: object = {}) => ({ containers: [{ name: "c", resources: { requests: { cpu: amount } } }], ...more });
const play = async (...objects: readonly ApiObject[]): Promise<Lab> => {
  const l = lab();
  for (const object of objects) l.world.apply(object);
  await settle(l);
  return l;
};

describe("the message of an unschedulable pod", () => {
  const priority = (name: string, more: object = {}): ApiObject => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value: 1_000,
    ...more,
  });

  it("names nodes without victims apart from nodes where preemption cannot help", async () => {
    const l = await play(node("n", { cpu: "1" }), node("m", { cpu: "2" }), pod("p", { ...cpu("2"), nodeName: "m" }));
    l.world.apply(pod("late", cpu("2")));
    await settle(l);
    expect(message(l, "late")).toBe(
      "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: " +
        "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
    );
  });

  it("says that the pod's class never preempts", async () => {
    const polite = priority("polite", { preemptionPolicy: "Never" });
    const l = await play(polite, node("n", { cpu: "1" }), pod("first", cpu("1")));
    l.world.apply(pod("late", cpu("1", { priorityClassName: "polite" })));
    await settle(l);
    expect(message(l, "late")).toMatch(/preemption: not eligible due to preemptionPolicy=Never\.$/);
  });

  it("says nothing of preemption while the pod waits for its victims", async () => {
    const slow = pod("slow", cpu("1"));
    const l = await play(priority("high"), node("n", { cpu: "1" }), {
      ...slow,
      metadata: { ...slow.metadata, annotations: { "testcluster/stop-after": "20s" } },
    });
    l.world.apply(pod("urgent", cpu("1", { priorityClassName: "high" })));
    await l.clock.run({ until: l.clock.now() + 55 });
    expect(message(l, "urgent")).toBe("0/1 nodes are available: 1 Insufficient cpu.");
    expect(find(l, "urgent").status?.nominatedNodeName).toBe("n");
  });

  it("counts the nodes to which a DaemonSet's pod is not pinned", async () => {
    const l = await play(node("n", { cpu: "1" }), node("m", { cpu: "8" }), workload("DaemonSet", "agent", {}, cpu("2")));
    const [waiting] = podsOf(l).filter(({ spec }) => spec.nodeName === undefined);
    expect(waiting && scheduled(waiting)?.message).toMatch(
      /^0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) didn't satisfy plugin\(s\) \[NodeAffinity\]\./,
    );
  });

  it("says from the start that scheduling gates hold the pod back", async () => {
    const l = await play(node("n"), pod("gated", { schedulingGates: [{ name: "example.com/quota" }] }));
    expect(scheduled(find(l, "gated"))).toMatchObject({ status: "False", reason: "SchedulingGated" });
    expect(find(l, "gated").spec.nodeName).toBeUndefined();
  });
});

describe("the condition DisruptionTarget", () => {
  const reasonOf = (l: Lab, name: string) => {
    const reasons: (string | undefined)[] = [];
    l.world.onChange(({ object }) => {
      if (object.kind !== "Pod" || object.metadata.name !== name) return;
      reasons.push((object as unknown as Pod).status?.conditions?.find(({ type }) => type === "DisruptionTarget")?.reason);
    });
    return reasons;
  };

  it("says that a NoExecute taint removes the pod", async () => {
    const l = await play(node("n"), pod("p", { nodeName: "n" }));
    const seen = reasonOf(l, "p");
    l.world.apply(node("n", { taints: [{ key: "maintenance", effect: "NoExecute" }] }));
    await settle(l);
    expect(seen).toContain("DeletionByTaintManager");
  });

  it("says that the pod was evicted", async () => {
    const l = await play(node("n"), pod("p", { nodeName: "n" }));
    const seen = reasonOf(l, "p");
    expect(await l.kubernetes.evict(find(l, "p"))).toBe("evicted");
    expect(seen).toContain("EvictionByEvictionAPI");
  });

  it("says that the node is gone, and the pod has failed before it is removed", async () => {
    const l = await play(node("n"), pod("p", { nodeName: "n" }));
    const seen = reasonOf(l, "p");
    const phases: (string | undefined)[] = [];
    l.world.onChange(({ object }) => void (object.kind === "Pod" && phases.push((object as unknown as Pod).status?.phase)));
    l.world.delete("Node", "n");
    await l.clock.run({ until: l.clock.now() + 60_000 });
    expect(seen).toContain("DeletionByPodGC");
    expect(phases).toContain("Failed");
    expect(podsOf(l)).toEqual([]);
  });
});

describe("admission of pods", () => {
  it("adds overhead, node selector and tolerations of the RuntimeClass", async () => {
    const kata: ApiObject = {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "kata" },
      handler: "kata",
      overhead: { podFixed: { cpu: "500m" } },
      scheduling: { nodeSelector: { sandbox: "kata" }, tolerations: [{ key: "sandbox", operator: "Exists" }] },
    };
    const sandbox = { cpu: "3", labels: { sandbox: "kata" }, taints: [{ key: "sandbox", effect: "NoSchedule" }] };
    const l = await play(kata, node("plain"), node("kata", sandbox), deployment("web", 3, cpu("1", { runtimeClassName: "kata" })));
    expect(
      podsOf(l)
        .map(({ spec }) => spec.nodeName ?? "-")
        .sort(),
    ).toEqual(["-", "kata", "kata"]);
    expect(podsOf(l)[0]?.spec.overhead).toEqual({ cpu: "500m" });
  });

  it.for([
    { what: "nothing", resources: undefined, want: "900m" },
    { what: "a limit", resources: { limits: { cpu: "1500m" } }, want: "1500m" },
    { what: "a request", resources: { requests: { cpu: "100m" } }, want: "100m" },
  ])("gives a container that says $what its request by the LimitRange of its namespace", async ({ resources, want }) => {
    const range: ApiObject = {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "defaults", namespace: "default" },
      spec: { limits: [{ type: "Container", defaultRequest: { cpu: "900m" }, default: { cpu: "1" } }] },
    };
    const l = await play(range, pod("p", { containers: [{ name: "c", ...(resources && { resources }) }] }));
    expect(find(l, "p").spec.containers?.[0]?.resources?.requests?.["cpu"]).toBe(want);
  });
});

describe("admission of claims", () => {
  const claim = (name: string, metadata: object = {}): ApiObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const gp3: ApiObject = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "gp3", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "ebs.csi.aws.com",
    volumeBindingMode: "WaitForFirstConsumer",
  };

  it("names the default class in a claim that names none, also in its legacy annotation", async () => {
    const legacy = claim("legacy", { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } });
    const l = await play(gp3, claim("plain"), legacy);
    const specOf = (name: string) => l.world.store.get("PersistentVolumeClaim", name, "default")?.spec;
    expect(specOf("plain")).toMatchObject({ storageClassName: "gp3" });
    expect(specOf("legacy")).not.toHaveProperty("storageClassName");
  });

  it("leaves a claim without a class alone while there is no default class", async () => {
    const l = await play({ ...gp3, metadata: { name: "gp3" } }, node("n"), claim("plain"));
    l.world.apply(pod("p", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "plain" } }] }));
    await settle(l);
    expect(message(l, "p")).toContain("pod has unbound immediate PersistentVolumeClaims");
  });
});

describe("volumes that exist already", () => {
  const storageClass = (more: object = {}): ApiObject => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "local" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
    ...more,
  });
  const volume = (name: string, storage: string, zone: string, storageClassName = "local"): ApiObject => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: {
      storageClassName,
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }] } },
    },
  });
  const claim = (name: string, storage: string, more: object = { storageClassName: "local" }): ApiObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
  });
  const uses = (...names: readonly string[]) => ({
    volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  });
  const zones = [node("a", { labels: { zone: "a" } }), node("b", { labels: { zone: "b" } })];
  const bound = ({ world }: Lab, name: string) =>
    (world.store.get("PersistentVolumeClaim", name, "default")?.spec as { readonly volumeName?: string } | undefined)?.volumeName;

  it("lead the pod to their node, the smallest that is large enough", async () => {
    const volumes = [volume("large", "100Gi", "b"), volume("small", "10Gi", "a")];
    const l = await play(...zones, storageClass(), ...volumes, claim("data", "5Gi"), claim("more", "50Gi"));
    l.world.apply(pod("first", uses("more")));
    await settle(l);
    l.world.apply(pod("second", uses("data")));
    await settle(l);
    expect([bound(l, "more"), bound(l, "data")]).toEqual(["large", "small"]);
    expect([find(l, "first").spec.nodeName, find(l, "second").spec.nodeName]).toEqual(["b", "a"]);
  });

  it("are not made by a class without a provisioner", async () => {
    const l = await play(...zones, storageClass(), volume("small", "10Gi", "a"), claim("huge", "1Ti"), pod("p", uses("huge")));
    expect(message(l, "p")).toMatch(/2 node\(s\) didn't find available persistent volumes to bind\./);
  });

  it("are not given to two claims of one pod", async () => {
    const l = await play(
      ...zones,
      storageClass(),
      volume("one", "10Gi", "a"),
      claim("x", "1Gi"),
      claim("y", "1Gi"),
      pod("p", uses("x", "y")),
    );
    expect(find(l, "p").spec.nodeName).toBeUndefined();
  });

  it("are bound to a claim that names them, or that has no class", async () => {
    const l = await play(
      ...zones,
      volume("named", "10Gi", "b", "nfs"),
      volume("free", "10Gi", "a", ""),
      claim("by-name", "1Gi", { storageClassName: "nfs", volumeName: "named" }),
      claim("classless", "1Gi", {}),
      pod("p", uses("by-name")),
    );
    expect([bound(l, "classless"), find(l, "p").spec.nodeName]).toEqual(["free", "b"]);
  });

  it("nominate the node before the pod is bound", async () => {
    const l = lab();
    const seen: boolean[] = [];
    l.world.onChange(({ object }) => {
      if (object.kind !== "Pod") return;
      const { spec, status } = object as unknown as Pod;
      seen.push(status?.nominatedNodeName === "a" && spec.nodeName === undefined);
    });
    for (const object of [...zones, storageClass(), volume("v", "10Gi", "a"), claim("data", "5Gi"), pod("p", uses("data"))])
      l.world.apply(object);
    await settle(l);
    expect(seen).toContain(true);
    expect(find(l, "p").status?.nominatedNodeName).toBeUndefined();
  });
});

describe("controllers", () => {
  it("number the pods of a StatefulSet from its first ordinal, and remove the others", async () => {
    const l = await play(node("n", { cpu: "8" }), workload("StatefulSet", "db", { replicas: 2, ordinals: { start: 5 } }));
    expect(podsOf(l).map(({ metadata }) => metadata.name)).toEqual(["db-5", "db-6"]);
    l.world.apply(workload("StatefulSet", "db", { replicas: 2, ordinals: { start: 6 } }));
    await settle(l);
    expect(podsOf(l).map(({ metadata }) => metadata.name)).toEqual(["db-6", "db-7"]);
  });

  it("allow no disruption by a budget that names neither minAvailable nor maxUnavailable", async () => {
    const l = await play(node("n"), deployment("web", 2), budget("empty", "web", {}));
    const status = l.world.store.get("PodDisruptionBudget", "empty", "default")?.status;
    expect(status).toMatchObject({ expectedPods: 0, desiredHealthy: 0, currentHealthy: 2, disruptionsAllowed: 0 });
  });

  it("say why a Job is suspended", async () => {
    const l = await play(workload("Job", "later", { suspend: true }));
    const job = l.world.store.get("Job", "later", "default") as unknown as { readonly status: { readonly conditions: readonly object[] } };
    expect(job.status.conditions).toMatchObject([{ type: "Suspended", status: "True", reason: "JobSuspended" }]);
  });
});
