import { describe, expect, it } from "vitest";
import { type PlayOptions, playManifests, playStory } from "#lab/play.ts";
import { MORE_STORIES, STORIES } from "#lab/stories.ts";

interface Line {
  readonly message: string;
  readonly [field: string]: unknown;
}

async function played(name: string): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const story = [...STORIES, ...MORE_STORIES].find((candidate) => candidate.name === name);
  if (story === undefined) throw new Error(`there is no story ${name}`);
  const { region = "us-west-2" } = story;
  const options: PlayOptions = { json: true, colour: false, seed: 1, region, print: (line) => void lines.push(JSON.parse(line) as Line) };
  await playStory(story, options);
  return lines;
}

/** The log lines of the steps in the life of a node, in order. */
const STEPS = /^(created|launched|registered|initialized) nodeclaim$|^disrupting|^tainted node$|^deleted node(claim)?$|^initiating delete/;
const steps = (lines: readonly Line[]): readonly string[] =>
  lines.map(({ message }) => message.replace(/ via .*/, "")).filter((message) => STEPS.test(message));
const of = (lines: readonly Line[], message: string): Line => {
  const line = lines.find((candidate) => candidate.message === message);
  if (line === undefined) throw new Error(`no line "${message}"`);
  return line;
};

describe("the lab's stories", () => {
  it("inflate: five pods of 1Gi get one on-demand m5.large, with the allocatable that Karpenter logs", async () => {
    const lines = await played("inflate");
    expect(steps(lines)).toEqual(["created nodeclaim", "launched nodeclaim", "registered nodeclaim", "initialized nodeclaim"]);
    expect(of(lines, "launched nodeclaim")).toMatchObject({
      level: "INFO",
      controller: "nodeclaim.lifecycle",
      "instance-type": "m5.large",
      "capacity-type": "on-demand",
      allocatable: { cpu: "1930m", memory: "6903Mi", pods: "29", "vpc.amazonaws.com/pod-eni": "9" },
    });
    expect(String(of(lines, "launched nodeclaim")["zone"])).toMatch(/^us-west-2[a-d]$/);
  });

  it("up-and-down: a large node is replaced by a small one, in the order of Karpenter's log lines, then no node is left", async () => {
    const lines = await played("up-and-down");
    const up = ["created nodeclaim", "launched nodeclaim", "registered nodeclaim", "initialized nodeclaim"];
    const down = ["tainted node", "deleted node", "deleted nodeclaim"];
    expect(steps(lines)).toEqual([...up, "disrupting nodeclaim(s)", ...up.slice(1), ...down, "disrupting nodeclaim(s)", ...down]);
    const messages = lines.map(({ message }) => message);
    expect(messages.find((message) => message.includes("via replace"))).toMatch(
      /^disrupting nodeclaim\(s\) via replace, terminating 1 nodes \(1 pods\) \S+\/c6a\.2xlarge\/on-demand and replacing with on-demand node from types (\S+, ){4}\S+ and \d+ other\(s\)$/,
    );
  });

  it("interruption: a spot node that gets its notice is replaced first and removed within two minutes", async () => {
    const lines = await played("interruption");
    const at = (message: string, last = false): number => {
      const found = lines.filter((line) => line.message === message);
      return Date.parse(String((last ? found.at(-1) : found[0])?.["time"]));
    };
    const notice = at("initiating delete from interruption message");
    const replaced = at("initialized nodeclaim", true);
    const gone = at("deleted node");
    expect(replaced).toBeGreaterThan(notice);
    expect(gone).toBeGreaterThan(replaced);
    expect(gone - notice).toBeLessThan(120_000);
  });

  it("interruption: the story ends with what the plan with another number of nodes would have cost", async () => {
    const printed: string[] = [];
    const story = [...STORIES, ...MORE_STORIES].find(({ name }) => name === "interruption");
    if (story === undefined) throw new Error("there is no story interruption");
    await playStory(story, { json: false, colour: false, seed: 1, region: "us-west-2", print: (line) => void printed.push(line) });
    const text = printed.join("\n").replaceAll(/\s+/g, " ");
    const [, chosen = "", other = ""] =
      /Why 1 node and not 2: .* is not bought for now, and (.*) cost less than (.*) an hour\./.exec(text) ?? [];
    const [paid, refused] = [chosen, other].map((plan) => {
      const [, count, type, price, volume, sum] = /^(\d) × \(spot (\S+) \$([\d.]+) \+ node \$([\d.]+)\) = \$([\d.]+)$/.exec(plan) ?? [];
      expect(Number(count) * (Number(price) + Number(volume))).toBeCloseTo(Number(sum), 3);
      return { type, sum: Number(sum) };
    });
    expect(text).toMatch(new RegExp(`launched nodeclaim \\S+ ${paid?.type} spot`));
    expect(refused?.type).not.toBe(paid?.type);
    expect(paid?.sum).toBeLessThan(refused?.sum ?? 0);
  });

  it("replace: a c5a.2xlarge is replaced by a c5a.large, with the log lines of Karpenter", async () => {
    const lines = await played("replace");
    const up = ["created nodeclaim", "launched nodeclaim", "registered nodeclaim", "initialized nodeclaim"];
    expect(steps(lines)).toEqual([...up, "disrupting nodeclaim(s)", ...up.slice(1), "tainted node", "deleted node", "deleted nodeclaim"]);
    const line = lines.find(({ message }) => message.startsWith("disrupting"));
    expect(line).toMatchObject({ level: "INFO", logger: "controller", reason: "underutilized" });
    expect(line?.message).toMatch(
      /^disrupting nodeclaim\(s\) via replace, terminating 1 nodes \(1 pods\) ip-[\d-]+\.ap-northeast-2\.compute\.internal\/c5a\.2xlarge\/on-demand and replacing with on-demand node from types c5a\.large, (\S+, ){3}\S+ and \d+ other\(s\)$/,
    );
  });

  it("night: the nodes of a NodePool that sleeps go, its pods are told until when they wait, and others come before morning", async () => {
    const lines = await played("night");
    const node = ["created nodeclaim", "launched nodeclaim", "registered nodeclaim", "initialized nodeclaim"];
    const end = ["disrupting nodeclaim(s)", "tainted node", "deleted node", "deleted nodeclaim"];
    expect(steps(lines)).toEqual([...node, ...end, ...node]);
    expect(JSON.stringify(of(lines, "could not schedule pod"))).toContain("default sleeps until 2026-01-01 09:30 UTC");
  });

  it("spot-to-spot: a spot node is replaced by one of the fifteen cheapest types and no more", async () => {
    const messages = (await played("spot-to-spot")).map(({ message }) => message).filter((message) => message.startsWith("disrupting"));
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatch(/^disrupting nodeclaim\(s\) via delete, terminating 1 nodes \(\d pods\) \S+\/spot$/);
    expect(messages[1]).toMatch(
      /^disrupting nodeclaim\(s\) via replace, terminating 1 nodes \(1 pods\) \S+\/c6i\.2xlarge\/spot and replacing with spot node from types c6i\.large, (\S+, ){3}\S+ and 10 other\(s\)$/,
    );
  });

  it("each story is the same however often it is played", async () => {
    expect(await played("inflate")).toEqual(await played("inflate"));
  });
});

describe("manifests of the user", () => {
  it("manifests without a NodePool get the default one, and follow a Deployment", async () => {
    const printed: string[] = [];
    const options: PlayOptions = { json: false, colour: false, seed: 1, region: "us-west-2", print: (line) => void printed.push(line) };
    const path = new URL("../../lab/stories/inflate-cpu.yaml", import.meta.url).pathname;
    await playManifests([path], [{ namespace: "default", name: "inflate", replicas: 2 }], 5, options);
    const text = printed.join("\n");
    expect(text).toContain("There is no NodePool among them, so the default one is used");
    expect(text).toMatch(/NAME +TYPE +CAPACITY +ZONE +NODE +READY +AGE\ndefault-\w{5} +\S+ +on-demand +us-west-2\w +ip-\S+ +True/);
    expect(text).toMatch(/1 instance, \$0\.\d+ in all/);
  });
});
