import { describe, expect, it } from "vitest";
import { deployedOf } from "#infra/deployed.ts";
import { parseSettings } from "#infra/settings.ts";
import type { KubeObject } from "#installer/account/ports.ts";
import { type UpgradeOptions, upgrade } from "#installer/upgrade/upgrade.ts";
import { VERSION } from "#settings/version.ts";
import { INSTALL_KILLS_EVERY } from "../../support/effort.ts";
import { Killed, SECRET } from "../install/world.ts";
import { Older } from "./world.ts";

const OPTIONS: UpgradeOptions = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless", yes: true, dryRun: false };

async function run(world: Older, changed: Partial<UpgradeOptions> = {}) {
  const lines: string[] = [];
  // A stack that is updated says its new version.
  world.outputs = { ...world.outputs, Version: VERSION };
  const answer = await upgrade({ ...OPTIONS, ...changed }, world.upgradePorts(), (line) => lines.push(line)).catch((error: Error) => error);
  return { answer, lines, text: lines.join("\n") };
}

const CRD = "CustomResourceDefinition/nodepools.karpenter.sh";

const definition = (world: Older): KubeObject & { readonly spec: { readonly versions: readonly { readonly name: string }[] } } =>
  world.objects.get(CRD) as never;

describe("upgrade", () => {
  it("shows what changes, applies CRDs, updates the stack, applies the rest, and examines it", async () => {
    const world = new Older();
    const { answer, lines, text } = await run(world);
    expect(lines.slice(0, 20)).toEqual([
      `ok     version: 0.0.9 to ${VERSION}, records of schema 2`,
      "ok     region: us-west-2",
      "ok     credentials: arn:aws:iam::111122223333:role/me",
      "ok     cluster: c1",
      "ok     Kubernetes version: 1.33",
      "ok     access: you may create CustomResourceDefinitions",
      "ok     public URL: a Lambda function URL",
      "ok     CRDs of c1: 5, all that is stored stays readable",
      "bucket bucket-111122223333: 2 of 2 files uploaded",
      "stack karpenter-serverless: 1 replaced, 1 removed, 1 added, 1 changed",
      "  replaced         table karpenter-serverless-Intents (KeySchema): the old table is kept, and the functions write the records of all NodeClaims again within two minutes",
      "  removed          queue OldQueue",
      "  added            queue NewQueue1A2B",
      "  changed          function karpenter-serverless-provision (Code, Tags)",
      "applying the CRDs of cluster c1",
      "  5 objects applied",
      "updating stack karpenter-serverless",
      "  UPDATE_COMPLETE Notify",
      "applying RBAC, FlowSchema and webhooks of cluster c1",
      expect.stringMatching(/^ {2}\d+ objects applied$/),
    ]);
    expect(lines.at(-1)).toContain("cluster c1 in us-west-2: healthy");
    expect(answer).toMatchObject({ output: "karpenter-serverless is upgraded\n", isUsable: true });
    expect(world.stack).toMatchObject({ status: "UPDATE_COMPLETE", outputs: { Version: VERSION } });
    expect(definition(world).metadata.annotations).toEqual({ "karpenter-serverless/version": VERSION });
    expect(text).not.toContain(SECRET);
  });

  it("it is killed before or after a call, run again, and everything is as after one run", { timeout: 240_000 }, async () => {
    const whole = new Older();
    await run(whole);
    const total = whole.calls;
    expect(total).toBeGreaterThan(40);
    for (let call = 1; call <= total; call += INSTALL_KILLS_EVERY) {
      for (const when of ["before", "after"] as const) {
        const world = new Older();
        world.killAt = { call, when };
        // What only asks says that it could not ask.
        const { answer } = await run(world);
        world.killAt = undefined;
        if (answer instanceof Killed) expect((await run(world)).answer, `${when} call ${call}`).not.toBeInstanceOf(Error);
        else if (answer instanceof Error)
          expect((await run(world)).answer, `${when} call ${call}: ${answer.message}`).not.toBeInstanceOf(Error);
        expect(world.end(), `${when} call ${call}`).toEqual(whole.end());
        expect(world.changeSet, `${when} call ${call}`).toBeUndefined();
      }
    }
  });

  it("keeps the settings that the stack was deployed with", async () => {
    const world = new Older({ clusters: [{ name: "c1", sources: ["sweep"] }], admission: false, settings: { BATCH_IDLE_DURATION: "3s" } });
    await run(world);
    expect(world.settings).toMatchObject([
      { settings: { BATCH_IDLE_DURATION: "3s" }, assetsBucket: "bucket-111122223333", region: "us-west-2" },
    ]);
    expect(world.settings[0]?.clusters[0]?.sources).toEqual(["sweep"]);
  });

  it("takes other settings from a person; what the stack serves must be among them", async () => {
    const world = new Older();
    const given = (names: readonly string[]) => parseSettings({ clusters: names.map((name) => ({ name })), logRetentionDays: 30 }, "test");
    expect(String((await run(world, { settings: given(["c9"]) })).answer)).toContain("the settings do not name c1, which stack");
    await run(world, { settings: given(["c1"]) });
    expect(world.settings[0]?.logRetentionDays).toBe(30);
  });

  it("a node role that the stack has made stays in it", async () => {
    const world = new Older();
    if (world.stack !== undefined) world.stack.outputs = { ...world.stack.outputs, ClustersWithNodeRole: "c1" };
    await run(world);
    expect(world.settings[0]?.createNodeRoles).toBe(true);
  });

  it("upgrades all clusters of the stack's account, and says what those of others need", async () => {
    const clusters = [{ name: "c2" }, { name: "c1" }, { name: "far", account: "444455556666" }];
    const world = new Older({ clusters });
    const { answer, text } = await run(world);
    expect(text).toMatch(/applying the CRDs of cluster c1[\s\S]*applying the CRDs of cluster c2[\s\S]*updating stack/);
    expect(answer).toMatchObject({ output: expect.stringContaining("cluster far is in another account: deploy its access stack again") });
  });

  it("while the stack is updated, roles have the rights of both releases, and afterwards those of this one", async () => {
    const world = new Older();
    const key = "ClusterRole/karpenter-serverless:provision";
    const old = { apiGroups: ["old.example"], resources: ["things"], verbs: ["get"] };
    const role = world.objects.get(key) as KubeObject & { readonly rules: readonly object[] };
    world.objects.set(key, { ...role, rules: [old] } as KubeObject);
    const seen: (readonly object[])[] = [];
    world.onSleep = () => void seen.push((world.objects.get(key) as typeof role).rules);
    await run(world);
    expect(seen.at(-1)).toEqual([...role.rules, old]);
    expect((world.objects.get(key) as typeof role).rules).toEqual(role.rules);
  });

  it("a dry run shows the checks and the change set, and leaves neither it nor a change behind", async () => {
    const world = new Older();
    const before = { stack: world.stack, objects: [...world.objects] };
    const { answer, text } = await run(world, { dryRun: true });
    expect(text).toContain("changed          function karpenter-serverless-provision (Code, Tags)");
    expect(answer).toMatchObject({ output: "nothing is changed; without --dry-run this upgrades karpenter-serverless, then c1\n" });
    expect({ stack: world.stack, objects: [...world.objects] }).toEqual(before);
    expect(world.changeSet).toBeUndefined();
  });

  it.for([
    { agrees: false, want: "nothing was changed" },
    { agrees: undefined, want: "nothing was changed, because standard input is no terminal; give --yes" },
  ])("without --yes a person is asked: $agrees", async ({ agrees, want }) => {
    const world = new Older();
    world.agrees = agrees;
    const before = { stack: world.stack, objects: [...world.objects] };
    expect(String((await run(world, { yes: false })).answer)).toContain(want);
    expect({ stack: world.stack, objects: [...world.objects] }).toEqual(before);
    expect(world.changeSet).toBeUndefined();
  });

  it("a person who agrees gets the upgrade", async () => {
    const world = new Older();
    world.agrees = true;
    expect((await run(world, { yes: false })).answer).toMatchObject({ output: "karpenter-serverless is upgraded\n" });
  });

  it("an update that fails tells CloudFormation's reason, and the next one succeeds", async () => {
    const world = new Older();
    world.ending = "The role defined for the function cannot be assumed";
    const { answer } = await run(world);
    expect(String(answer)).toContain("ended as UPDATE_ROLLBACK_COMPLETE, so it is as before: Notify: The role defined for the function");
    world.ending = "COMPLETE";
    world.outputs = { ...world.outputs };
    if (world.stack !== undefined) world.stack = { ...world.stack, templateUrl: "https://bucket/older.json", outputs: world.outputs };
    expect((await run(world)).answer).toMatchObject({ isUsable: true });
  });

  it("repeated, it finds nothing to change in the stack, and still applies and examines", async () => {
    const world = new Older();
    await run(world);
    const { answer, text } = await run(world);
    expect(text).toContain("stack karpenter-serverless is as this release has it");
    expect(answer).toMatchObject({ isUsable: true });
  });

  it("a fault that remains is told by the doctor, and in the exit code", async () => {
    const world = new Older();
    world.httpStatus = 502;
    expect((await run(world)).answer).toMatchObject({
      isUsable: false,
      output: "karpenter-serverless is upgraded; fix the items marked FAULT above, then run doctor\n",
    });
  });
});

describe("before anything is changed, upgrade refuses", () => {
  it.for<{ readonly what: string; readonly change: (world: Older) => void; readonly want: string }>([
    {
      what: "when there is no stack",
      change: (world) => {
        world.stack = undefined;
      },
      want: "there is no stack karpenter-serverless; give --stack, or run",
    },
    {
      what: "a stack of another product",
      change: (world) => {
        if (world.stack !== undefined) world.stack.outputs = {};
      },
      want: "karpenter-serverless is another product's stack",
    },
    {
      what: "a stack that was never whole",
      change: (world) => {
        if (world.stack !== undefined) world.stack.status = "ROLLBACK_COMPLETE";
      },
      want: "stack karpenter-serverless is ROLLBACK_COMPLETE; run",
    },
    {
      what: "a stack that does not say what it was deployed with",
      change: (world) => {
        world.metadata = {};
      },
      want: "does not keep its settings; give them with --config FILE",
    },
    {
      what: "a step back over two versions of the records",
      change: (world) => {
        const deployed = deployedOf(parseSettings({ clusters: [{ name: "c1" }] }, "test"));
        world.metadata = { "karpenter-serverless": { ...deployed, recordSchema: 4 } };
      },
      want: "one check fails, so nothing was changed",
    },
    {
      what: "definitions that do not have a stored version",
      change: (world) => world.objects.set(CRD, { ...definition(world), status: { storedVersions: ["v1beta1", "v1"] } }),
      want: "one check fails, so nothing was changed",
    },
    {
      what: "a change that CloudFormation cannot make",
      change: (world) => {
        world.refusal = "Template error: no such resource type";
      },
      want: "CloudFormation cannot change stack karpenter-serverless: Template error: no such resource type; fix that",
    },
  ])("$what", async ({ change, want }) => {
    const world = new Older();
    change(world);
    const before = { stack: world.stack, objects: [...world.objects] };
    expect(String((await run(world)).answer)).toContain(want);
    expect({ stack: world.stack, objects: [...world.objects] }).toEqual(before);
    expect(world.changeSet).toBeUndefined();
  });

  it("fields that an object sets and this release does not know; those that nobody sets are a note", async () => {
    const world = new Older();
    const plain = definition(world);
    const versions = plain.spec.versions.map((version) => {
      const copy = structuredClone(version) as unknown as { schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } };
      Object.assign(copy.schema.openAPIV3Schema.properties.spec.properties, { shiny: { type: "object", properties: {} } });
      return copy;
    });
    world.objects.set(CRD, { ...plain, spec: { ...plain.spec, versions } } as KubeObject);
    const dry = await run(world, { dryRun: true });
    expect(dry.text).toContain("note   CRDs of c1: nodepools.karpenter.sh: spec.shiny are no longer there; no object sets them");
    const pool = world.objects.get("NodePool/default") as KubeObject & { readonly spec: object };
    world.put({ ...pool, spec: { ...pool.spec, shiny: {} } });
    const { answer, text } = await run(world);
    expect(text).toContain("FAULT  CRDs of c1: NodePool default sets spec.shiny, which this release does not know");
    expect(String(answer)).toContain("so nothing was changed");
  });
});
