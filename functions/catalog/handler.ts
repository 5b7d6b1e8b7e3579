import middy from "@middy/core";
import { ec2Client, iamClient, pricingClient, ssmClient } from "#adapters/aws/clients.ts";
import { awsInventory } from "#adapters/aws/inventory.ts";
import { pacedEc2 } from "#adapters/aws/pace.ts";
import { arcZonalShift } from "#adapters/aws/zonal-shift.ts";
import { noAnnouncements } from "../shared/announce.ts";
import { wireBase } from "../wiring/base.ts";
import { wireClustersWith } from "../wiring/clusters.ts";
import { wireRequestPace } from "../wiring/request-pace.ts";
import { catalogEntry } from "./entry.ts";

const base = wireBase("catalog", ["PROVISION_QUEUE_URL", "DISRUPTION_QUEUE_URL", "CATALOG_QUEUE_URL"]);
const { region } = base.config;
const clusterDeps = wireClustersWith(base, noAnnouncements, (account) => ({
  inventory: awsInventory({
    ec2: pacedEc2(ec2Client(region, account.credentials, "standard"), wireRequestPace(base, account, true)),
    ssm: ssmClient(region, account.credentials),
    pricing: pricingClient(region, account.credentials),
    iam: iamClient(region, account.credentials),
  }),
  zonalShift: arcZonalShift({ region, credentials: account.credentials }),
}));

export const handler = middy(catalogEntry({ ...base, clusterDeps })).use(base.flushing);
