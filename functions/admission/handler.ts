import middy from "@middy/core";
import { COMMIT } from "../adapters/commit.ts";
import { parseConfig } from "../adapters/config.ts";
import { powertoolsLog } from "../adapters/log.ts";
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
