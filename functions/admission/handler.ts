import middy from "@middy/core";
import { COMMIT } from "../adapters/commit.ts";
import { parseConfig } from "../adapters/config.ts";
import { powertoolsLog } from "../adapters/log.ts";
import { wirePathToken } from "../wiring/path-token.ts";
import { admissionEntry } from "./entry.ts";

// Not wireBase: this function has no store and sends no wake-ups, so its cold start need not load their clients.
const config = parseConfig(process.env, ["ADMISSION_TOKEN"]);
const log = powertoolsLog({ level: config.logLevel, commit: COMMIT, fields: { controller: "admission" } });
const isToken = wirePathToken(config.admissionToken ?? "", config, log);
const clusters = new Set(config.clusters.map(({ name }) => name));

export const handler = middy(admissionEntry({ log, isToken, clusters, gates: config.featureGates }));
