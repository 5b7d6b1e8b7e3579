import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { buildCommand } from "../go/build.ts";
import { type Family, settingOf, snapshotOf } from "./workloads.ts";

/** What Karpenter itself needs for the same pods, in a process of its own. */
export interface KarpentersRun {
  /** CPU time of all threads for deciding the first time, ms; reading the scenario is not counted. */
  readonly cpuMs: number;
  /** The least of all runs. */
  readonly bestCpuMs: number;
  readonly nodes: number;
  readonly left: number;
}

/** Karpenter is stopped after so long, s; it then has no run. */
const LIMIT = 600;
const FOLDER = resolve(import.meta.dirname, "../../.cache/bench");

let oracle: string | undefined;

/** Asks Karpenter v1.15.0 (test/go/cmd/oracle, needs Go); undefined when it takes longer than LIMIT. */
export function askKarpenter(family: Family, pods: number, runs = 1): KarpentersRun | undefined {
  oracle ??= buildCommand("oracle");
  mkdirSync(FOLDER, { recursive: true });
  const file = resolve(FOLDER, `${family}-${pods}.scenario.json.gz`);
  const setting = settingOf(family);
  const { now, nodePools, daemonSets, pods: pending } = snapshotOf(setting, pods);
  const scenario = {
    name: family,
    now: new Date(now).toISOString(),
    nodePools,
    daemonSets,
    pods: pending,
    instanceTypes: setting.instanceTypes,
  };
  writeFileSync(file, gzipSync(JSON.stringify(scenario), { level: 1 }));
  const { status, stdout, stderr } = spawnSync(oracle, ["-runs", String(runs), file], {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    timeout: LIMIT * 1000,
  });
  if (status === null) return undefined;
  if (status !== 0) throw new Error(stderr.trim());
  const { plans } = JSON.parse(stdout) as { plans: { newNodeClaims: object[]; podErrors: object; cpuMillis: number }[] };
  const [first] = plans;
  const bestCpuMs = Math.min(...plans.map(({ cpuMillis }) => cpuMillis));
  return first && { cpuMs: first.cpuMillis, bestCpuMs, nodes: first.newNodeClaims.length, left: Object.keys(first.podErrors).length };
}
