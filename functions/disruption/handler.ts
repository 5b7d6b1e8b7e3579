import middy from "@middy/core";
import { wireAnnouncements } from "../wiring/announcements.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClusters } from "../wiring/clusters.ts";
import { disruptionEntry } from "./entry.ts";

const base = wireBase("disruption", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL"]);

export const handler = middy(disruptionEntry({ ...base, clusterDeps: wireClusters(base, wireAnnouncements(base)) })).use(base.flushing);
