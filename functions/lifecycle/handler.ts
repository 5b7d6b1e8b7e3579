import middy from "@middy/core";
import { ec2Client } from "#adapters/aws/clients.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { pacedEc2 } from "#adapters/aws/pace.ts";
import { wireAnnouncements } from "../wiring/announcements.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClustersWith } from "../wiring/clusters.ts";
import { wireRequestPace } from "../wiring/request-pace.ts";
import { lifecycleEntry } from "./entry.ts";

const base = wireBase("lifecycle", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL"]);
const clusterDeps = wireClustersWith(base, wireAnnouncements(base), (account) => ({
  fleet: ec2Fleet(pacedEc2(ec2Client(base.config.region, account.credentials, "standard"), wireRequestPace(base, account))),
}));

export const handler = middy(lifecycleEntry({ ...base, clusterDeps })).use(base.flushing);
