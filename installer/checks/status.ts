import type { Answer } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { InstallationPorts } from "../account/ports.ts";
import { observed } from "./observe-account.ts";
import { observeState } from "./observe-health.ts";
import { checkAll } from "./table.ts";
import { type CheckResult, checkLines } from "./verdict.ts";

export interface StatusOptions {
  readonly cluster: string;
  readonly region: string;
  readonly stackName: string;
  readonly json: boolean;
}

/** Whether an installation works, on one screen. Throws InputError where AWS does not accept the caller. */
export async function status({ cluster, region, stackName, json }: StatusOptions, ports: InstallationPorts): Promise<Answer> {
  await checkCredentials(ports);
  const state = await observeState({ cluster, stackName }, ports);
  const lines = checkAll("status", state);
  const answer = { cluster, region, stack: stackName };
  return json ? asJson(answer, lines, { observed: state }) : asText(`cluster ${cluster} in ${region}`, lines);
}

/** Throws InputError where AWS does not accept the caller, because then nothing can be read. */
export async function checkCredentials({ account }: Pick<InstallationPorts, "account">): Promise<void> {
  const caller = await observed(account.caller());
  if ("error" in caller)
    throw new InputError(`AWS does not accept your credentials (${caller.error}); sign in with aws sso login, or set AWS_PROFILE`);
}

const faultsOf = (lines: readonly CheckResult[]): number => lines.filter(({ level }) => level === "fault").length;

export function asText(about: string, lines: readonly CheckResult[]): Answer {
  const faults = faultsOf(lines);
  const end =
    faults === 0 ? `${about}: healthy` : `${about}: not healthy, ${faults === 1 ? "one line is" : `${faults} lines are`} marked FAULT`;
  return { output: `${[...checkLines(lines), end].join("\n")}\n`, isUsable: faults === 0 };
}

export function asJson(about: object, checks: readonly CheckResult[], more: object = {}): Answer {
  const isHealthy = faultsOf(checks) === 0;
  return { output: `${JSON.stringify({ ...about, healthy: isHealthy, checks, ...more }, undefined, 2)}\n`, isUsable: isHealthy };
}
