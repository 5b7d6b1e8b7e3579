import { defaultProvider } from "@aws-sdk/credential-provider-node";
import middy from "@middy/core";
import { ec2Client, iamClient, pricingClient, ssmClient } from "../adapters/aws/clients.ts";
import { awsInventory } from "../adapters/aws/inventory.ts";
import { arcZonalShift } from "../adapters/aws/zonal-shift.ts";
import { wireBase } from "../adapters/wiring/base.ts";
import { wireClusters } from "../adapters/wiring/clusters.ts";
import { catalogEntry } from "./entry.ts";

const base = wireBase("catalog", ["PROVISION_QUEUE_URL"]);
const { region } = base.config;
const inventory = awsInventory({ ec2: ec2Client(region), ssm: ssmClient(region), pricing: pricingClient(region), iam: iamClient(region) });

const zonalShift = arcZonalShift({ region, credentials: defaultProvider() });

export const handler = middy(
  catalogEntry({ clusters: base.clusters, clusterDeps: wireClusters(base), log: base.log, inventory, zonalShift }),
);
