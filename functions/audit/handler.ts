import middy from "@middy/core";
import { wireBase } from "../wiring/base.ts";
import { auditEntry, clusterOfLogGroup, isAudited } from "./entry.ts";

const base = wireBase("audit", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL"]);
const { served } = base;
const clusters = async () => (await served.all()).filter(isAudited).map(({ name }) => name);

export const handler = middy(auditEntry({ ...base, clusters, clusterOf: clusterOfLogGroup(served) }));
