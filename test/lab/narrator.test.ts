import { expect, it } from "vitest";
import { narrator } from "#lab/narrator.ts";

const START = Date.UTC(2026, 0, 15, 10);

function story() {
  const lines: string[] = [];
  const voice = narrator({ start: START, colour: false, print: (line) => lines.push(line), pricePerHour: () => 0 });
  const hear = (message: string, fields = {}): void =>
    voice.hear({ at: START, level: message.startsWith("could not") ? "error" : "info", message, fields });
  return { lines, voice, hear };
}

it("the narrator names pods that wait for one reason together, once", () => {
  const { lines, voice, hear } = story();
  for (const round of [1, 2]) {
    for (const Pod of ["a/x", "a/y"]) hear("could not schedule pod", { Pod, error: "NodePool arm: wants amd64" });
    hear("deleted nodeclaim", { NodeClaim: { name: `c${round}` } });
  }
  expect(lines.map((line) => line.split(/\s{2,}/).slice(1, 4))).toEqual([
    ["could not schedule pods", "a/x, a/y", "NodePool arm: wants amd64"],
    ["deleted nodeclaim", "c1", "$0.000/h"],
    ["deleted nodeclaim", "c2", "$0.000/h"],
  ]);
  hear("could not schedule pod", { Pod: "a/x", error: "another reason" });
  voice.flush();
  expect(lines.at(-1)).toContain("could not schedule pod      a/x  another reason");
  expect(voice.waiting.get("a/x")).toBe("another reason");
});

it("the narrator prints a line about nodes that are not ready only when it changes", () => {
  const { lines, hear } = story();
  for (const nodes of [2, 2, 1]) hear("computed unready node(s) will fit pod(s)", { nodes, pods: 3 });
  expect(lines).toHaveLength(2);
});

it("the narrator keeps long messages in their column", () => {
  const { lines, hear } = story();
  hear("computed new nodeclaim(s) to fit pod(s)", { nodeclaims: 1, pods: 5 });
  expect(lines[0]).toContain("+00:00    computed new nodeclaim(s)   to fit pod(s)  nodeclaims: 1, pods: 5");
});
