import { span } from "#core/lib/duration.ts";
import type { Pause, PauseScope } from "#core/model/pause.ts";
import { isInForce, PAUSE_CONFIG_MAP, pauseDocument, pauseJson, pauseText } from "#core/pause/pause.ts";
import { heldWork } from "#core/pause/resume.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import { PROGRAM } from "#settings/program.ts";
import type { Answer } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { InstallerPorts } from "../account/ports.ts";
import { type Serving, servingOf } from "../account/serving.ts";
import { isOurs } from "../account/stack-state.ts";
import { readPauses, tablePause } from "./read.ts";

export type PausePorts = Pick<InstallerPorts, "now"> & {
  readonly account: Pick<InstallerPorts["account"], "caller">;
  readonly stacks: Pick<InstallerPorts["stacks"], "describe" | "metadata">;
  readonly clusterRecords: (table: string) => Pick<ReturnType<InstallerPorts["clusterRecords"]>, "list">;
  readonly clusterApi: (cluster: string) => Pick<ReturnType<InstallerPorts["clusterApi"]>, "find">;
  readonly records: (table: string) => Pick<NodeClaimStore, "getDocument" | "putDocument" | "addHistory" | "list">;
};

/** Which clusters of a stack: one, or all when `cluster` is undefined. */
export interface Clusters {
  readonly stackName: string;
  readonly cluster: string | undefined;
}

export interface PauseOptions extends Clusters {
  readonly only: PauseScope | undefined;
  /** ms; without an end when undefined. */
  readonly forMs: number | undefined;
  readonly reason: string;
}

/**
 * Pauses clusters. The pause is in force with the write of one item of the table; a command that is repeated replaces
 * it. Throws InputError where the stack does not serve the cluster.
 */
export async function pause({ only, forMs, reason, ...clusters }: PauseOptions, ports: PausePorts): Promise<Answer> {
  const { names, store } = await chosen(clusters, ports);
  const { arn } = await ports.account.caller();
  const at = ports.now();
  const next: Pause = { source: "table", at, by: arn, reason, ...(only && { only }), ...(forMs !== undefined && { until: at + forMs }) };
  const lines: string[] = [];
  for (const cluster of names) {
    const before = await tablePause(cluster, { store, now: at });
    await store.putDocument(pauseDocument(cluster), Buffer.from(pauseJson(next)), String(at));
    await store.addHistory([{ type: "Paused", cluster, at, pause: next }]);
    const replaced = before && isInForce(before, at) ? `; this replaces: ${pauseText(before)}` : "";
    lines.push(`cluster ${cluster}: ${pauseText(next)}${replaced}`);
  }
  const end = forMs === undefined ? "until resume" : `for ${span(forMs)}`;
  return { output: `${lines.join("\n")}\nIn force within 10 s, ${end}; notices of EC2 and deletions by people are acted upon.\n` };
}

/** Takes back what `pause` has written, and says what still holds and what is done first. Throws InputError. */
export async function resume(clusters: Clusters, ports: PausePorts): Promise<Answer> {
  const { names, store } = await chosen(clusters, ports);
  const { arn } = await ports.account.caller();
  const now = ports.now();
  const lines: string[] = [];
  for (const cluster of names) {
    const before = await tablePause(cluster, { store, now });
    await store.putDocument(pauseDocument(cluster), Buffer.from(pauseJson(undefined)), String(now));
    if (before) await store.addHistory([{ type: "Resumed", cluster, at: now, source: "table", by: arn, pausedAt: before.at }]);
    const wasHeld = before !== undefined && isInForce(before, now);
    lines.push(`cluster ${cluster}: ${wasHeld ? `resumed; before, ${pauseText(before)}` : "was not paused by this command"}`);
    const left = (await readPauses(cluster, { store, api: ports.clusterApi(cluster), now })).filter((one) => isInForce(one, now));
    const { name, namespace } = PAUSE_CONFIG_MAP;
    for (const one of left) lines.push(`  still ${pauseText(one)}; end it: kubectl delete configmap ${name} -n ${namespace}`);
    if (left.length === 0) for (const line of heldWork(await store.list(cluster), now)) lines.push(`  ${line}`);
  }
  return { output: `${lines.join("\n")}\n` };
}

async function chosen({ stackName, cluster }: Clusters, ports: PausePorts) {
  const stack = await ports.stacks.describe(stackName);
  const table = stack?.outputs["TableName"];
  if (stack === undefined || !isOurs(stack) || table === undefined)
    throw new InputError(`there is no stack ${stackName} of this program with a table; name it with --stack`);
  const { names }: Serving = await servingOf(stackName, stack, ports);
  if (cluster !== undefined && !names.includes(cluster))
    throw new InputError(`stack ${stackName} serves ${names.join(", ")} and not ${cluster}; name the stack that does with --stack`);
  if (names.length === 0) throw new InputError(`stack ${stackName} serves no cluster; add one: ${PROGRAM} install --cluster NAME`);
  return { names: cluster === undefined ? names : [cluster], store: ports.records(table) };
}
