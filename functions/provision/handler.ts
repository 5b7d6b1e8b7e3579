import middy from "@middy/core";
import { wireAnnouncements } from "../wiring/announcements.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClusters } from "../wiring/clusters.ts";
import { provisionEntry } from "./entry.ts";

const base = wireBase("provision", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL"]);

export const handler = middy(provisionEntry({ ...base, clusterDeps: wireClusters(base, wireAnnouncements(base)) })).use(base.flushing);
