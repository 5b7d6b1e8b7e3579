import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { removeDir } from "../e2e/support/child.ts";
import { AUTOSCALERS, playAutoscaler } from "./marking/autoscalers.ts";
import type { Played } from "./marking/observe.ts";
import { playStandIns } from "./marking/stand-in.ts";

/*
 * How fast a real kube-scheduler finds pods unschedulable, on a real API server:
 * `node test/bench/marking.ts [--pods 300] [--rounds 3] [--beside]`. Without --beside: while a stand-in of the notify
 * webhook is registered, for each time of its answer; "pods/status" is the webhook as it was before decision 0016, in
 * the path of kube-scheduler's own writes. With --beside: next to the real Karpenter, and next to the deployed
 * functions with each source of wake-ups, while they launch machines for the pods. Prints the best of the rounds,
 * because other work on the machine only makes it slower.
 */

const NAME_WIDTH = 20;

function row(name: string, { marked, markedAfter, writeMs, heard, heardAfter }: Played): string {
  const columns = [`${marked}`, markedAfter.toFixed(1), (marked / markedAfter).toFixed(0), `${writeMs} ms`];
  if (heard !== undefined) columns.push(`${heard}`, heardAfter?.toFixed(1) ?? "");
  return [name.padEnd(NAME_WIDTH), ...columns.map((value) => value.padStart(9))].join("");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pods: { type: "string", default: "300" },
      rounds: { type: "string", default: "3" },
      beside: { type: "boolean", default: false },
    },
  });
  const [pods, rounds] = [Number(values.pods), Number(values.rounds)];
  const parent = mkdtempSync(join(tmpdir(), "marking-"));
  const best = new Map<string, Played>();
  const keep = (name: string, played: Played): void => {
    const before = best.get(name);
    if (before === undefined || played.markedAfter < before.markedAfter) best.set(name, played);
  };
  try {
    if (!values.beside) await playStandIns({ pods, rounds, dataDir: parent }, keep);
    else
      for (let round = 0; round < rounds; round++) {
        for (const name of AUTOSCALERS) {
          const dataDir = join(parent, `${round}-${name.replaceAll(/\W+/g, "-")}`);
          mkdirSync(dataDir);
          keep(name, await playAutoscaler(name, pods, dataDir));
        }
      }
  } finally {
    removeDir(parent);
  }
  const heads = ["marked", "after,s", "pods/s", "a write", ...(values.beside ? [] : ["heard", "heard,s"])];
  console.log((values.beside ? "beside" : "webhook").padEnd(NAME_WIDTH) + heads.map((head) => head.padStart(9)).join(""));
  for (const [name, played] of best) console.log(row(name, played));
}

await main();
// Connections to ended stand-ins would keep the process alive.
process.exit();
