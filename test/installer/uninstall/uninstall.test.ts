import { describe, expect, it } from "vitest";
import { parseSettings } from "#infra/settings.ts";
import type { KubeObject } from "#installer/account/ports.ts";
import { install } from "#installer/install/install.ts";
import { uninstall } from "#installer/uninstall/uninstall.ts";
import { InputError } from "#terminal/input-error.ts";
import { INSTALL_KILLS_EVERY } from "../../support/effort.ts";
import { Killed, keyOf, World } from "../install/world.ts";

const settings = parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2" }, "test");
const OPTIONS = {
  cluster: "c1",
  region: "us-west-2",
  stackName: "karpenter-serverless",
  drain: true,
  keepNodes: false,
  startKarpenter: false,
  yes: true,
  dryRun: false,
};

function claim(name: string, group: string): KubeObject {
  const metadata = { name, ...(group === OURS && { finalizers: ["karpenter.sh/termination"] }) };
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: { nodeClassRef: { group } } };
}
const OURS = "karpenter.k8s.aws";
const AUTO_MODE = "eks.amazonaws.com";

/** A cluster after an installation with the default pool, with a node of ours and one of Auto Mode. */
async function installed(): Promise<World> {
  const world = new World();
  world.outputs = { ...world.outputs, TableName: "table-1" };
  await install(
    { cluster: "c1", region: "us-west-2", settings, hasEndpointOption: false, tagNetwork: false, withDefaultPool: true, dryRun: false },
    world.ports(),
    () => {},
  );
  const nodeClass = world.objects.get("EC2NodeClass/default");
  if (nodeClass === undefined) throw new Error("there is no EC2NodeClass");
  const held = { ...nodeClass, metadata: { ...nodeClass.metadata, finalizers: ["karpenter.k8s.aws/termination"] } };
  for (const object of [held, claim("default-1", OURS), claim("auto-1", AUTO_MODE)]) world.objects.set(keyOf(object), object);
  world.left.templates = 2;
  world.calls = 0;
  return world;
}

async function run(world: World, changed: Partial<typeof OPTIONS> = {}) {
  const lines: string[] = [];
  const answer = await uninstall({ ...OPTIONS, ...changed }, world.uninstallPorts(), (line) => lines.push(line)).catch(
    (error: Error) => error,
  );
  return { answer, text: lines.join("\n") };
}

/** What remains in the cluster, without the definitions of kinds. */
const left = (world: World): readonly string[] => [...world.objects.keys()].filter((key) => !key.startsWith("CustomResourceDefinition/"));

describe("uninstall", () => {
  it("nodes, classes, webhooks, stack and RBAC go in this order, and only what others share stays", async () => {
    const world = await installed();
    const { answer, text } = await run(world);
    expect(left(world)).toEqual(["NodeClaim/auto-1"]);
    expect(world.stack).toBeUndefined();
    expect(text.split("\n")).toEqual([
      "deleted 1 NodePool (default)",
      "waiting for the end of 1 NodeClaim (default-1)",
      "waiting for the end of 1 EC2NodeClass (default)",
      "removing the webhooks of cluster c1",
      "  ValidatingWebhookConfiguration karpenter-serverless-notify removed",
      "removing stack karpenter-serverless; its table table-1 stays",
      "RBAC and FlowSchema of cluster c1 removed",
      "2 launch templates removed",
    ]);
    expect(world.left.templates).toBe(0);
    expect(answer).toMatchObject({ output: expect.stringContaining("aws dynamodb delete-table --region us-west-2 --table-name table-1") });
  });

  it("it is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = await installed();
    await run(whole);
    const total = whole.calls;
    expect(total).toBeGreaterThan(20);
    for (let call = 1; call <= total; call += INSTALL_KILLS_EVERY) {
      for (const when of ["before", "after"] as const) {
        const world = await installed();
        world.killAt = { call, when };
        expect((await run(world)).answer, `${when} call ${call}`).toBeInstanceOf(Killed);
        world.killAt = undefined;
        expect((await run(world)).answer, `${when} call ${call}`).not.toBeInstanceOf(Error);
        expect(world.end(), `${when} call ${call}`).toEqual(whole.end());
      }
    }
  });

  it("nodes are ended only when it is told to", async () => {
    const world = await installed();
    const before = world.end();
    const { answer } = await run(world, { drain: false });
    expect(String(answer)).toContain("cluster c1 still has 1 NodeClaim (default-1); give --drain");
    expect(world.end()).toEqual(before);
  });

  it("a dry run says what would go, and what is in the way, and changes nothing", async () => {
    const world = await installed();
    const before = world.end();
    const { answer, text } = await run(world, { drain: false, dryRun: true });
    expect(answer).toMatchObject({ isUsable: false, messages: [expect.stringContaining("give --drain")] });
    expect(text).toContain("- delete 1 EC2NodeClass (default), and wait for their end");
    expect(text).toContain("- remove stack karpenter-serverless");
    expect(world.end()).toEqual(before);
  });

  it("beside a running Karpenter the nodes stay, and so do the objects that it works with", async () => {
    const world = await installed();
    world.karpenter = "kube-system/karpenter-leader-election";
    const { answer } = await run(world, { drain: false });
    expect(left(world).toSorted()).toEqual(["EC2NodeClass/default", "NodeClaim/auto-1", "NodeClaim/default-1", "NodePool/default"]);
    expect(world.stack).toBeUndefined();
    expect(answer).toMatchObject({ output: expect.stringContaining("stay, because Karpenter works with them") });
  });

  it("a stack that serves other clusters too stays, and one that serves none of this name is refused", async () => {
    const world = await installed();
    if (world.stack !== undefined) world.stack.outputs = { ...world.outputs, Clusters: "c1,c2" };
    const { answer } = await run(world);
    expect(answer).toMatchObject({ output: expect.stringContaining("also serves c2: deploy it without c1") });
    expect(world.stack?.status).toBe("CREATE_COMPLETE");
    expect(left(world)).toEqual(["NodeClaim/auto-1"]);
    expect(String((await run(world, { cluster: "c3" })).answer)).toContain("does not serve cluster c3");
  });

  it("finalizers without a stack would never go, so it says to install first", async () => {
    const world = await installed();
    world.stack = undefined;
    const { answer } = await run(world);
    expect(String(answer)).toContain("the stack is gone, so no function ends 1 NodeClaim (default-1) and 1 EC2NodeClass (default)");
    expect(left(world)).toContain("NodePool/default");
  });

  it("a stack that cannot be removed is told with CloudFormation's reason", async () => {
    const world = await installed();
    world.undeletable = "Cannot delete entity, must remove roles from instance profile first.";
    const { answer } = await run(world);
    expect(answer).toBeInstanceOf(InputError);
    expect(String(answer)).toContain("is DELETE_FAILED: NodeRole: Cannot delete entity, must remove roles from instance profile first;");
  });
});
