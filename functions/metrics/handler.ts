import middy from "@middy/core";
import { VERSION } from "#settings/version.ts";
import { ProcessMemory } from "../shared/process-memory.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClusters } from "../wiring/clusters.ts";
import { wirePathToken } from "../wiring/path-token.ts";
import { metricsEntry } from "./entry.ts";

const base = wireBase("metrics", ["METRICS_TOKEN"]);
const { config, log } = base;
const isToken = wirePathToken(config.metricsToken ?? "", config, log);

export const handler = middy(
  metricsEntry({
    ...base,
    clusterDeps: wireClusters(base),
    flush: base.flushing.after,
    version: VERSION,
    isToken,
    memory: new ProcessMemory(),
  }),
);
