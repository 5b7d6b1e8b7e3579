import { expect, it } from "vitest";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, POOL, pass, ready, SECOND, scale } from "../support/lab-story.ts";

const ZONE = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" } as const;

it.for([
  { name: "without default constraints, on one node", defaultConstraints: [], zones: 1 },
  { name: "with one on zones, by the selector of their ReplicaSet", defaultConstraints: [ZONE], zones: 3 },
])("pods without spread constraints are planned $name", async ({ defaultConstraints, zones }) => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE], { settings: { defaultConstraints } });
  scale(lab, 3);
  await pass(lab, 10 * SECOND);
  expect(new Set(alive(lab).map(({ instance }) => instance.zone)).size).toBe(zones);
  lab.close();
});
