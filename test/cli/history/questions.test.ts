import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listHistory } from "#cli/history/list.ts";
import { formatOf, report } from "#cli/history/report.ts";
import type { HistorySource } from "#cli/history/source.ts";
import { momentOf } from "#cli/history/time.ts";
import { subjectFrom, why } from "#cli/history/why.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Lab } from "#lab/host.ts";
import { START, troubledHour } from "./course.ts";

let lab: Lab;
let source: HistorySource;
let entries: readonly HistoryEntry[];
let left: readonly NodeClaimRecord[];

beforeAll(async () => {
  ({ lab, source } = await troubledHour());
  entries = await source.store.history(source.cluster, { since: 0, until: source.now + 1 });
  left = await source.store.list(source.cluster);
}, 60_000);
afterAll(() => lab.close());

const flat = (text: string): string => text.replace(/\s+/g, " ");
const ask = async (word: string): Promise<string> => flat(await why(subjectFrom(word), source, { since: START, json: false }));
const ended = (reason: string): string => {
  const found = entries.find((entry) => entry.type === "Removed" && entry.reason === reason);
  if (found?.type !== "Removed" || found.node === undefined) throw new Error(`no node ended by ${reason}`);
  return found.node;
};
const range = { since: START, until: Number.MAX_SAFE_INTEGER };

describe("docs/history.md: what a stranger asks", () => {
  it("what do I pay now, and for what? report", async () => {
    const text = await report(source, { ...range, format: "markdown" });
    expect(text).toMatch(/- cost: \$0\.\d+ for \d+\.\d node hours, \$\d\.\d+ on demand/);
    expect(text).toContain(`- now: ${left.length} nodes, $`);
    expect(text).toMatch(/\| default \| \d+\.\d \| \$/);
    expect(text).toMatch(/\| spot \| \d+\.\d \| \$/);
  });

  it("which pods wait, for what, and since when? history", async () => {
    const text = flat(await listHistory(source, { ...range, json: false }));
    expect(text).toContain("pod/shop/stuck 1 pod (shop/stuck) waits since 2026-01-01T00:00:0");
    expect(text).toContain("team=blue");
  });

  it("why does this pod wait? why pod/…", async () => {
    const text = await ask("pod/shop/stuck");
    expect(text).toContain("no node was planned for it");
    expect(text).toMatch(/waits since 2026-01-01T00:00:\d\dZ, last seen \d\w.* later: .*team=blue/);
  });

  it("what did this pod wait for, which is gone? why pod/…, also when no machine was bought for it", async () => {
    const text = await ask("pod/shop/late");
    expect(text).toMatch(/^pod\/shop\/late planned for nodeclaim\/(\S+) nodeclaim\/\1, node\/\S+, NodePool default .*\$\d/);
    expect(text).toMatch(/planned also for 1 pod \(shop\/late\), \d+s old: it waits until its node is ready/);
    expect(entries.filter(({ type }) => type === "PodsNominated").length).toBe(1);
    const answer = JSON.parse(await why(subjectFrom("pod/shop/late"), source, { since: START, json: true }));
    expect(answer.nominations).toEqual([expect.objectContaining({ type: "PodsNominated", isReady: false, pods: ["shop/late"] })]);
  });

  it("why was this machine chosen? why node/…", async () => {
    const text = await ask(`node/${left.find(({ nodePool }) => nodePool === "spot")?.nodeName}`);
    expect(text).toMatch(
      /planned for \d pods? \(default\/batch-.*asks for cpu .* spot in .* at \$0\.\d{4}\/h is the cheapest of \d+ types; next: /,
    );
    expect(text).toMatch(/launched as \S+ spot in us-west-2\w \(i-\w+\) at \$0\.\d{4}\/h, on demand \$0\.\d{4}\/h/);
  });

  it("why is it still here, and what would free it? why node/…", async () => {
    const text = await ask(`node/${left[0]?.nodeName}`);
    expect(text).toMatch(/stays \(as of [^)]*\): \S.+ what would free it: \S/);
  });

  it("where did this pod's node go? why pod/…", async () => {
    const planned = entries.find((entry) => entry.type === "Planned");
    const [pod] = planned?.type === "Planned" ? planned.pods : [];
    expect(await ask(`pod/${pod}`)).toMatch(/planned for nodeclaim\/\S+ .*gone since/);
  });

  it("why did this node go last night? why node/…, also when it is gone", async () => {
    expect(await ask(`node/${ended("spot_interrupted")}`)).toMatch(
      /gone since .* ends \(spot_interrupted\) because Spot interruption warning was triggered .* gone .* after its launch, \$0\.\d+ at its price at launch/,
    );
    expect(await ask(`node/${ended("underutilized")}`)).toMatch(
      /disrupted because the pods fit elsewhere for less: .* ends \(underutilized\)/,
    );
  });

  it("what happened last night? history --since", async () => {
    const text = await listHistory(source, { since: momentOf("45m", source.now, "--since"), until: source.now + 1, json: false });
    expect(text).toContain("disrupted because");
    expect(text).not.toContain("spot_interrupted");
  });

  it("what did consolidation and spot save this month? report", async () => {
    const made = JSON.parse(await report(source, { ...range, format: "json" })) as Readonly<Record<string, number>>;
    expect(made["savedByConsolidation"]).toBeGreaterThan(0);
    expect(made["savedBySpot"]).toBeGreaterThan(0);
    expect(made["interruptions"]).toBe(1);
  });
});

describe("each machine of the hour", () => {
  it("that ended is told once, with why", () => {
    const gone = lab.cloud.machines().filter(({ endedAt }) => endedAt !== undefined);
    expect(gone.length).toBeGreaterThan(1);
    for (const { instance } of gone) {
      const ends = entries.filter((entry) => entry.type === "Removed" && entry.machine?.instanceId === instance.id);
      expect(ends.map(({ type }) => type)).toEqual(["Removed"]);
    }
  });

  it("is in the report with what EC2 billed for it, to a minute", async () => {
    const made = JSON.parse(await report(source, { ...range, format: "json" })) as { readonly total: { readonly dollars: number } };
    const billed = lab.cloud.costs().reduce((sum, { usd }) => sum + usd, 0);
    const minutes = lab.cloud.machines().reduce((sum, { price }) => sum + price / 60, 0);
    expect(Math.abs(made.total.dollars - billed)).toBeLessThan(minutes);
  });
});

describe("forms", () => {
  it("the report as CSV has a line for each day, NodePool and capacity type", async () => {
    const [head, ...lines] = (await report(source, { ...range, format: "csv" })).trim().split("\n");
    expect(head).toBe("day,nodepool,capacity_type,node_hours,dollars,on_demand_dollars");
    expect(lines).toEqual([
      expect.stringMatching(/^2026-01-01,default,on-demand,[\d.]+,[\d.]+,[\d.]+$/),
      expect.stringMatching(/^2026-01-01,spot,spot,[\d.]+,[\d.]+,[\d.]+$/),
    ]);
  });

  it("the report of another NodePool is empty", async () => {
    const made = JSON.parse(await report(source, { ...range, nodePool: "other", format: "json" }));
    expect(made).toMatchObject({ rows: [], launched: 0, ended: 0, running: 0, savedByConsolidation: 0, interruptions: 0 });
  });

  it("history of a NodePool leaves out what is about none", async () => {
    const all = JSON.parse(await listHistory(source, { ...range, until: source.now + 1, json: true }));
    const of = JSON.parse(await listHistory(source, { ...range, until: source.now + 1, nodePool: "default", json: true }));
    const others = entries.filter((entry) => entry.type === "PodsWaited" || ("nodePool" in entry && entry.nodePool === "spot"));
    expect(of.entries.length).toBeGreaterThan(0);
    expect(all.entries.length - of.entries.length).toBe(others.length);
    expect(all.entries[0]).toMatchObject({ time: expect.any(String), subject: expect.any(String), sentence: expect.any(String) });
  });

  it("why as JSON has the facts, the reason to stay and each entry", async () => {
    const answer = JSON.parse(await why(subjectFrom(`nodeclaim/${left[0]?.name}`), source, { since: START, json: true }));
    expect(answer.nodeClaims).toEqual([
      expect.objectContaining({
        nodeClaim: left[0]?.name,
        node: left[0]?.nodeName,
        state: "running",
        stays: expect.objectContaining({ why: expect.any(String), remedy: expect.any(String) }),
      }),
    ]);
  });
});

describe("what is wrong is said in one sentence", () => {
  it.for([
    ["foo/bar", "why foo/bar: ask about node/NAME, nodeclaim/NAME or pod/NAMESPACE/NAME"],
    ["node", "why node: ask about node/NAME, nodeclaim/NAME or pod/NAMESPACE/NAME"],
    ["pod/a/b/c", "why pod/a/b/c: ask about node/NAME, nodeclaim/NAME or pod/NAMESPACE/NAME"],
  ] as const)("why %s", ([word, sentence]) => {
    expect(() => subjectFrom(word)).toThrow(sentence);
  });

  it("a name with a slip leads to the name that is known", async () => {
    const node = left[0]?.nodeName ?? "";
    const slip = `${node.slice(0, -1)}x`;
    await expect(ask(`node/${slip}`)).rejects.toThrow(`knows no node ${slip} since 2026-01-01 00:00:00; ${node} is known`);
  });

  it("a pod that nothing was decided about is said so", async () => {
    await expect(ask("pod/shop/none")).rejects.toThrow("nothing was decided about pod shop/none since");
  });

  it("an unknown format names those that there are", () => {
    expect(() => formatOf("xml")).toThrow("--format xml: there are markdown, csv, json");
  });

  it.for([
    { text: "2d", ms: 2 * 86_400_000 },
    { text: "90m", ms: 90 * 60_000 },
    { text: "1.5d", ms: 36 * 3_600_000 },
  ])("--since $text is a span", ({ text, ms }) => {
    expect(momentOf(text, 1e12, "--since")).toBe(1e12 - ms);
  });

  it("--since of a day is its midnight in UTC, and nonsense is refused", () => {
    expect(momentOf("2026-11-25", 0, "--since")).toBe(Date.parse("2026-11-25T00:00:00Z"));
    for (const text of ["yesterday", "-2d", "2026", "5"])
      expect(() => momentOf(text, 0, "--since")).toThrow("is neither a span nor a time");
  });
});
