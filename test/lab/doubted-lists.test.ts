import { expect, it } from "vitest";
import type { LabOptions } from "#lab/host.ts";
import type { PortCall } from "#lab/world/intercept.ts";
import { NODE_CLASS, nodePool, ON_DEMAND } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, messages, pass, running, runningPods, SECOND, scale, until } from "../support/lab-story.ts";

const SMALL = nodePool([ON_DEMAND, { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] }], {
  disruption: { consolidateAfter: "0s", budgets: [{ nodes: "100%" }] },
});

/** An API server, or a proxy before it, that lists no pod while it is said to. */
function emptyLists(): { readonly options: Partial<LabOptions>; isEmpty: boolean } {
  const state = {
    isEmpty: false,
    options: {
      hooks: {
        after: ({ method, args }: PortCall, answer: unknown): undefined => {
          if (state.isEmpty && method === "list" && args[0] === "Pod") (answer as unknown[]).splice(0);
        },
      },
    } as Partial<LabOptions>,
  };
  return state;
}

it("a list of pods that is empty for some seconds ends no node", async () => {
  const lists = emptyLists();
  const lab = await running(40, [NODE_CLASS, SMALL, INFLATE], lists.options);
  const before = alive(lab).length;
  lists.isEmpty = true;
  await until(lab, () => messages(lab).includes("lists of the API server are doubted"), 2 * MINUTE);
  await pass(lab, 20 * SECOND);
  lists.isEmpty = false;
  await pass(lab, 3 * MINUTE);
  expect(alive(lab)).toHaveLength(before);
  expect(runningPods(lab)).toBe(40);
  lab.close();
});

it("a cluster whose pods are gone has no node within three minutes", async () => {
  const lab = await running(40, [NODE_CLASS, SMALL, INFLATE]);
  scale(lab, 0);
  const ms = await until(lab, () => alive(lab).length === 0, 5 * MINUTE);
  expect(ms).toBeLessThanOrEqual(3 * MINUTE);
  lab.close();
});
