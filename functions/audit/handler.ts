import middy from "@middy/core";
import { wireBase } from "../wiring/base.ts";
import { auditEntry, clusterOfLogGroup } from "./entry.ts";

const base = wireBase("audit", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL"]);
const audited = base.config.clusters.filter(({ sources }) => sources.includes("audit"));
const clusters = audited.map(({ name }) => name);

export const handler = middy(auditEntry({ ...base, clusters, clusterOf: clusterOfLogGroup(audited) }));
