import middy from "@middy/core";
import { powertoolsLog } from "#adapters/telemetry/log.ts";
import { COMMIT } from "#settings/commit.ts";
import { parseConfig } from "#settings/config.ts";
import { wirePathToken } from "../wiring/path-token.ts";
import { isServedBy } from "../wiring/served-clusters.ts";
import { admissionEntry } from "./entry.ts";

// Not wireBase: this function sends no wake-ups, and needs the table only for clusters that were added to the stack, so
// its cold start need not load their clients.
const config = parseConfig(process.env, ["ADMISSION_TOKEN"]);
const log = powertoolsLog({ level: config.logLevel, commit: COMMIT, fields: { controller: "admission" } });
const isToken = wirePathToken(config.admissionToken ?? "", config, log);
const isServed = isServedBy(config.clusters, async () => (await import("../wiring/added-clusters.ts")).wireAddedClusters(config, log));

export const handler = middy(admissionEntry({ log, isToken, isServed, gates: config.featureGates }));
