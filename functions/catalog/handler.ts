import middy from "@middy/core";
import { ec2Client, iamClient, pricingClient, ssmClient } from "../adapters/aws/clients.ts";
import { awsInventory } from "../adapters/aws/inventory.ts";
import { arcZonalShift } from "../adapters/aws/zonal-shift.ts";
import { noAnnouncements } from "../shared/announce.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClustersWith } from "../wiring/clusters.ts";
import { catalogEntry } from "./entry.ts";

const base = wireBase("catalog", ["PROVISION_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL"]);
const { region } = base.config;
const clusterDeps = wireClustersWith(base, noAnnouncements, ({ credentials }) => ({
  inventory: awsInventory({
    ec2: ec2Client(region, credentials),
    ssm: ssmClient(region, credentials),
    pricing: pricingClient(region, credentials),
    iam: iamClient(region, credentials),
  }),
  zonalShift: arcZonalShift({ region, credentials }),
}));

export const handler = middy(catalogEntry({ ...base, clusterDeps })).use(base.flushing);
