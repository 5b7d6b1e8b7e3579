import middy from "@middy/core";
import { wireBase } from "../wiring/base.ts";
import { wirePathToken } from "../wiring/path-token.ts";
import { isServedBy } from "../wiring/served-clusters.ts";
import { notifyEntry } from "./entry.ts";

const base = wireBase("notify", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL", "NOTIFY_TOKEN"]);
const isToken = wirePathToken(base.config.notifyToken ?? "", base.config, base.log);
const isServed = isServedBy(
  base.config.clusters,
  async () => base.served,
  ({ sources }) => sources.includes("notify"),
);

export const handler = middy(notifyEntry({ ...base, isToken, isServed }));
