import { describe, expect, it } from "vitest";
import { type Drawn, drawnScreen, type Screen } from "#cli/view/screen.ts";
import { afterKey, FIRST_SCREEN } from "#cli/view/terminal.ts";
import { clusterOverview } from "#core/insight/overview/cluster.ts";
import { decisionsOf } from "#core/insight/overview/decisions.ts";
import type { ViewIndex } from "#core/insight/overview/types.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { nodePool, pod, snapshot } from "../../core/disruption/builders.ts";

const machines = Array.from({ length: 40 }, (_, i) => ({ name: `n${i}`, capacityType: i % 2 === 0 ? "spot" : "on-demand" }));
const waiting = pod("big", undefined, { spec: { containers: [{ name: "c", resources: { requests: { cpu: "99" } } }] } });
const state = {
  snapshot: snapshot({
    pools: [nodePool("default", { consolidateAfter: "Never" })],
    machines,
    pods: [...machines.map(({ name }, i) => pod(`p${i}`, name)), waiting],
  }),
  records: [],
  commands: [],
};
const overview = clusterOverview(
  "prod",
  state,
  decisionsOf(state, { disruption: disruptionSettings("prod", DEFAULT_SETTINGS), solve: DEFAULT_SETTINGS }),
);
const index: ViewIndex = {
  version: 1,
  kind: "live",
  title: "prod",
  revision: 1,
  scenes: [
    { id: "0", name: "prod" },
    { id: "1", name: "test" },
  ],
};
const START = FIRST_SCREEN;
const draw = (screen: Partial<Screen> = {}, width = 120, height = 24): Drawn =>
  drawnScreen(index, overview, { ...START, ...screen }, { width, height });
const text = (screen: Partial<Screen> = {}): string => draw(screen, 160, 60).lines.join("\n");

describe("the terminal view", () => {
  it.for([
    { width: 60, height: 10 },
    { width: 80, height: 24 },
    { width: 200, height: 50 },
  ])("fills a terminal of $width columns and $height lines, and no more", ({ width, height }) => {
    for (const section of ["nodes", "waiting", "on their way", "pools", "disruption"] as const) {
      const { lines } = draw({ section }, width, height);
      expect(lines).toHaveLength(height);
      expect(lines.filter((line) => line.length > width)).toEqual([]);
    }
  });

  it("nodes have bars, price and why they stay; the dearest come first", () => {
    const lines = draw({}, 200, 60).lines;
    expect(lines[0]).toBe("prod  (1 of 2; c shows the next)");
    expect(lines[1]).toMatch(/^\$11\.20\/h \(\$8176 a month, 30% below on demand\) +40 nodes +41 pods, 1 waiting/);
    expect(lines.find((line) => line.includes(" n1 "))).toMatch(/█████░+ +25%.* 1 +large +on-demand +a +default .*\$0\.4000 +stays +/);
    expect(lines.findIndex((line) => line.includes(" n1 "))).toBeLessThan(lines.findIndex((line) => line.includes(" n0 ")));
  });

  it.for([
    { width: 60, titles: ["NODE", "CPU", "TYPE", "NODEPOOL", "$/H", "FATE"] },
    { width: 45, titles: ["NODE", "CPU", "TYPE", "$/H", "FATE"] },
    { width: 24, titles: ["NODE", "$/H", "FATE"] },
  ])("price and fate stay in sight on $width columns, and other columns go", ({ width, titles }) => {
    const lines = draw({}, width, 24).lines;
    const head = lines.find((line) => line.startsWith("  NODE")) ?? "";
    expect(head.trim().split(/ +/)).toEqual(titles);
    expect(lines.find((line) => line.startsWith("› n1 "))).toMatch(/\$0\.4000 +stays$/);
  });

  it("names without what all end with, where the terminal is narrow", () => {
    const named = overview.nodes.map((node) => ({ ...node, name: `ip-10-0-0-${node.name.slice(1)}.us-west-2.compute.internal` }));
    const at = (width: number, nodes = named): string =>
      drawnScreen(index, { ...overview, nodes }, START, { width, height: 24 }).lines.join("\n");
    expect(at(100)).toMatch(/\n› ip-10-0-0-1 +/);
    expect(at(200)).toContain("› ip-10-0-0-1.us-west-2.compute.internal ");
    expect(at(100, [...named, ...overview.nodes])).toContain("ip-10-0-0-1.us-west-2.compute.internal");
  });

  it("a node that is opened says all of why it stays and what would free it, also after the list has changed", () => {
    const opened = draw({ opened: "n0", at: 7, top: 0 }, 60, 30);
    const lines = opened.lines.join("\n");
    expect(lines).toContain("node/n0");
    expect(lines).toMatch(/\$0\.1600\/h, \$0\.4000\/h on demand; 1 pod\n/);
    expect(lines).toMatch(/\ncpu +█+░+ +25%\nmemory +/);
    expect(lines.replaceAll("\n", " ")).toContain(overview.nodes.find(({ name }) => name === "n0")?.fate.text);
    expect(lines).toContain("What would free it: ");
    expect(opened).toMatchObject({ at: 7 });
    expect(draw({ opened: "n99" }).lines.join()).toContain("node/n99 is gone.");
  });

  it("pods that wait, NodePools and disruption have their sections", () => {
    expect(text({ section: "waiting" })).toMatch(/1 pod \(left\).*: default\/big\n {2}NodePool default: .*cpu/);
    expect(text({ section: "pools" })).toMatch(/default +40 +\$11\.20\/h +\$16\.00\/h +160 +Empty 40, Underutilized 40, Drifted 40 +ready/);
    expect(text({ section: "disruption" })).toContain("No command is under way, and the next pass would decide none.");
    expect(text({ section: "on their way" })).toContain("No NodeClaim is on its way.");
  });

  it("a search leaves the lines that hold all its words", () => {
    expect(text({ query: "spot n12" })).toContain("\n› n12 ");
    expect(text({ query: "spot n13" })).toContain('No node holds "spot n13".');
  });

  it("scrolls to the last line and not past it", () => {
    const { lines, top, at, chosen } = draw({ at: 1_000 });
    expect({ at, chosen }).toEqual({ at: 39, chosen: "n8" });
    expect(top).toBe(40 - (24 - 6));
    expect(lines.at(-1)).toContain(`${top + 1}-40 of 40`);
    expect(lines.at(-2)).toMatch(/^› n8 /);
    // The head of the table stays, and so does the chosen node when the others come into sight again.
    expect(lines[4]).toMatch(/^ {2}NODE +CPU /);
    expect(draw({ at: 30, top: 22 }).top).toBe(22);
    expect(draw({ at: 21, top: 22 }).top).toBe(21);
  });

  it("a name that holds escapes of a terminal is text", () => {
    const hostile = { ...overview, nodes: overview.nodes.map((node) => ({ ...node, name: "\u001b[2J\u009b1mevil\u202e" })) };
    const { lines } = drawnScreen({ ...index, scenes: [{ id: "0", name: "a\nb", problem: "\u001b]0;x\u0007" }] }, hostile, START, {
      width: 120,
      height: 24,
    });
    expect(lines.join("").match(/[\p{Cc}\p{Cf}]/gu)).toBeNull();
  });

  it.for([
    { keys: ["3"], want: { section: "on their way" } },
    { keys: ["tab"], want: { section: "waiting" } },
    { keys: ["left"], want: { section: "disruption" } },
    { keys: ["j", "down", "up"], want: { at: 1, top: 0 } },
    { keys: ["pagedown", "home"], want: { at: 0 } },
    { keys: ["2", "down"], want: { top: 1, at: 0 } },
    { keys: ["return", "down"], want: { opened: "n1", top: 1, at: 0 } },
    { keys: ["return", "escape"], want: { opened: "" } },
    { keys: ["return", "tab"], want: { opened: "", section: "waiting" } },
    { keys: ["c"], want: { cluster: 1 } },
    { keys: ["c", "c"], want: { cluster: 0 } },
    { keys: ["/", "q", "1", "backspace", "return"], want: { query: "q", isTyping: false, section: "nodes" } },
    { keys: ["/", "a", "escape"], want: { query: "", isTyping: false } },
    { keys: ["f5", "x"], want: { ...START, chosen: "n1" } },
  ])("keys $keys lead to $want", ({ keys, want }) => {
    const after = keys.reduce(
      (screen: Screen, name) => afterKey(screen, name.length === 1 ? name : undefined, { name, sequence: name }, index, 24),
      { ...START, chosen: "n1" },
    );
    expect(after).toMatchObject(want);
  });
});
