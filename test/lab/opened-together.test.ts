import { expect, it } from "vitest";
import type { PortCall } from "#lab/world/intercept.ts";
import { deployment, FAMILIES, NODE_CLASS, nodePool, ON_DEMAND, openLab } from "../simulation/story.ts";

const MINUTE_MS = 60_000;

it("the pass that opens nodes together says on each of their NodeClaims that it is initialized", async () => {
  const calls: PortCall[] = [];
  const lab = openLab(1, {
    before: (call) => {
      if (call.invocation?.name === "lifecycle" && call.method.startsWith("update")) calls.push(call);
      return undefined;
    },
  });
  const small = { key: "node.kubernetes.io/instance-type", operator: "In", values: ["c5.large"] };
  for (const object of [NODE_CLASS, nodePool([ON_DEMAND, FAMILIES, small]), deployment(4, { cpu: "1500m" })]) lab.world.apply(object);
  await lab.world.clock.run({ until: lab.world.clock.now() + 3 * MINUTE_MS });
  lab.close();
  const passes = [...Map.groupBy(calls, ({ invocation }) => invocation?.id).values()];
  const of = (pass: readonly PortCall[], method: string, kind: string) =>
    pass.filter((call) => call.method === method && call.args[0] === kind);
  const opening = passes.map((pass) => [of(pass, "update", "Node").length, of(pass, "updateStatus", "NodeClaim").length]);
  const [nodes = 0, claims = 0] = opening.toSorted(([a = 0], [b = 0]) => b - a)[0] ?? [];
  expect(nodes).toBeGreaterThan(1);
  expect(claims).toBe(nodes);
});
