import { describe, expect, it } from "vitest";
import { parseSettings } from "#infra/settings.ts";
import { adopt } from "#installer/migrate/adopt.ts";
import { readKarpenter, withKarpenters } from "#installer/migrate/from-karpenter.ts";
import { INSTALL_KILLS_EVERY } from "../../support/effort.ts";
import { Killed } from "../install/world.ts";
import { claim, KarpenterWorld } from "./world.ts";

const OPTIONS = { cluster: "c1", stackName: "karpenter-serverless", keepDeployment: false, dryRun: false, installs: false };

/** The functions' rights, by which they mark NodeClaims. */
const RIGHTS = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "karpenter-serverless:lifecycle" } };

function beside(changed: ConstructorParameters<typeof KarpenterWorld>[0] = {}): KarpenterWorld {
  const world = new KarpenterWorld(changed);
  world.objects.set("ClusterRole/karpenter-serverless:lifecycle", RIGHTS);
  return world;
}

async function run(world: KarpenterWorld, changed: Partial<typeof OPTIONS> = {}) {
  const lines: string[] = [];
  const answer = await adopt({ ...OPTIONS, ...changed }, world.adoptPorts(), (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, text: lines.join("\n") };
}

/** Records by what matters; ids are random. */
const records = async (world: KarpenterWorld) =>
  (await world.records.list("c1")).map(({ name, uid, instance, reason }) => ({ name, uid, instance: instance?.id, reason }));

describe("adopt", () => {
  it("ends Karpenter, waits for its pods and its Lease, and writes a record for each NodeClaim", async () => {
    const world = beside();
    const { answer, text } = await run(world);
    expect(answer).toMatchObject({ output: expect.stringContaining("cluster c1: the functions have 2 NodeClaims; the way back: ") });
    expect(await records(world)).toEqual([
      { name: "default-1", uid: "uid-1", instance: "i-1", reason: "adopted" },
      { name: "default-2", uid: "uid-2", instance: "i-2", reason: "adopted" },
    ]);
    expect(world.deployment.spec.replicas).toBe(0);
    expect(world.deployment.metadata.annotations).toEqual({ "karpenter-serverless/former-replicas": "2" });
    expect(text.split("\n").slice(-9)).toEqual([
      "ok     its queue: q1 stays for the way back; nothing reads it meanwhile, and SQS drops its messages by age",
      "scaled Deployment kube-system/karpenter from 2 to 0",
      "waiting for the end of karpenter-1",
      "waiting until Lease kube-system/karpenter-leader-election is given back, a minute at most when Karpenter was killed",
      "wrote the records of 2 NodeClaims; 0 need none",
      "waiting until the functions have taken up 2 NodeClaims, which their sweep does within a minute or two",
      "NODECLAIM  NODEPOOL  NODE    INSTANCE  TYPE      ZONE        CAPACITY",
      "default-1  default   node-1  i-1       m5.large  us-west-2a  spot      is adopted: it stays as it is",
      "default-2  default   node-2  i-2       m5.large  us-west-2a  spot      is adopted: it stays as it is",
    ]);
  });

  it("it is killed before or after a call, run again, and everything is as after one run", { timeout: 120_000 }, async () => {
    const whole = beside();
    await run(whole);
    const total = whole.calls;
    expect(total).toBeGreaterThan(15);
    for (let call = 1; call <= total; call += INSTALL_KILLS_EVERY) {
      for (const when of ["before", "after"] as const) {
        const world = beside();
        world.killAt = { call, when };
        expect((await run(world)).answer, `${when} call ${call}`).toBeInstanceOf(Killed);
        world.killAt = undefined;
        expect((await run(world)).answer, `${when} call ${call}`).not.toBeInstanceOf(Error);
        expect(await records(world), `${when} call ${call}`).toEqual(await records(whole));
        expect(world.deployment, `${when} call ${call}`).toEqual(whole.deployment);
      }
    }
  });

  it("a NodeClaim with a record is left as it is, and one that another cluster's instance is named by gets none", async () => {
    const world = beside();
    await run(world);
    world.objects.set("NodeClaim/copy", claim(1, { metadata: { ...claim(1).metadata, name: "copy", uid: "uid-copy" } }));
    const { text } = await run(world);
    expect(text).toContain("wrote the records of 0 NodeClaims; 3 need none");
    expect(text).toMatch(/^copy .* delete it: instance i-1 is that of NodeClaim default-1$/m);
    expect(await records(world)).toHaveLength(2);
  });

  it("a NodeClaim that is being deleted is adopted too, so that its node drains to its end", async () => {
    const world = beside({ claims: 1 });
    const leaving = { ...claim(1).metadata, deletionTimestamp: "2026-11-23T11:59:00Z" };
    world.objects.set("NodeClaim/default-1", claim(1, { metadata: leaving }));
    world.endsNothing = true;
    expect((await run(world)).answer).not.toBeInstanceOf(Error);
    expect(await records(world)).toMatchObject([{ name: "default-1", instance: "i-1" }]);
  });

  it("a dry run lists the NodeClaims and changes nothing", async () => {
    const world = beside();
    const before = world.end();
    const { answer, text } = await run(world, { dryRun: true });
    expect(answer).toMatchObject({ isUsable: true });
    expect(text).toContain("- scale Deployment kube-system/karpenter to 0, and wait until its pods and its Lease have ended");
    expect(text).toContain("- write the records of 2 NodeClaims");
    expect(world.end()).toEqual(before);
    expect(await records(world)).toEqual([]);
  });

  it("functions that take nothing up are told with what to look at, and the exit code says so", async () => {
    const world = beside();
    world.functionsRun = false;
    const { answer } = await run(world);
    expect(answer).toMatchObject({
      isUsable: false,
      messages: [expect.stringContaining("have not taken up 2 NodeClaims (default-1, default-2)")],
    });
  });
});

describe("before anything is changed, adopt refuses", () => {
  const container = (image: string, env: object = {}) => ({
    ...{
      replicas: 2,
      selector: {},
      template: { spec: { containers: [{ image, env: Object.entries(env).map(([name, value]) => ({ name, value })) }] } },
    },
  });
  const image = "public.ecr.aws/karpenter/controller";

  it.for<{ readonly what: string; readonly change: (world: KarpenterWorld) => void; readonly want: string; readonly keep?: true }>([
    {
      what: "without a stack",
      change: (world) => {
        world.stack = undefined;
      },
      want: "FAULT  stack: there is no stack karpenter-serverless; run karpenter-serverless install --cluster c1 --from-karpenter",
    },
    {
      what: "with a stack of other clusters",
      change: (world) => {
        if (world.stack !== undefined) world.stack.outputs = { ...world.outputs, Clusters: "c2" };
      },
      want: "FAULT  stack: karpenter-serverless serves c2 and not c1",
    },
    {
      what: "beside a Karpenter whose Deployment nobody finds",
      change: (world) => world.objects.delete("Deployment/karpenter"),
      want: "FAULT  Karpenter: it runs (Lease kube-system/karpenter-leader-election), and no Deployment of it is found",
    },
    {
      what: "a Karpenter of v1beta1",
      change: (world) => world.change("Deployment/karpenter", { spec: container(`${image}:0.37.5`, { CLUSTER_NAME: "c1" }) }),
      want: "FAULT  its version: 0.37.5 stores objects as v1beta1",
    },
    {
      what: "a Karpenter of another cluster's name",
      change: (world) => world.change("Deployment/karpenter", { spec: container(`${image}:1.14.1`, { CLUSTER_NAME: "other" }) }),
      want: "FAULT  its cluster: its CLUSTER_NAME is other",
    },
    {
      what: "to leave a Deployment alone that runs",
      change: () => {},
      keep: true,
      want: "FAULT  its Deployment: it still runs; end it, then run this again: kubectl scale deployment karpenter --namespace kube-system --replicas 0",
    },
    {
      what: "objects that may be stored as v1beta1",
      change: (world) => world.change("CustomResourceDefinition/nodepools.karpenter.sh", { status: { storedVersions: ["v1beta1", "v1"] } }),
      want: "FAULT  CRDs: objects may still be stored as nodepools.karpenter.sh v1beta1",
    },
    {
      what: "node roles that the functions may not pass",
      change: (world) => world.deploy({ clusters: [{ name: "c1" }] }),
      want: "FAULT  node roles: the functions may not pass team/nodes to EC2",
    },
  ])("$what", async ({ change, want, keep = false }) => {
    const world = beside();
    change(world);
    const before = world.end();
    const { answer, text } = await run(world, { keepDeployment: keep });
    expect(text).toContain(want);
    expect(String(answer)).toContain("so nothing was changed");
    expect(world.end()).toEqual(before);
  });

  it("and notes what a repository would undo, and which settings differ", async () => {
    const world = beside();
    world.change("Deployment/karpenter", {
      metadata: {
        name: "karpenter",
        namespace: "kube-system",
        labels: { "argocd.argoproj.io/instance": "k", "app.kubernetes.io/name": "karpenter" },
      },
    });
    const { text } = await run(world, { dryRun: true });
    expect(text).toContain("note   its Deployment: Argo CD keeps it as a repository has it");
    expect(text).toContain("note   BATCH_IDLE_DURATION: 2s for Karpenter, the default here; install --from-karpenter carries it over");
  });
});

describe("install --from-karpenter", () => {
  it("takes Karpenter's settings and the roles of its EC2NodeClasses, and a person's own settings come first", async () => {
    const world = beside();
    const found = await readKarpenter(world.adoptPorts().clusterApi("c1"), "c1");
    expect(found).toEqual({ settings: { BATCH_IDLE_DURATION: "2s" }, nodeRoles: ["team/nodes"] });
    const own = parseSettings({ clusters: [{ name: "c1" }, { name: "c2" }], settings: { LOG_LEVEL: "debug" } }, "test");
    const settings = withKarpenters(own, "c1", found);
    expect(settings.settings).toEqual({ BATCH_IDLE_DURATION: "2s", LOG_LEVEL: "debug" });
    expect(settings.clusters.map(({ nodeRoles }) => nodeRoles)).toEqual([["team/nodes"], undefined]);
    const said = parseSettings({ clusters: [{ name: "c1", nodeRoles: ["mine"] }], settings: { BATCH_IDLE_DURATION: "3s" } }, "test");
    expect(withKarpenters(said, "c1", found)).toEqual(said);
  });

  it("says so where there is no Karpenter", async () => {
    const world = beside();
    world.objects.delete("Deployment/karpenter");
    await expect(readKarpenter(world.adoptPorts().clusterApi("c1"), "c1")).rejects.toThrow("cluster c1 has no Deployment of Karpenter");
  });
});
