import { why } from "#cli/history/why.ts";
import { decisionsOf } from "#core/insight/overview/decisions.ts";
import { waitingPods } from "#core/insight/overview/pods.ts";
import type { Condition } from "#core/model/kubernetes.ts";
import { disruptionSettings } from "#functions/disruption/settings.ts";
import { readClusterState } from "#functions/shared/cluster-state.ts";
import { createLab } from "#lab/host.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { INFLATE, MINUTE, OPTIONS, POOL, pass, SPOT_POOL, scale, start } from "../support/lab-story.ts";

/** What users see of one code, by the place where they look. */
export type Seen = Readonly<Record<"pod" | "event" | "claim" | "why" | "page", string>>;

/** Plays a pod for which EC2 answers every launch with this code; returns what is said about it two minutes later. */
export async function playCode(code: string, message: string): Promise<Seen> {
  // EC2 answers some codes to requests for spot alone.
  const pool = /Spot|ServiceLinkedRole/.test(code) ? SPOT_POOL : POOL;
  const lab = await start(createLab(OPTIONS), [NODE_CLASS, pool, INFLATE]);
  const launched: string[] = [];
  lab.world.store.onChange(({ object }) => {
    const { conditions = [] } = (object["status"] ?? {}) as { readonly conditions?: readonly Condition[] };
    const said = conditions.find(({ type }) => type === "Launched");
    if (object.kind === "NodeClaim" && said !== undefined) launched.push(`${said.status}, ${said.reason}: ${said.message ?? ""}`);
  });
  lab.cloud.outages.push({ code, message });
  scale(lab, 1);
  await pass(lab, 2 * MINUTE);
  const now = lab.world.clock.now();
  const last = (kind: string, reasons?: RegExp) =>
    lab.world.events.findLast(({ about, type, reason }) => about.kind === kind && (reasons?.test(reason) ?? type === "Warning"))?.message ??
    "";
  const [pod] = lab.world.store.list("Pod");
  const source = { cluster: lab.world.cluster, now, store: lab.deps.store, close: () => undefined };
  const subject = { kind: "pod" as const, namespace: "default", name: pod?.metadata.name ?? "" };
  const state = await readClusterState(lab.deps);
  const waiting = waitingPods(
    state,
    decisionsOf(state, { disruption: disruptionSettings(lab.world.cluster, lab.deps.settings), solve: lab.deps.settings }),
  );
  const seen: Seen = {
    pod: last("Pod", /FailedScheduling/),
    event: last("NodeClaim"),
    claim: launched.at(-1) ?? "",
    why: await why(subject, source, { since: 0, json: false }),
    page: waiting.map(({ text }) => text).join("; "),
  };
  lab.close();
  return seen;
}
