import { expect, it } from "vitest";
import { progressReport } from "#cli/what-if/progress.ts";
import { NOW, snapshot } from "../../core/disruption/builders.ts";

function printed(isTTY: boolean) {
  const texts: string[] = [];
  let time = 0;
  const report = progressReport({ isTTY, write: (text) => texts.push(text) }, NOW, () => time);
  const at = (ms: number, pass: number, isChanged?: true): void => {
    time = ms;
    report.onProgress?.({ pass, snapshot: snapshot({ machines: [{ name: "a" }, { name: "b" }] }), ...(isChanged && { isChanged }) });
  };
  return { texts, report, at };
}

it("in a pipe a line every two seconds says the pass, the nodes, their price and the time", () => {
  const { texts, report, at } = printed(false);
  for (const ms of [0, 1_000, 1_999]) at(ms, 1);
  expect(texts).toEqual([]);
  at(2_000, 2);
  at(3_999, 3);
  at(4_100, 4, true);
  expect(texts).toEqual([
    "rehearsing as it is: pass 2, 2 nodes, $0.8000/h, 2 s\n",
    "rehearsing with the change: pass 4, 2 nodes, $0.8000/h, 4 s\n",
  ]);
  expect(report.onDecision).toBeUndefined();
});

it("on a terminal one line is overwritten at each decision", () => {
  const { texts, report, at } = printed(true);
  at(60_000, 2);
  report.onDecision?.(3, NOW + 90_000);
  expect(texts).toEqual(["\rrehearsing: 3 decisions, +1m 30s   \r"]);
});
