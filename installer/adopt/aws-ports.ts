import { randomUUID } from "node:crypto";
import { ec2Client } from "#adapters/aws/clients.ts";
import { ec2Fleet } from "#adapters/aws/fleet.ts";
import { ownCaller } from "#adapters/aws/own-caller.ts";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import type { InstallPorts } from "../install/ports.ts";
import type { AdoptPorts } from "./ports.ts";

/** The tables and instances of a region, with the credentials of the person who runs the command. */
export function adoptPorts(
  region: string,
  { stacks, clusterApi, sleep }: Pick<InstallPorts, "stacks" | "clusterApi" | "sleep">,
): AdoptPorts {
  // The SDK's clients read the region from here, as in Lambda.
  process.env["AWS_REGION"] = region;
  const { credentials } = ownCaller("EC2", region);
  return {
    ...{ stacks, clusterApi, sleep, now: Date.now, newId: randomUUID },
    records: (tableName) => dynamoNodeClaimStore({ tableName }),
    instances: (cluster) => ec2Fleet(ec2Client(region, credentials)).list(cluster),
  };
}
