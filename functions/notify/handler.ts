import middy from "@middy/core";
import { wireBase } from "../wiring/base.ts";
import { wirePathToken } from "../wiring/path-token.ts";
import { notifyEntry } from "./entry.ts";

const base = wireBase("notify", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL", "NOTIFY_TOKEN"]);
const clusters = new Set(base.config.clusters.filter(({ sources }) => sources.includes("notify")).map(({ name }) => name));
const isToken = wirePathToken(base.config.notifyToken ?? "", base.config, base.log);

export const handler = middy(notifyEntry({ ...base, isToken, clusters }));
