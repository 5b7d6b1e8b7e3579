import middy from "@middy/core";
import { ec2Client } from "../adapters/aws/clients.ts";
import { ec2Fleet } from "../adapters/aws/fleet.ts";
import { pacedEc2 } from "../adapters/aws/pace.ts";
import { wireAnnouncements } from "../adapters/wiring/announcements.ts";
import { wireBase } from "../adapters/wiring/base.ts";
import { wireClusters } from "../adapters/wiring/clusters.ts";
import { lifecycleEntry } from "./entry.ts";

const base = wireBase("lifecycle", ["PROVISION_QUEUE_URL", "CLAIM_QUEUE_URL", "DISRUPTION_QUEUE_URL"]);
const fleet = ec2Fleet(pacedEc2(ec2Client(base.config.region)));
const cluster = wireClusters(base, wireAnnouncements(base));
const clusterDeps = async (name: string) => {
  const deps = await cluster(name);
  return deps && { ...deps, fleet };
};

export const handler = middy(lifecycleEntry({ clusters: base.clusters, clusterDeps, log: base.log }));
