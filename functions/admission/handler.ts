import middy from "@middy/core";
import { parseConfig } from "../adapters/config.ts";
import { powertoolsLog } from "../adapters/log.ts";
import { admissionEntry } from "./entry.ts";

// Not wireBase: this function has no store and sends no wake-ups, so its cold start need not load their clients.
const { admissionToken = "", clusters, featureGates, logLevel } = parseConfig(process.env, ["ADMISSION_TOKEN"]);
const log = powertoolsLog({ level: logLevel, fields: { controller: "admission" } });

export const handler = middy(
  admissionEntry({ log, token: admissionToken, clusters: new Set(clusters.map(({ name }) => name)), gates: featureGates }),
);
