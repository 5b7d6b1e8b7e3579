// Whether a cluster is paused.
// In: the table and the cluster. Out: a line for each pause, none for a cluster without one.

import type { Pause } from "#core/model/pause.ts";
import { isForgotten, isInForce, pauseText } from "#core/pause/pause.ts";
import type { InstallationPorts } from "../account/ports.ts";
import type { StackState } from "../account/stack-state.ts";
import { readPauses } from "../pause/read.ts";
import { span } from "./ago.ts";
import type { Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";
import { type CheckResult, checkLines, fault, note } from "./verdict.ts";

/** Nothing is asked without a table. */
export async function observedPauses(
  cluster: string,
  stack: Observed<StackState | undefined>,
  { records, clusterApi, now }: Pick<InstallationPorts, "records" | "now"> & { readonly clusterApi: PauseApi },
): Promise<Observed<readonly Pause[]>> {
  const table = "value" in stack ? stack.value?.outputs["TableName"] : undefined;
  if (table === undefined) return { value: [] };
  return observed(readPauses(cluster, { store: records(table), api: clusterApi(cluster), now: now() }));
}

/** A line for each pause of a cluster, for a command that changes its stack. */
export async function pauseLines(
  cluster: string,
  stack: StackState | undefined,
  ports: Parameters<typeof observedPauses>[2],
): Promise<readonly string[]> {
  const pauses = await observedPauses(cluster, { value: stack }, ports);
  return checkLines(paused({ cluster, now: ports.now(), pauses }) ?? []);
}

type PauseApi = (cluster: string) => Pick<ReturnType<InstallationPorts["clusterApi"]>, "find">;

interface PausedFacts {
  readonly cluster: string;
  readonly now: number;
  readonly pauses: Observed<readonly Pause[]>;
}

/** A pause without an end that is older than a day is a fault: it was forgotten. */
export function paused({ cluster, now, pauses }: PausedFacts): readonly CheckResult[] | undefined {
  if ("error" in pauses) return [{ name: "pause", ...note(`not checked: ${pauses.error}`) }];
  const lines = pauses.value.flatMap((pause): CheckResult[] => {
    const text = pauseText(pause);
    const resume =
      pause.source === "table"
        ? `karpenter-serverless resume --cluster ${cluster}`
        : "kubectl delete configmap karpenter-serverless-pause -n kube-system";
    if (!isInForce(pause, now)) return pause.source === "table" ? [] : [{ name: "pause", ...note(`is over: ${text}; ${resume}`) }];
    if (isForgotten(pause, now))
      return [{ name: "pause", ...fault(`forgotten for ${span(now - pause.at)}, and without an end: ${text}; ${resume}`) }];
    return [{ name: "pause", ...note(`${text}; ${resume} ends it`) }];
  });
  return lines.length === 0 ? undefined : lines;
}
