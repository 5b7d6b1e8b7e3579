import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { conditionOf } from "#core/model/conditions.ts";
import type { NodeOverlay, NodeOverlaySpec } from "#core/model/node-overlay.ts";
import type { Lab } from "#lab/host.ts";
import { playManifests } from "#lab/play.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { manifestProblems } from "#manifests/check.ts";
import { deployment, NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, POOL, pass, running, runningPods, SPOT_POOL } from "../support/lab-story.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const overlay = (name: string, spec: NodeOverlaySpec): ApiObject => ({
  apiVersion: "karpenter.sh/v1alpha1",
  kind: "NodeOverlay",
  metadata: { name },
  spec,
});

const FAMILY = { key: "karpenter.k8s.aws/instance-family", operator: "In" as const };
const DEAR_C5 = overlay("dear-c5", { requirements: [{ ...FAMILY, values: ["c5"] }], priceAdjustment: "+500%" });
const ON = { settings: { nodeOverlay: true } };

const types = (lab: Lab): readonly string[] => alive(lab).map(({ instance }) => instance.instanceType);
const annotations = (lab: Lab) => lab.world.store.list("NodeClaim").map(({ metadata }) => metadata.annotations ?? {});
const ready = (lab: Lab, name: string) =>
  conditionOf((lab.world.store.get("NodeOverlay", name) as NodeOverlay).status?.conditions, "Ready");
describe("a NodeOverlay's price", () => {
  it.for([{ pool: POOL }, { pool: SPOT_POOL }])("decides the plan and the first choice in the fleet request", async ({ pool }) => {
    const plain = await running(1, [NODE_CLASS, pool, INFLATE]);
    const overlaid = await running(1, [NODE_CLASS, pool, INFLATE, DEAR_C5], ON);
    expect([types(plain), types(overlaid)]).toEqual([["c5.large"], ["m5.large"]]);
    expect(annotations(overlaid)).toMatchObject([{ "karpenter.sh/price-overlay-applied": "true" }]);
    expect(annotations(plain)[0]).not.toHaveProperty("karpenter.sh/price-overlay-applied");
    expect(ready(overlaid, "dear-c5")?.status).toBe("True");
  });

  it("decides EC2's order too, where EC2's own prices would choose another type", async () => {
    // Both types are open to the claim, and EC2 charges less for the one that the overlay makes more expensive.
    const lab = await running(1, [NODE_CLASS, POOL, INFLATE, DEAR_C5], ON);
    const [claim] = lab.world.store.list("NodeClaim") as readonly (ApiObject & {
      spec: { requirements: { key: string; values: string[] }[] };
    })[];
    const open = claim?.spec.requirements.find(({ key }) => key === "node.kubernetes.io/instance-type")?.values;
    expect(open).toEqual(expect.arrayContaining(["c5.large", "m5.large"]));
    expect(types(lab)).toEqual(["m5.large"]);
  });

  it("makes consolidation move running nodes, and back after its deletion", async () => {
    const lab = await running(1, [NODE_CLASS, POOL, INFLATE], ON);
    expect(types(lab)).toEqual(["c5.large"]);
    lab.world.apply(DEAR_C5);
    await pass(lab, 6 * MINUTE);
    expect([types(lab), runningPods(lab)]).toEqual([["m5.large"], 1]);
    lab.world.delete("NodeOverlay", "dear-c5");
    await pass(lab, 6 * MINUTE);
    expect([types(lab), runningPods(lab)]).toEqual([["c5.large"], 1]);
  });

  it("has no effect while the gate is off", async () => {
    const lab = await running(1, [NODE_CLASS, POOL, INFLATE, DEAR_C5]);
    expect(types(lab)).toEqual(["c5.large"]);
    expect(ready(lab, "dear-c5")).toBeUndefined();
  });
});

describe("a NodeOverlay's capacity", () => {
  const FUSE = overlay("fuse", { requirements: [{ ...FAMILY, values: ["m5"] }], capacity: { "smarter-devices/fuse": 2 } });
  const MOUNTS = deployment(0, { cpu: "100m", "smarter-devices/fuse": 1 });

  it("gives room to pods that request it, as much as it announces, and no room twice", async () => {
    const lab = await running(3, [NODE_CLASS, POOL, MOUNTS, FUSE], ON);
    expect(types(lab)).toEqual(["m5.large", "m5.large"]);
    expect(annotations(lab)).toMatchObject([
      { "karpenter.sh/capacity-overlay-applied": "true" },
      { "karpenter.sh/capacity-overlay-applied": "true" },
    ]);
    const claims = lab.world.store.list("NodeClaim") as readonly (ApiObject & {
      status: { capacity: object; conditions: { type: string; status: "True" }[] };
    })[];
    for (const { status } of claims) {
      expect(status.capacity).toMatchObject({ "smarter-devices/fuse": "2" });
      expect(conditionOf(status.conditions, "Initialized")?.status).toBe("True");
    }
  });

  it("serves pending pods once it is applied", async () => {
    const lab = await running(0, [NODE_CLASS, POOL, MOUNTS], ON);
    lab.world.scale("Deployment", "default", "inflate", 1);
    await pass(lab, 2 * MINUTE);
    expect([types(lab), runningPods(lab)]).toEqual([[], 0]);
    lab.world.apply(FUSE);
    await pass(lab, MINUTE);
    expect([types(lab), runningPods(lab)]).toEqual([["m5.large"], 1]);
  });
});

it("of two NodeOverlays that conflict one is applied, and the other shows why it is not", async () => {
  const other = overlay("cheap-c5", { requirements: [{ ...FAMILY, values: ["c5"] }], price: "0.01" });
  const lab = await running(1, [NODE_CLASS, POOL, INFLATE, DEAR_C5, other], ON);
  expect(types(lab)).toEqual(["m5.large"]);
  expect([ready(lab, "dear-c5")?.status, ready(lab, "cheap-c5")?.status]).toEqual(["True", "False"]);
});

describe("manifests", () => {
  it.for<{ name: string; object: object; says: string }>([
    {
      name: "another version",
      object: { ...DEAR_C5, apiVersion: "karpenter.sh/v1" },
      says: "NodeOverlay is given as karpenter.sh/v1; convert it to karpenter.sh/v1alpha1: only v1alpha1 is understood",
    },
    { name: "a slip of the pen", object: { ...DEAR_C5, spec: { requirements: [], wieght: 1 } }, says: 'did you mean "weight"?' },
    { name: "no requirements", object: { ...DEAR_C5, spec: { price: "1" } }, says: "is missing; add it" },
    {
      name: "two prices",
      object: { ...DEAR_C5, spec: { requirements: [], price: "1", priceAdjustment: "+1" } },
      says: "exclude each other",
    },
  ])("$name is an error before anything is played", ({ object, says }) => {
    expect(manifestProblems(object).map(({ message }) => message)).toEqual([expect.stringContaining(says)]);
  });

  it("are played with NodeOverlays, and the summary names those without effect", async () => {
    const folder = temporaryFolder("lab-overlays");
    const file = join(folder, "all.json");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const cheap = overlay("cheap-m7i", { requirements: [{ ...FAMILY, values: ["m7i"] }], price: "0.001" });
    const none = overlay("none", { requirements: [{ ...FAMILY, values: ["m77"] }], price: "0.001" });
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [cheap, none, pod] }));
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    await playManifests([file], [], 2, { json: false, colour: false, seed: 1, region: "us-west-2", print });
    const published = lines.join("\n");
    expect(published).toMatch(/launched nodeclaim .* m7i\./);
    expect(published).toContain("kubectl apply: NodeOverlay/cheap-m7i ");
    expect(published).toContain("NodeOverlay none has no effect: no instance type of any NodePool meets spec.requirements");
  });
});
