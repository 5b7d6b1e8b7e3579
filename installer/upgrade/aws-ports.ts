import { ownCaller } from "#adapters/aws/own-caller.ts";
import { askAtTerminal } from "#terminal/ask.ts";
import { awsPorts } from "../install/aws-ports.ts";
import { awsInspector } from "../installation/inspector.ts";
import { cloudFormationChangeSets } from "./change-sets.ts";
import type { UpgradePorts } from "./ports.ts";

/** CloudFormation answers slower than a function's own calls. */
const TIMEOUT_MS = 30_000;

/** AWS, and the person at the terminal. */
export function upgradePorts(region: string): UpgradePorts {
  return {
    ...awsPorts(region),
    changeSets: cloudFormationChangeSets({ ...ownCaller("CLOUDFORMATION", region), timeoutMs: TIMEOUT_MS }),
    inspector: awsInspector(region, (service) => ownCaller(service, region)),
    confirm: askAtTerminal,
    now: Date.now,
  };
}
