import middy from "@middy/core";
import { wireBase } from "../wiring/base.ts";
import { notifyEntry } from "./entry.ts";

const base = wireBase("notify", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL", "NOTIFY_TOKEN"]);
const clusters = new Set(base.config.clusters.filter(({ sources }) => sources.includes("notify")).map(({ name }) => name));

export const handler = middy(notifyEntry({ ...base, token: base.config.notifyToken ?? "", clusters }));
