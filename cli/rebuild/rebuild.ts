import { adopted, terminatingEntries } from "#core/history/claim-entries.ts";
import { REGISTERED } from "#core/model/labels.ts";
import { ConflictError } from "#core/ports/errors.ts";
import { planRebuild, type RebuildStep } from "#core/rebuild/plan.ts";
import type { LifecycleDeps } from "#functions/shared/cluster-deps.ts";

type RebuildDeps = Pick<LifecycleDeps, "cluster" | "kubernetes" | "store" | "fleet" | "now" | "newId">;

/**
 * Lists the records and NodeClaims of a cluster that were lost and can be made again; with `apply` writes them. It
 * writes intents only: the next sweep of the lifecycle function, within a minute, carries them out.
 */
export async function rebuild(deps: RebuildDeps, { apply }: { readonly apply: boolean }): Promise<string> {
  const steps = await readSteps(deps);
  const lines: string[] = [];
  for (const step of steps) lines.push(row(step, apply ? await perform(step, deps) : ""));
  return `${[...lines, summary(deps.cluster.name, steps, apply)].join("\n")}\n`;
}

async function readSteps({ cluster, kubernetes, store, fleet, now, newId }: RebuildDeps): Promise<readonly RebuildStep[]> {
  // Instances are listed last, so that an instance which is launched meanwhile for a listed claim is found by its tag.
  const records = await store.list(cluster.name);
  const [claims, nodes, nodePools] = await Promise.all([
    kubernetes.list("NodeClaim"),
    kubernetes.list("Node", { labelSelector: `${REGISTERED}=true` }),
    kubernetes.list("NodePool"),
  ]);
  const instances = await fleet.list(cluster.name);
  return planRebuild({ cluster: cluster.name, records, claims, nodes, nodePools, instances, now: now(), newId });
}

/** The result of a step in a word or two. */
async function perform({ write }: RebuildStep, { store, now }: RebuildDeps): Promise<string> {
  if (write === undefined) return "";
  try {
    const { type, record } = write;
    if (type === "create") await store.create(record, [adopted(record, now())]);
    else await store.update(record, terminatingEntries(record, now()));
    return "done";
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return "left: it has changed meanwhile";
  }
}

function row({ what, machine, why, outcome }: RebuildStep, done: string): string {
  const about = machine === undefined || what.endsWith(machine) ? what : `${what} (${machine})`;
  return `${about}: ${why}; ${outcome}${done === "" ? "" : ` [${done}]`}`;
}

function summary(cluster: string, steps: readonly RebuildStep[], apply: boolean): string {
  const writes = steps.filter(({ write }) => write !== undefined).length;
  if (steps.length === 0) return `Nothing is missing in cluster ${cluster}.`;
  const rest = steps.length > writes ? ` ${steps.length - writes} for a person to fix.` : "";
  if (writes === 0) return rest.trim();
  return apply
    ? `${writes} written; the next sweep continues from there.${rest}`
    : `${writes} to write. Nothing was written: do it with --apply.${rest}`;
}
