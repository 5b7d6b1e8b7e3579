import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clusterSource, type Readable } from "#cli/view/clusters.ts";
import { viewCommand } from "#cli/view/command.ts";
import { VIEW_OPTIONS, viewOptions } from "#cli/view/options.ts";
import { shortName } from "#cli/view/view.ts";
import type { Source } from "#cli/what-if/source.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { HistoryRange } from "#core/model/history-range.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { SETTING } from "#terminal/arguments.ts";
import { parseArguments } from "#terminal/command-line.ts";
import { InputError } from "#terminal/input-error.ts";
import { NOW, pod, snapshot, TYPES } from "../../core/disruption/builders.ts";

const sourceOf = (seen: Snapshot): Source => ({
  ...{ name: "c1", snapshot: seen, nodeClasses: [], nodeOverlays: [], intents: {} },
  ...{ typesOf: () => TYPES, knowsClasses: true, remarks: ["a remark"] },
});

const at = (seconds: number, scene: Parameters<typeof snapshot>[0]): Snapshot => ({ ...snapshot(scene), now: NOW + seconds * 1_000 });
const busy = { machines: [{ name: "n1" }], pods: [pod("p", "n1")] };

/** A cluster that gives the next of these at each read; an error is thrown. */
function cluster(id: string, ...answers: readonly (Snapshot | Error)[]): Readable {
  let reads = 0;
  return {
    ...{ id, name: `cluster ${id}` },
    read: async () => {
      const answer = answers[Math.min(reads++, answers.length - 1)];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer");
      return sourceOf(answer);
    },
  };
}

const ENDED: HistoryEntry = {
  ...{ type: "Terminating", cluster: "a", at: NOW - 3_600_000, nodeClaim: "gone", intent: "i", nodePool: "default" },
  reason: "spot_interrupted",
};

const view = (...readables: readonly Readable[]) => clusterSource(readables, { kind: "live", title: "t", settings: DEFAULT_SETTINGS });

describe("a view of live clusters", () => {
  it("each look shows the cluster as it is then, with what would be decided, and raises the revision", async () => {
    const source = view(cluster("a", at(0, busy), at(5, { machines: [{ name: "n1" }, { name: "n2" }], pods: [pod("p", "n1")] })));
    const revisions: number[] = [];
    source.onChange(() => revisions.push(source.index().revision));
    await source.look();
    const first = await source.scene("a");
    expect(first).toMatchObject({ name: "cluster a", at: NOW, remarks: ["a remark"], cost: { perHour: 0.4 } });
    expect(first?.nodes[0]?.fate.verdict).not.toBe("unseen");
    await source.look();
    expect((await source.scene("a"))?.nodes).toHaveLength(2);
    expect((await source.pods("a"))?.map(({ name }) => name)).toEqual(["p"]);
    expect(source.index().costs?.["a"]?.map(({ perHour }) => perHour)).toEqual([0.4, 0.4, 0.8]);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(revisions.length).toBeGreaterThanOrEqual(3);
  });

  it("a remark is shown and goes with the look that brings it, although nothing else has changed", async () => {
    const remarks = [[], ["Karpenter itself runs"], []];
    let reads = 0;
    const source = view({ id: "a", name: "a", read: async () => ({ ...sourceOf(at(reads, busy)), remarks: remarks[reads++] ?? [] }) });
    for (const expected of remarks) {
      await source.look();
      expect((await source.scene("a"))?.remarks).toEqual(expected);
    }
  });

  it("a cluster that does not answer keeps its last picture and says why; the others go on", async () => {
    const source = view(cluster("a", at(0, busy), new InputError("connect to the VPN")), cluster("b", at(0, busy)));
    await source.look();
    await source.look();
    const figures = { cost: { perHour: 0.4 }, nodes: 1, pods: 1, waiting: 0, left: 0 };
    const { scenes } = source.index();
    expect(scenes).toMatchObject([
      { id: "a", name: "cluster a", problem: "connect to the VPN", figures },
      { id: "b", name: "cluster b", figures },
    ]);
    expect(scenes[1]?.problem).toBeUndefined();
    expect((await source.scene("a"))?.nodes).toHaveLength(1);
  });

  it("a look at which no cluster answers is the error of the first", async () => {
    await expect(view(cluster("a", new InputError("log in")), cluster("b", new Error("x"))).look()).rejects.toThrow("log in");
  });

  it("what the index does not name is undefined", async () => {
    const source = view(cluster("a", at(0, busy)));
    expect(await source.scene("a")).toBeUndefined();
    await source.look();
    for (const id of ["b", "constructor", ""]) expect([await source.scene(id), await source.pods(id)]).toEqual([undefined, undefined]);
  });

  it("the history of the last day is read once a minute, and shown; without it the cluster is shown with why", async () => {
    let reads = 0;
    const [first, second] = [at(0, busy), at(30, busy)];
    const history = async () => {
      reads++;
      return [];
    };
    const source = view({ ...cluster("a", first, second, at(61, busy)), history });
    for (let i = 0; i < 3; i++) await source.look();
    expect(reads).toBe(2);
    expect(source.index().past?.["a"]).toMatchObject({ events: [], since: NOW + 61_000 - 86_400_000 });
    const refused = view({ ...cluster("a", first), history: async () => Promise.reject(new InputError("no permission")) });
    await refused.look();
    expect(refused.index()).toMatchObject({ past: {}, scenes: [{ problem: "the history cannot be read: no permission" }] });
    expect(await refused.scene("a")).toBeDefined();
  });

  it("a month and a NodeClaim's own story are read when they are asked for, a month at most each ten minutes", async () => {
    const ranges: HistoryRange[] = [];
    const history = async (range: HistoryRange) => {
      ranges.push(range);
      return range.about === "nodeclaim/gone" ? [ENDED] : range.about === undefined ? [ENDED] : [];
    };
    const source = view({ ...cluster("a", at(0, busy), at(61, busy)), history });
    await source.look();
    expect(await source.past?.("a", 30)).toMatchObject({ since: NOW - 30 * 86_400_000, events: [{ kind: "Terminating" }] });
    await source.look();
    ranges.length = 0;
    await source.past?.("a", 30);
    expect(ranges).toEqual([]);
    expect(await source.story?.("a", "gone")).toMatchObject([{ kind: "Terminating", text: expect.stringContaining("Spot interruption") }]);
    for (const [id, name] of [
      ["a", "never"],
      ["b", "gone"],
      ["constructor", "gone"],
    ] as const)
      expect(await source.story?.(id, name)).toBeUndefined();
    expect(await source.past?.("b", 30)).toBeUndefined();
    const without = view(cluster("a", at(0, busy)));
    await without.look();
    expect([await without.past?.("a", 30), await without.story?.("a", "gone")]).toEqual([undefined, undefined]);
  });

  it("a price that holds is one step of the line", async () => {
    const source = view(cluster("a", ...[0, 5, 10, 15, 20].map((seconds) => at(seconds, busy))));
    for (let i = 0; i < 5; i++) await source.look();
    expect(source.index().costs?.["a"]).toEqual([
      { at: NOW, perHour: 0.4, onDemandPerHour: 0.4 },
      { at: NOW + 20_000, perHour: 0.4, onDemandPerHour: 0.4 },
    ]);
  });
});

it.for([
  ["arn:aws:eks:eu-central-1:111122223333:cluster/prod", "prod (eu-central-1)"],
  ["arn:aws-cn:eks:cn-north-1:111122223333:cluster/a/b", "a/b (cn-north-1)"],
  ["kind-kind", "kind-kind"],
] as const)("the context %s is shown as %s", ([context, name]) => {
  expect(shortName(context)).toBe(name);
});

const { positionals = { name: "FILE", description: "", isRequired: false, isList: false } } = viewCommand;
const options = (...args: readonly string[]) =>
  viewOptions(parseArguments({ usage: "view", positionals, options: { ...VIEW_OPTIONS, setting: SETTING } }, args));

describe("the options of view", () => {
  it.for([
    { args: [], want: [{}] },
    { args: ["--context", "a", "--context", "b"], want: [{ context: "a" }, { context: "b" }] },
    { args: ["--kubeconfig", "k"], want: [{ kubeconfig: "k" }] },
    { args: ["--cluster", "a", "--region", "r", "--stack", "s"], want: [{ cluster: "a", region: "r", stack: "s" }] },
    { args: ["--context", "a", "--cluster", "b"], want: [{ context: "a" }, { cluster: "b" }] },
    { args: ["--stack", "s"], want: [] },
    { args: ["file.json"], want: [] },
  ])("$args show $want", ({ args, want }) => {
    expect(options(...args).clusters).toEqual(want);
  });

  it.for([
    { args: ["f", "--context", "a"], why: "f and --context are two sources; give one of them" },
    { args: ["--context", "a", "--stack", "s"], why: "--stack is about --cluster, and not about --context; leave one of them out" },
    { args: ["--every", "0.1"], why: '--every takes a number of seconds from 1 on, not "0.1"' },
    { args: ["--terminal", "--open"], why: "--open is for the page, and --terminal shows none; leave one of them out" },
  ])("$args are refused: $why", ({ args, why }) => {
    expect(() => options(...args)).toThrow(why);
  });

  it("a server that does not answer at first is one sentence, and the page ends with it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "view-"));
    const kubeconfig = join(folder, "config");
    const cluster = { name: "c", cluster: { server: "https://127.0.0.1:9" } };
    const context = { name: "c", context: { cluster: "c", user: "u" } };
    const users = [{ name: "u", user: { token: "x" } }];
    writeFileSync(kubeconfig, JSON.stringify({ "current-context": "c", clusters: [cluster], contexts: [context], users }));
    const printed: string[] = [];
    await expect(viewCommand.run(["--kubeconfig", kubeconfig], (line) => void printed.push(line))).rejects.toThrow(
      "https://127.0.0.1:9 refuses the connection; start that cluster, or correct the server of context c in",
    );
    const url = /http:\S+/.exec(printed.join("\n"))?.[0];
    if (url !== undefined) await expect(fetch(url)).rejects.toThrow();
    rmSync(folder, { recursive: true });
  });

  it("a file that does not exist is one sentence, and nothing is served", async () => {
    const printed: string[] = [];
    await expect(viewCommand.run(["no-such-file.json"], (line) => void printed.push(line))).rejects.toThrow(InputError);
    expect(printed).toEqual([]);
  });
});
