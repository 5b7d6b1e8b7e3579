import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ownCaller } from "#adapters/aws/own-caller.ts";
import { DIST } from "#infra/dist.ts";
import { zipPath } from "#infra/zip.ts";
import { askAtTerminal } from "#terminal/ask.ts";
import { callerOnAws, functionsOnAws, queuesOnAws } from "./aws-functions.ts";
import { machinesOnAws } from "./aws-machines.ts";
import { stacksOnAws } from "./aws-stacks.ts";
import type { CheckPorts } from "./ports.ts";

/** Lambda waits for a cold start, CloudFormation for nothing. */
const TIMEOUT_MS = 30_000;

/** AWS, with the credentials of the person who runs the command. */
export function checkPorts(region: string): CheckPorts {
  const caller = (service: string) => ({ ...ownCaller(service, region), timeoutMs: TIMEOUT_MS });
  return {
    cloud: {
      ...stacksOnAws(region, caller),
      ...queuesOnAws(caller),
      ...functionsOnAws(caller),
      ...machinesOnAws(region, caller("EC2").credentials),
      ...callerOnAws(region, caller("IAM").credentials),
    },
    notifyCode: async () => zipPath(`${DIST}/notify`),
    confirm: askAtTerminal,
    now: Date.now,
    sleep: (ms) => sleep(ms),
    newId: randomUUID,
  };
}
