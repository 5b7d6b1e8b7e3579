import { describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { Candidate } from "#core/disruption/cluster/candidate.ts";
import { CommandSize } from "#core/disruption/node-sets/deletable-set.ts";
import { seeded } from "#lab/world/random.ts";
import { command } from "#test/contracts/node-claim-store/contract.ts";
import * as objects from "#test/support/objects.ts";

type Moved = Pick<Candidate, "reschedulable">;

/** A node with so many pods, whose names have so many random characters. */
function candidate(pods: number, length: number, random = seeded(1).fork("names")): Moved {
  return { reschedulable: Array.from({ length: pods }, () => objects.pod(random.hex(length))) };
}

const fitting = (candidates: readonly Moved[]): number => {
  const size = new CommandSize();
  return candidates.filter((one) => size.take(one)).length;
};

describe("the nodes of one command", () => {
  it.for([
    { name: "empty nodes: a thousand", pods: 0, length: 1, nodes: 1_500, fit: 1_000 },
    { name: "few pods: a thousand", pods: 5, length: 30, nodes: 1_500, fit: 1_000 },
    { name: "many pods: as many as the item of the table names", pods: 60, length: 32, nodes: 200, fit: 100 },
    { name: "one node is never too many", pods: 2_000, length: 200, nodes: 2, fit: 1 },
  ])("$name", ({ pods, length, nodes, fit }) => {
    expect(fitting(Array.from({ length: nodes }, () => candidate(pods, length)))).toBe(fit);
  });

  it("the largest command is stored, whatever the pods are called", async () => {
    const random = seeded(2).fork("names");
    const size = new CommandSize();
    const candidates: { readonly nodeClaim: string; readonly pods: readonly string[] }[] = [];
    for (;;) {
      const { reschedulable } = candidate(20, 60, random);
      if (!size.take({ reschedulable })) break;
      candidates.push({ nodeClaim: `default-${random.hex(5)}`, pods: reschedulable.map(({ metadata }) => `default/${metadata.name}`) });
    }
    const destinations = Object.fromEntries(candidates.flatMap(({ nodeClaim, pods }) => pods.map((pod) => [pod, nodeClaim])));
    const store = embeddedNodeClaimStore();
    const held = await store.acquireLease("c1", "h", 0, 60_000);
    if (held === undefined) throw new Error("the lease is free");
    await store.createCommand(held, command("large", { candidates: candidates as never, destinations }));
    store.close();
  });
});
