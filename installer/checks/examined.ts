import type { Print } from "#terminal/command.ts";
import { clusterObjects } from "../account/objects.ts";
import type { InstallationPorts, InstallPorts } from "../account/ports.ts";
import { examine } from "./observe-installation.ts";
import { checkAll } from "./table.ts";
import { checkLines } from "./verdict.ts";

export type ExaminedPorts = Pick<InstallPorts, "sleep"> & InstallationPorts;

/** The functions look at a new EC2NodeClass when the webhook sends it, or with the next sweep. */
const LOOK_MS = 120_000;
const POLL_MS = 2_000;

/**
 * What doctor says of what was just installed: prints what is not as it should be, and the number of what is. Returns
 * whether nothing is at fault. Before that it waits until the functions have looked at each EC2NodeClass.
 */
export async function examined(
  { cluster, region, stackName }: { readonly cluster: string; readonly region: string; readonly stackName: string },
  ports: ExaminedPorts,
  print: Print,
): Promise<boolean> {
  await looked(cluster, ports, print);
  // Where there is no EC2NodeClass yet, the caller prints what to apply.
  const checks = checkAll("doctor", await examine({ cluster, region, stackName }, ports)).filter(({ name }) => name !== "EC2NodeClasses");
  const others = checks.filter(({ level }) => level !== "ok");
  print(`doctor: ${checks.length - others.length} of ${checks.length} checks are ok${others.length === 0 ? "" : ", but"}`);
  for (const line of checkLines(others)) print(line);
  return others.every(({ level }) => level !== "fault");
}

async function looked(cluster: string, { clusterApi, sleep, now }: ExaminedPorts, print: Print): Promise<void> {
  const api = clusterApi(cluster);
  const until = now() + LOOK_MS;
  for (let hasEventSource = false; now() < until; await sleep(POLL_MS)) {
    const waiting = (await clusterObjects(api)).classes.filter(({ isReady }) => !isReady).map(({ name }) => name);
    if (waiting.length === 0) return;
    if (!hasEventSource) print(`waiting until the functions have looked at EC2NodeClass ${waiting.join(", ")}`);
    hasEventSource = true;
  }
}
