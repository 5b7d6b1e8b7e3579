import { describe, expect, it } from "vitest";
import { uninstall } from "#installer/uninstall/uninstall.ts";
import { InputError } from "#terminal/input-error.ts";
import { ACCOUNT, Killed, World } from "../install/world.ts";

const OPTIONS = {
  cluster: "c1",
  region: "us-west-2",
  stackName: "karpenter-serverless",
  drain: false,
  keepNodes: false,
  startKarpenter: false,
  yes: false,
  dryRun: false,
};

/** An account whose cluster was deleted while its nodes and its stack were there. */
function orphaned(): World {
  const world = new World();
  world.isClusterGone = true;
  world.outputs = { ...world.outputs, TableName: "table-1" };
  world.stack = { status: "CREATE_COMPLETE", templateUrl: "", outputs: world.outputs };
  Object.assign(world.left, { instances: ["i-1", "i-2"], profiles: ["c1_1"], templates: 3, tables: ["table-1"] });
  world.agrees = true;
  return world;
}

async function run(world: World, changed: Partial<typeof OPTIONS> = {}) {
  const lines: string[] = [];
  const ports = { ...world.uninstallPorts(), clusterApi: () => expect.fail("there is no API server to ask") };
  const answer = await uninstall({ ...OPTIONS, ...changed }, ports, (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, text: lines.join("\n") };
}

const NOTHING = { instances: [], profiles: [], templates: 0, tables: [] };

describe("uninstall of a cluster that is gone", () => {
  it("what a cluster has left is told, and after a yes removed, the table before the stack that names it", async () => {
    const world = orphaned();
    const { answer, text } = await run(world);
    expect(text.split("\n")).toEqual([
      `cluster c1 does not exist in us-west-2 of account ${ACCOUNT}; looking for its leftovers`,
      "  instances with the tags eks:eks-cluster-name=c1, karpenter.sh/nodepool and karpenter.k8s.aws/ec2nodeclass: 2 (i-1, i-2)",
      "  instance profiles under /karpenter/us-west-2/c1/: 1 (c1_1)",
      "  stack karpenter-serverless: CREATE_COMPLETE",
      "  its table: 1 (table-1)",
      "terminated 2 instances",
      "launch templates with the tag eks:eks-cluster-name=c1: 3 removed",
      "removed instance profile c1_1",
      "removed table table-1",
      "removing stack karpenter-serverless",
    ]);
    expect(answer).toEqual({ output: "nothing of cluster c1 is left\n" });
    expect({ ...world.left, stack: world.stack }).toEqual({ ...NOTHING, stack: undefined });
  });

  it.for([
    { agrees: false, says: "nothing was removed" },
    { agrees: undefined, says: "standard input is no terminal; give --yes" },
  ])("nothing of a cluster that is gone is removed when the answer is $agrees", async ({ agrees, says }) => {
    const world = orphaned();
    world.agrees = agrees;
    const { answer } = await run(world);
    expect(answer).toBeInstanceOf(InputError);
    expect(String(answer)).toContain(says);
    expect({ ...world.left, stack: world.stack?.status }).toEqual({ ...orphaned().left, stack: "CREATE_COMPLETE" });
  });

  it("--yes removes what a cluster has left where nobody can be asked, and --dry-run nothing", async () => {
    const world = orphaned();
    world.agrees = undefined;
    expect((await run(world, { dryRun: true })).text).toContain("nothing is changed; without --dry-run");
    expect(world.left).toEqual(orphaned().left);
    expect((await run(world, { yes: true })).answer).toMatchObject({ output: expect.stringContaining("nothing of cluster c1") });
    expect(world.left).toEqual(NOTHING);
  });

  it("the removal of what is left is killed before or after a call, run again, and nothing is left", async () => {
    const whole = orphaned();
    await run(whole);
    for (let call = 1; call <= whole.calls; call += 1) {
      for (const when of ["before", "after"] as const) {
        const world = orphaned();
        world.killAt = { call, when };
        expect((await run(world)).answer, `${when} call ${call}`).toBeInstanceOf(Killed);
        world.killAt = undefined;
        expect((await run(world)).answer, `${when} call ${call}`).not.toBeInstanceOf(Error);
        expect({ ...world.left, stack: world.stack }, `${when} call ${call}`).toEqual({ ...NOTHING, stack: undefined });
      }
    }
  });

  it("an instance that a function has launched meanwhile is ended after the stack", async () => {
    const world = orphaned();
    const { uninstallPorts } = world;
    world.uninstallPorts = () => {
      const ports = uninstallPorts.call(world);
      const remove: typeof ports.stacks.remove = async (name) => {
        world.left.instances = ["i-late"];
        await ports.stacks.remove(name);
      };
      return { ...ports, stacks: { ...ports.stacks, remove } };
    };
    expect((await run(world)).text).toContain("terminated i-late, which came meanwhile");
    expect(world.left).toEqual(NOTHING);
  });

  it("tables of a stack that is gone too are found by their tags", async () => {
    const world = orphaned();
    world.stack = undefined;
    expect((await run(world)).text).toContain("removed table table-1");
    expect(world.left).toEqual(NOTHING);
  });

  it("a stack that serves other clusters keeps itself and its table when one of them is gone", async () => {
    const world = orphaned();
    if (world.stack !== undefined) world.stack.outputs = { ...world.outputs, Clusters: "c1,c2" };
    const { answer, text } = await run(world);
    expect(text).toContain("stack karpenter-serverless: stays, because it also serves c2");
    expect(answer).toMatchObject({ output: expect.stringContaining("deploy it without c1") });
    expect({ ...world.left, stack: world.stack?.status }).toEqual({ ...NOTHING, tables: ["table-1"], stack: "CREATE_COMPLETE" });
  });
});
