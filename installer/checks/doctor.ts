import type { Answer } from "#terminal/command.ts";
import type { InstallationPorts } from "../account/ports.ts";
import { examine } from "./observe-installation.ts";
import { asJson, asText, checkCredentials, type StatusOptions } from "./status.ts";
import { checkAll } from "./table.ts";

/** Examines an installation. Throws InputError where AWS does not accept the caller. */
export async function doctor(options: StatusOptions, ports: InstallationPorts): Promise<Answer> {
  await checkCredentials(ports);
  const { cluster, region, stackName, json } = options;
  const checks = checkAll("doctor", await examine(options, ports));
  return json ? asJson({ cluster, region, stack: stackName }, checks) : asText(`cluster ${cluster} in ${region}`, checks);
}
