import { ownCaller } from "#adapters/aws/own-caller.ts";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import { askAtTerminal } from "#terminal/ask.ts";
import { awsPorts } from "../install/aws-ports.ts";
import { leftBehindOnAws } from "./left-behind.ts";
import type { UninstallPorts } from "./ports.ts";

/** AWS, and the person at the terminal. */
export function uninstallPorts(region: string): UninstallPorts {
  const tagging = ownCaller("RESOURCE_GROUPS_TAGGING_API", region);
  // The SDK's clients read the region from here, as in Lambda.
  process.env["AWS_REGION"] = region;
  return {
    ...awsPorts(region),
    records: (tableName) => dynamoNodeClaimStore({ tableName }),
    now: Date.now,
    leftBehind: leftBehindOnAws(region, tagging.credentials, tagging),
    confirm: askAtTerminal,
  };
}
