import { expect, it } from "vitest";
import { wakeUpBody } from "#adapters/aws/wake-up-queue.ts";
import { disruptionEntry } from "#functions/disruption/entry.ts";
import { provisionEntry } from "#functions/provision/entry.ts";
import type { ClusterDeps } from "#functions/shared/cluster-deps.ts";
import { createLab } from "#lab/host.ts";
import { noVisibility } from "../../support/fakes.ts";
import { OPTIONS } from "../../support/lab-story.ts";

it.each([
  {
    name: "provision",
    entry: provisionEntry,
    wakeUp: { kind: "provision", cluster: "lab", cause: "PodsUnschedulable", detail: "1" } as const,
  },
  { name: "disruption", entry: disruptionEntry, wakeUp: { kind: "disruption", cluster: "lab", cause: "PodsMoved" } as const },
])(
  "$name decides nothing in a cluster that is being taken from the stack, and goes on when it is served again",
  async ({ entry, wakeUp }) => {
    const lab = createLab({ ...OPTIONS, seed: 1 });
    const { deps } = lab;
    let asked = 0;
    const kubernetes: ClusterDeps["kubernetes"] = {
      ...deps.kubernetes,
      list: ((...args: Parameters<ClusterDeps["kubernetes"]["list"]>) => {
        asked += 1;
        return deps.kubernetes.list(...args);
      }) as ClusterDeps["kubernetes"]["list"],
    };
    const invoke = async (isLeaving: boolean): Promise<number> => {
      asked = 0;
      const handle = entry({
        clusters: async () => ["lab"],
        clusterDeps: async () => ({ ...deps, kubernetes, isLeaving }),
        ...{ wakeUps: deps.wakeUps, later: deps.later, log: deps.log, changeVisibility: noVisibility },
      });
      await handle({ Records: [{ messageId: "1", body: wakeUpBody(wakeUp), attributes: {} }] } as unknown as Parameters<typeof handle>[0]);
      await handle({ kind: "sweep" });
      return asked;
    };
    expect(await invoke(true)).toBe(0);
    expect(await invoke(false)).toBeGreaterThan(0);
    lab.close();
  },
);
