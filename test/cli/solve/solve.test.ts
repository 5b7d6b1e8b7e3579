import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { decisionSettingsOf } from "#cli/scenario/settings.ts";
import { solveScenario } from "#cli/solve/solve.ts";
import { InputError } from "#terminal/input-error.ts";
import { pod, scenario } from "../../support/scheduling/builders.ts";
import type { RawJson } from "../../support/scheduling/judge-rules.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("solve");

function file(content: string | Uint8Array, name = "scenario.json"): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const planOf = (path: string) => solveScenario(path).plan as RawJson;
const textOf = (path: string) => solveScenario(path).text();

const small = scenario({ pods: [pod("web"), pod("huge", { cpu: "99" })] });

const overlay = (name: string, spec: object) => ({ metadata: { name }, spec: { requirements: [], ...spec } });
const only = (key: string, ...values: string[]) => ({ key, operator: "In", values });

it("docs/examples/scenario.json, which the document of the format shows, buys one node", () => {
  const { newNodeClaims, podErrors } = planOf("docs/examples/scenario.json");
  expect(newNodeClaims).toHaveLength(1);
  expect(podErrors).toEqual({});
});

it("the plan is JSON and nothing else, from a gzipped scenario too", () => {
  for (const path of [file(JSON.stringify(small)), file(gzipSync(JSON.stringify(small)), "scenario.json.gz")]) {
    const plan = planOf(path);
    expect(Object.keys(plan)).toEqual(["newNodeClaims", "existingNodes", "podErrors", "solveMillis"]);
    expect(plan.newNodeClaims[0].pods).toEqual(["default/web"]);
  }
});

it("with explain the plan is text", () => {
  const text = textOf(file(JSON.stringify(small)));
  expect(text).toContain("1 new node, $");
  expect(text).toContain("m.small at $");
  expect(text).toContain("1 pod: default/huge\n    NodePool default: the pod asks for cpu 99");
});

it("a setting that is given decides: nodes that cost more are fewer", () => {
  const path = file(JSON.stringify(scenario({ pods: Array.from({ length: 6 }, (_, i) => pod(`web-${i}`, { cpu: "1" })) })));
  const nodes = (...settings: string[]): number => (solveScenario(path, decisionSettingsOf(settings)).plan as RawJson).newNodeClaims.length;
  expect(nodes("NODE_OVERHEAD_PRICE=1")).toBeLessThan(nodes("NODE_OVERHEAD_PRICE=0"));
  expect(() => nodes("LOG_LEVEL=debug")).toThrow("--setting LOG_LEVEL changes no decision; leave it out");
});

it("a price cap and a schedule that are given as settings hold, as they do in the functions", () => {
  const path = file(JSON.stringify(scenario({ now: "2026-01-05T21:00:00Z", pods: [pod("web", { cpu: "1" })] })));
  const left = (...settings: string[]) => (solveScenario(path, decisionSettingsOf(settings)).plan as RawJson).podErrors["default/web"];
  expect(left()).toBeUndefined();
  expect(left("MAX_PRICE_PER_HOUR=0.000001")).toContain("raise the setting MAX_PRICE_PER_HOUR");
  expect(left("STACK_MAX_PRICE_PER_HOUR=0.000001")).toContain("raise the setting STACK_MAX_PRICE_PER_HOUR");
  expect(left("SLEEP_SCHEDULE=0 20 * * * for 10h")).toContain("sleeps until");
  // Whose cluster a file is nobody knows, so a setting for a cluster by name would be skipped in silence.
  const why = "names the cluster prod, and a file does not say whose it is; give";
  expect(() => left("MAX_PRICE_PER_HOUR=prod=5,dev=1")).toThrow(`--setting MAX_PRICE_PER_HOUR ${why} an amount for every cluster`);
  expect(() => left('SLEEP_SCHEDULE={"prod":"0 20 * * * for 10h"}')).toThrow(
    `--setting SLEEP_SCHEDULE ${why} a schedule for every cluster`,
  );
});

it("a null field counts as absent, as in the API", () => {
  const [web] = [pod("web", { cpu: "1" }, { initContainers: null as never, affinity: { podAntiAffinity: null as never } })];
  expect(planOf(file(JSON.stringify(scenario({ pods: [web] })))).podErrors).toEqual({});
});

it("pods that are not planned are listed with why", () => {
  const idle = { ...pod("idle"), status: {} };
  const text = textOf(file(JSON.stringify(scenario({ pods: [idle, pod("web")] }))));
  expect(text).toContain("1 pod not given up by kube-scheduler");
  expect(textOf(file('{"pods": []}'))).toContain("there is no NodePool");
});

const buffer = (spec: object) => ({ metadata: { name: "spare", namespace: "default" }, spec });
const room = {
  metadata: { name: "room", namespace: "default" },
  template: { spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] } },
};

it("CapacityBuffers get room, and the plan has the status of each", () => {
  const capacityBuffers = [buffer({ podTemplateRef: { name: "room" }, replicas: 2 })];
  const path = file(JSON.stringify(scenario({ pods: [pod("web")], capacityBuffers, podTemplates: [room] })));
  const plan = planOf(path);
  expect(plan.newNodeClaims[0].pods).toEqual(["default/capacity-buffer-spare-1", "default/capacity-buffer-spare-2", "default/web"]);
  expect(plan.capacityBuffers).toMatchObject([
    {
      name: "default/spare",
      replicas: 2,
      conditions: [
        { type: "ReadyForProvisioning", status: "True", reason: "Resolved" },
        { type: "Provisioning", status: "False", reason: "RequiresNewCapacity" },
      ],
    },
  ]);
  expect(textOf(path)).toContain("\nCapacityBuffer default/spare: There is room for 0 of 2 pods; nodes for 2 are on their way\n");
});

it("a CapacityBuffer names the object that it cannot find", () => {
  const capacityBuffers = [buffer({ scalableRef: { kind: "Deployment", name: "web" }, percentage: 20 })];
  const text = textOf(file(JSON.stringify(scenario({ capacityBuffers }))));
  expect(text).toContain("CapacityBuffer default/spare: Deployment default/web does not exist; create it");
});

it("pods are spread by the default constraints of schedulerConfig", () => {
  const zone = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" };
  const services = [{ metadata: { name: "web", namespace: "default" }, spec: { selector: { app: "web" } } }];
  const pods = ["a", "b", "c"].map((name) => pod(name, { cpu: "1" }, {}, { labels: { app: "web" } }));
  const claims = (schedulerConfig: object) => planOf(file(JSON.stringify(scenario({ pods, services, schedulerConfig })))).newNodeClaims;
  expect(claims({})).toHaveLength(1);
  expect(claims({ podTopologySpread: { defaultConstraints: [zone] } })).toHaveLength(3);
});

it.for([
  {
    text: { capacityBuffers: [buffer({ podTemplateRef: { name: "room" } })] },
    says: "capacityBuffers[0] (spare): spec has a podTemplateRef and neither replicas nor limits to say how much; add one of them",
  },
  {
    text: { capacityBuffers: [buffer({ podTemplateRef: { name: "room" }, replica: 2 })] },
    says: 'capacityBuffers[0] (spare): spec.replica is no field that is known here; did you mean "replicas"?',
  },
  { text: { podTemplates: [{ metadata: { name: "x" } }] }, says: "podTemplates[0] (x): template.spec.containers is missing" },
  {
    text: { pods: [], schedulerConfig: { podTopologySpread: { defaultConstraints: {} } } },
    says: "schedulerConfig: podTopologySpread.defaultConstraints must be a list",
  },
  { text: { podz: [] }, says: 'podz is no part of a scenario; did you mean "pods"?' },
  { text: { pods: [{ metadata: { name: "x" } }] }, says: "pods[0] (x): spec.containers is missing" },
  { text: { nodes: [{ metadata: { name: "x" } }] }, says: "nodes[0] (x): spec is missing" },
  { text: { nodePools: [{ metadata: { name: "x" } }] }, says: "nodePools[0] (x): spec.template.spec.nodeClassRef is missing" },
  {
    text: { pods: [{ metadata: { name: "x" }, spec: { containers: [{}], affinity: 3 } }] },
    says: "pods[0] (x): spec.affinity must be a map, not 3",
  },
  {
    text: { nodeOverlays: [overlay("x", { price: "cheap" })] },
    says: 'nodeOverlays[0] (x): spec.price "cheap" is not valid; it must match',
  },
  {
    text: { nodeOverlays: [overlay("x", { price: "1", priceAdjustment: "+1" })] },
    says: "nodeOverlays[0] (x): spec.price and spec.priceAdjustment",
  },
  { text: { nodeOverlays: [{ metadata: { name: "x" }, spec: {} }] }, says: "nodeOverlays[0] (x): spec.requirements is missing" },
  { text: { instanceTypes: [{ name: "x", capacity: [], offerings: [] }] }, says: "instanceTypes[0] (x): capacity must be a map" },
  { text: { instanceTypes: [{ name: "x", requirements: "arm64", offerings: [] }] }, says: "requirements must be a list of {key" },
  { text: { persistentVolumeClaims: [{ metadata: { name: "x" } }] }, says: "persistentVolumeClaims[0] (x): spec is missing" },
  { text: { instanceTypes: [{ name: "x", offerings: [{}] }] }, says: "offerings[0] needs a zone, a capacityType and a price" },
])("a scenario that the API server would refuse is refused: $says", ({ text, says }) => {
  expect(() => solveScenario(file(JSON.stringify(text)))).toThrow(InputError);
  expect(() => solveScenario(file(JSON.stringify(text)))).toThrow(says);
});

it("NodeOverlays of the scenario set prices and capacity, and those without effect are named", () => {
  const family = "karpenter.k8s.aws/instance-family";
  const nodeOverlays = [
    overlay("cheap-g", { price: "0.001", requirements: [only("kubernetes.io/arch", "arm64")], weight: 2 }),
    overlay("device", { capacity: { "a.b/device": 1 }, requirements: [only("node.kubernetes.io/instance-type", "m.large")] }),
    overlay("none", { price: "1", requirements: [only(family, "z")] }),
  ];
  const asks = pod("asks", { cpu: "1", "a.b/device": "1" });
  const path = file(JSON.stringify(scenario({ pods: [pod("web"), asks], nodeOverlays })));
  const { newNodeClaims, podErrors } = planOf(path);
  expect(newNodeClaims.map(({ instanceTypes }: { instanceTypes: string[] }) => instanceTypes[0]).sort()).toEqual(["m.large"]);
  expect(podErrors).toEqual({});
  expect(textOf(path)).toContain("NodeOverlay none has no effect: no instance type of any NodePool");
  const web = file(JSON.stringify(scenario({ pods: [pod("web")], nodeOverlays })));
  const explained = textOf(web);
  expect(explained).toContain("NodeOverlays set the price of 1 of these types");
  expect(explained).toContain("NodeOverlays promise resources of 1 of these types");
  expect(explained).toContain("g.medium at $0.0010/h");
});

it("a YAML manifest is refused with the command that plays it", () => {
  expect(() => solveScenario(file("apiVersion: v1", "pods.yaml"))).toThrow("manifests are played by npm start");
});

it.for([
  { name: "a missing file", path: () => join(folder, "none.json"), says: "cannot read" },
  { name: "text that is no JSON", path: () => file("{"), says: "is not a scenario" },
  { name: "a list", path: () => file("[]"), says: "must be a JSON object" },
  { name: "a list that is none", path: () => file('{"pods": {}}'), says: "pods must be a list" },
  { name: "an object without a name", path: () => file('{"pods": [{}]}'), says: "pods[0].metadata.name is missing" },
  { name: "no scenario at all", path: () => file('{"foo": 1}'), says: "this is no scenario, because it has foo and none of its lists" },
  { name: "an empty object", path: () => file("{}"), says: "this is no scenario, because it has no fields" },
  {
    name: "fields without end",
    path: () => file(`{"pods": ${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
    says: "it nests fields deeper than any object of Kubernetes",
  },
  { name: "a file without end", path: () => "/dev/zero", says: "it is longer than 256 MB" },
  { name: "a bad time", path: () => file('{"pods": [], "now": "noon"}'), says: "now must be an RFC 3339 time" },
  {
    name: "a bad quantity",
    path: () => file(JSON.stringify(scenario({ pods: [pod("web", { cpu: "much" })] }))),
    says: 'pods[0] (web): spec.containers[0].resources.requests.cpu "much" is not a quantity',
  },
  {
    name: "a bad requirement",
    path: () =>
      file(
        JSON.stringify({
          ...small,
          nodePools: [
            {
              metadata: { name: "p" },
              spec: {
                template: {
                  spec: { requirements: [{ key: "k", operator: "Gt", values: ["x"] }], nodeClassRef: { group: "g", kind: "K", name: "n" } },
                },
              },
            },
          ],
        }),
      ),
    says: "nodePools[0] (p): spec.template.spec.requirements: key k with operator Gt takes exactly one integer",
  },
  {
    name: "a type without offerings",
    path: () => file('{"instanceTypes": [{"name": "m5.large"}]}'),
    says: "instanceTypes[0] (m5.large) needs a list of offerings",
  },
])("a bad scenario is refused in one sentence: $name", ({ path, says }) => {
  expect(() => solveScenario(path())).toThrow(InputError);
  expect(() => solveScenario(path())).toThrow(says);
});
