import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { whatIfCommand } from "#cli/what-if/command.ts";
import { WHAT_IF_OPTIONS, WHAT_IF_SOURCE, whatIfOptions } from "#cli/what-if/options.ts";
import { progressOf } from "#cli/what-if/progress.ts";
import { span } from "#core/lib/duration.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import { instanceType, machine, nodePool, pod, type Scene, snapshot } from "../../core/disruption/builders.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("what-if");
let files = 0;

function file(content: string, name = "x"): string {
  const path = join(folder, `${files++}-${name}`);
  writeFileSync(path, content);
  return path;
}

/** A family "a" of four sizes, and a family "b" that costs half. */
const TYPES = ["small", "medium", "large", "huge"].flatMap((size) => {
  const { offerings, ...type } = instanceType(size);
  const named = (family: string, share: number) => ({
    ...type,
    name: `${family}.${size}`,
    requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In" as const, values: [`${family}.${size}`] }],
    offerings: offerings.map((offering) => ({ ...offering, price: offering.price * share })),
  });
  return [named("aaaa", 1), named("bbbb", 0.5)];
});

function scenarioFile(scene: Scene, more: object = {}): string {
  const { instanceTypes: _, ...lists } = snapshot(scene);
  return file(JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", instanceTypes: TYPES, ...more }), "scenario.json");
}

const quiet = nodePool("default", { consolidateAfter: "Never" });
const onDemand = { name: "n1", type: "aaaa.large" };
const busy = scenarioFile({
  pools: [quiet],
  machines: [onDemand, { name: "n2", type: "aaaa.large" }],
  pods: [pod("p", "n1"), pod("q", "n2")],
});

const classed = scenarioFile({ pools: [quiet] }, { nodeClasses: [{ metadata: { name: "big" }, spec: {} }] });

const whatIf = async (args: readonly string[]) => (await whatIfCommand.run(args, () => {})).output;
const json = async (...args: string[]) => JSON.parse(await whatIf([...args, "--format", "json"]));

it("--quiet shows no progress", () => {
  const options = (args: readonly string[]) =>
    whatIfOptions(parseArguments({ usage: "what-if", positionals: WHAT_IF_SOURCE, options: WHAT_IF_OPTIONS }, args));
  expect(progressOf(options([busy, "--quiet"]), { write: () => undefined }, 0)).toEqual({});
  expect(Object.keys(progressOf(options([busy]), { write: () => undefined }, 0))).toEqual(["onProgress"]);
});

it("the table shows the bills side by side and what the change saves", async () => {
  const text = await whatIf([busy, "--family", "bbbb", "--capacity-type", "on-demand"]);
  expect(text).toContain("what if NodePool default: only families bbbb, only on-demand (4 of 8 types)");
  expect(text).toMatch(/^default {3}aaaa\.large {2}on-demand {7}2 {2}0\.800 .* 2 {2}0\.800 +- +-$/m);
  expect(text).toMatch(/^default {3}bbbb\.small .* 1 {3}0\.050$/m);
  expect(text).toMatch(/^a month .*\$584 .*\$584 .*\$36\.50$/m);
  expect(text).toContain("the change saves $0.7500/h, $548 a month (94%)");
  expect(text).toContain("NodePool default, RequirementsDrifted: 2 nodes: n1 and n2");
  expect(text).toContain("Nothing was changed.");
});

it("the table has sums for NodePools, and one line for the types that change least where it would be too long", async () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ ...(TYPES[0] ?? instanceType("x")), name: `many.${String(i).padStart(2, "0")}` }));
  const machines = [...many.map(({ name }, i) => ({ name: `n${i}`, type: name })), { name: "other", pool: "two", type: "aaaa.large" }];
  const text = await whatIf([scenarioFile({ pools: [quiet, nodePool("two")], machines }, { instanceTypes: [...TYPES, ...many] })]);
  expect(text).toMatch(/^default +\(11 more\) +11 +1\.100 +11 +1\.100$/m);
  expect(text).toMatch(/^default +all +40 +4\.000 +40 +4\.000$/m);
  expect(text).toMatch(/^two +aaaa\.large +on-demand +1 +0\.400 +- +-$/m);
  expect(text).toMatch(/^all +41 +4\.400 +40 +4\.000$/m);
});

it("JSON has the same facts as the table", async () => {
  const answer = await json(busy, "--family", "bbbb");
  expect(answer).toMatchObject({
    now: "2026-01-01T12:00:00Z",
    today: { nodes: 2, pricePerHour: 0.8 },
    leftAlone: { outcome: "settled", steps: [], podsMoved: 0 },
    changed: { outcome: "settled", podsMoved: 2, stranded: {}, drifted: [{ node: "n1" }, { node: "n2" }] },
  });
  expect(answer.changed.steps[0]).toMatchObject({ at: 0, kind: "disruption", method: "drift", candidates: [{ node: "n1" }] });
});

it("without a change the answer is what disruption does", async () => {
  const path = scenarioFile({ machines: [{ ...onDemand }, { name: "n2", type: "aaaa.huge" }], pods: [pod("p", "n1")] });
  const text = await whatIf([path]);
  expect(text).toContain("WHAT DISRUPTION DOES");
  expect(text).toContain("+15s    empty: n2 (aaaa.huge); 0 pods moved, saves $0.8000/h");
  expect(text).not.toContain("CHANGED");
});

it("--decisions ends the look-ahead, and the answer says so", async () => {
  const path = scenarioFile({ pools: [nodePool("default", { budgets: [{ nodes: "1" }] })], machines: [{ name: "n1" }, { name: "n2" }] });
  expect(await whatIf([path, "--decisions", "1"])).toContain("not settled: there were more decisions than --decisions allows");
});

it("the answer is the same each time", async () => {
  const args = [busy, "--family", "bbbb", "--set", "nodepool/default.spec.disruption.consolidateAfter=30s", "--from-scratch"];
  expect(await whatIf(args)).toBe(await whatIf(args));
});

it("manifests, fields and budgets are applied in turn, and the answer lists what they change", async () => {
  const manifest = file(
    `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: default }
spec:
  template:
    spec:
      requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [bbbb.small, bbbb.medium] }]
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: default }
  disruption: { consolidateAfter: Never, budgets: [{ nodes: "100%" }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
`,
    "pool.yaml",
  );
  const answer = await json(busy, "--apply", manifest, "--budget", "default=1", "--set", "nodepool/default.spec.limits.cpu=100");
  expect(answer.change).toHaveLength(3);
  expect(answer.change[0]).toContain("spec.template.spec.requirements");
  expect(answer.change[1]).toBe('NodePool default: spec.limits {"cpu":100} (was not set)');
  expect(answer.change.join()).toContain('spec.disruption.budgets [{"nodes":"1"}]');
  expect(answer.warnings[0]).toContain("1 ConfigMap of the manifests is passed over");
  // The budget lets one node go at a time, and the pod of the first node fits on the second.
  expect(answer.changed.steps.map(({ at }: { at: number }) => at)).toEqual([0, 30]);
});

it("--delete removes a NodePool with its nodes", async () => {
  const pools = [quiet, nodePool("other", { consolidateAfter: "Never" })];
  const path = scenarioFile({ pools, machines: [onDemand], pods: [pod("p", "n1")] });
  const answer = await json(path, "--delete", "default");
  expect(answer.changed.bill.rows).toMatchObject([{ nodePool: "other", nodes: 1 }]);
});

it("pods that cannot be scheduled after the change are listed, with why their nodes stay", async () => {
  const wants = pod("p", "n1", {
    spec: { nodeName: "n1", nodeSelector: { "node.kubernetes.io/instance-type": "aaaa.large" }, containers: [] },
  });
  const text = await whatIf([scenarioFile({ pools: [quiet], machines: [onDemand], pods: [wants] }), "--family", "bbbb"]);
  expect(text).toContain("PODS THAT WOULD FIND NO PLACE ELSEWHERE\n  1 pod: default/p");
  expect(text).toContain("WHY NODES STAY\n  1 node: n1: not all pods would schedule");
});

describe("bad input", () => {
  it.for<{ name: string; args: readonly string[]; says: string }>([
    { name: "no source", args: [], says: "name a snapshot file, or a live cluster" },
    { name: "two sources", args: [busy, "--context", "prod"], says: "two sources" },
    { name: "two files", args: [busy, busy], says: "one SOURCE is enough" },
    { name: "no such file", args: ["missing.json"], says: "there is no such file" },
    { name: "an unknown option", args: [busy, "--famly", "m7g"], says: "there is no option --famly; did you mean --family?" },
    { name: "an option without its value", args: [busy, "--family"], says: "--family needs a value: --family NAMES" },
    { name: "an option twice", args: [busy, "--format", "json", "--format", "json"], says: "--format is given twice" },
    { name: "an unknown format", args: [busy, "--format", "xml"], says: '--format is one of table, json, not "xml"' },
    { name: "no time at all", args: [busy, "--days", "0"], says: "--days takes a number above 0" },
    { name: "no decisions", args: [busy, "--decisions", "1.5"], says: "--decisions takes a whole number above 0" },
    { name: "an unknown family", args: [busy, "--family", "aaab"], says: "there is no instance family aaab; did you mean aaaa?" },
    { name: "an unknown pool", args: [busy, "--budget", "defualt=1"], says: "there is no NodePool defualt; did you mean default?" },
    {
      name: "a budget above 100%",
      args: [busy, "--budget", "default=200%"],
      says: "--budget default=200%: spec.disruption.budgets.0.nodes ",
    },
    { name: "a budget that is none", args: [busy, "--budget", "default=some"], says: "write POOL=NODES" },
    { name: "an unknown capacity type", args: [busy, "--capacity-type", "spott"], says: "did you mean spot?" },
    { name: "--pool alone", args: [busy, "--pool", "default"], says: "--pool says which pools" },
    {
      name: "a field that is none",
      args: [busy, "--set", "nodepool/default.spec.disruption.consolidatAfter=1m"],
      says: "consolidateAfter",
    },
    {
      name: "a value that is none",
      args: [busy, "--set", "nodepool/default.spec.weight=heavy"],
      says: "--set nodepool/default.spec.weight=heavy:",
    },
    { name: "a value that is no YAML", args: [busy, "--set", "nodepool/default.spec.limits={cpu"], says: "not valid YAML" },
    { name: "a field of nothing", args: [busy, "--set", "weight=3"], says: "write nodepool/NAME.spec.FIELD=VALUE" },
    {
      name: "a manifest that is no YAML",
      args: [busy, "--apply", file("kind: [NodePool\nmetadata: {}\n", "bad.yaml")],
      says: "document 1, line",
    },
    {
      name: "a pool of a class that is not there",
      args: [classed, "--set", "nodepool/default.spec.template.spec.nodeClassRef.name=bigg"],
      says: "EC2NodeClass bigg",
    },
    { name: "a cluster without pools", args: [file('{"nodePools": [], "instanceTypes": []}')], says: "has no NodePool" },
    {
      name: "classes that are none",
      args: [scenarioFile({ pools: [quiet] }, { nodeClasses: [1] }), "--family", "aaaa"],
      says: "nodeClasses must be",
    },
  ])("is one sentence: $name", async ({ args, says }) => {
    const error = await whatIf(args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message).toContain(says);
    expect((error as Error).message).not.toContain("\n");
  });
});

describe("--save", () => {
  const secret = "hunter2";
  const { claim, node } = machine(onDemand);
  const scene = {
    nodePools: [quiet],
    nodes: [{ ...node, status: { ...node?.status, images: [{ names: [secret] }], nodeInfo: { machineID: secret } } }],
    nodeClaims: [claim],
    pods: [
      {
        ...pod("p", "n1", { metadata: { annotations: { [`vault/${secret}`]: secret, "karpenter.sh/do-not-disrupt": "true" } } }),
        spec: {
          nodeName: "n1",
          containers: [
            { name: "c", image: secret, args: [secret], env: [{ name: "A", value: secret }], resources: { requests: { cpu: "1" } } },
          ],
          volumes: [
            { name: "v", secret: { secretName: secret } },
            { name: "w", persistentVolumeClaim: { claimName: "data" } },
          ],
          imagePullSecrets: [{ name: secret }],
        },
        status: { phase: "Running", message: secret },
      },
    ],
    nodeClasses: [
      {
        metadata: { name: "default", annotations: { "kubectl.kubernetes.io/last-applied-configuration": secret } },
        spec: { role: "r", amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: [], userData: secret },
      },
    ],
    persistentVolumes: [{ metadata: { name: "pv" }, spec: { csi: { driver: "ebs.csi.aws.com", nodePublishSecretRef: { name: secret } } } }],
    persistentVolumeClaims: [
      { metadata: { name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes", note: secret } }, spec: { volumeName: "pv" } },
    ],
  };
  const remarks = ["prices are of yesterday"];
  const source = file(JSON.stringify({ ...scene, remarks, now: "2026-01-01T12:00:00Z", instanceTypes: TYPES }), "live.json");

  it("keeps the fields that decisions read and nothing else", async () => {
    const path = join(folder, "saved.json.gz");
    expect(await whatIf([source, "--save", path])).toContain("1 node, 1 pod; without environment");
    const text = gunzipSync(readFileSync(path)).toString("utf8");
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({
      pods: [
        {
          metadata: { name: "p", annotations: { "karpenter.sh/do-not-disrupt": "true" } },
          spec: { nodeName: "n1", containers: [{ resources: { requests: { cpu: "1" } } }] },
        },
      ],
      persistentVolumes: [{ spec: { csi: { driver: "ebs.csi.aws.com" } } }],
      // Without it the claim would count as unbound, and its pod could not be placed elsewhere.
      persistentVolumeClaims: [{ metadata: { annotations: { "pv.kubernetes.io/bind-completed": "yes" } } }],
    });
  });

  it("writes a file that gives the same answer as its source", async () => {
    const path = join(folder, "again.json");
    await whatIf([source, "--save", path]);
    const { source: _, ...before } = await json(source, "--family", "bbbb");
    const { source: __, ...after } = await json(path, "--family", "bbbb");
    expect(after).toEqual(before);
  });

  it("names the file that it cannot write", async () => {
    await expect(whatIf([source, "--save", join(folder, "no", "such", "folder.json")])).rejects.toThrow(/^cannot write/);
  });
});

it.for([
  [0, "0s"],
  [45_000, "45s"],
  [60_000, "1m"],
  [195_000, "3m 15s"],
  [3_600_000 + 60_000, "1h 1m"],
  [50 * 3_600_000, "2d 2h"],
] as const)("%d ms is %s", ([ms, text]) => {
  expect(span(ms)).toBe(text);
});
