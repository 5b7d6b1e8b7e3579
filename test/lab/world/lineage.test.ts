import { describe, expect, it } from "vitest";
import { FUNCTION_NAMES, isInLoop, QUEUES } from "#infra/functions.ts";
import { currentInvocation, invoke } from "#lab/world/invocation.ts";
import { chainsOf, type RecursiveLoop, STACK_RECURSIVE_LOOP } from "#lab/world/lineage.ts";
import { simulatedWakeUps } from "#lab/world/queues.ts";
import { createLabWorld } from "#lab/world/world.ts";
import { START } from "./support.ts";

it("the lab's functions allow the loops that the stack's functions allow", () => {
  const allowing = FUNCTION_NAMES.filter(isInLoop).map((name) => [name, "Allow"]);
  expect(STACK_RECURSIVE_LOOP).toEqual(Object.fromEntries(allowing));
});

/** A function that sends itself a message each time that it runs, under a guard. */
async function loop(recursiveLoop: Readonly<Record<string, RecursiveLoop>>) {
  const world = createLabWorld({ seed: 1, start: START });
  const wakeUps = simulatedWakeUps(world);
  const chains = chainsOf(recursiveLoop);
  const send = () => wakeUps.wake([{ kind: "claim", cluster: "lab", claim: "c", delayMs: 1_000 }]);
  let runs = 0;
  wakeUps.claims.subscribe(async ({ lineage }) => {
    const entered = chains.enter("lifecycle", lineage ? [lineage] : []);
    await invoke(`run-${++runs}`, "lifecycle", async () => void (runs < 40 && (await send())), entered);
  });
  await send();
  await world.clock.run({ until: START + 2 * 3_600_000 });
  return { runs, chains, deadLetters: wakeUps.claims.deadLetters.length };
}

describe("Lambda's guard against recursive loops", () => {
  it("stops a chain that has run a function 16 times, and its message becomes a dead letter", async () => {
    const { runs, chains, deadLetters } = await loop({});
    expect([runs, deadLetters]).toEqual([16, 1]);
    expect(chains.stopped.get("lifecycle")).toBe(QUEUES.claims.maxReceives);
    expect(chains.longest.get("lifecycle")).toBe(16);
  });

  it("lets a function run on that allows loops", async () => {
    const { runs, chains, deadLetters } = await loop({ lifecycle: "Allow" });
    expect([runs, deadLetters, chains.stopped.size]).toEqual([40, 0, 0]);
    expect(chains.longest.get("lifecycle")).toBe(40);
  });

  it("counts for a batch the greatest count of each function, and each function alone", () => {
    const chains = chainsOf({});
    const lineages = [new Map([["lifecycle", 3]]), new Map([["provision", 16]]), new Map([["lifecycle", 5]])];
    expect([...chains.enter("lifecycle", lineages)]).toEqual([
      ["lifecycle", 6],
      ["provision", 16],
    ]);
    expect(() => chains.enter("provision", lineages)).toThrow("Lambda has stopped a chain that ran provision 16 times");
  });

  it("begins a chain with what no function has sent", async () => {
    const world = createLabWorld({ seed: 1, start: START });
    const wakeUps = simulatedWakeUps(world);
    const seen: unknown[] = [];
    wakeUps.claims.subscribe(async ({ lineage }) => void seen.push(lineage));
    await wakeUps.wake([{ kind: "claim", cluster: "lab", claim: "c" }]);
    await invoke("a", "lifecycle", () => wakeUps.wake([{ kind: "sweep", cluster: "lab" }]), new Map([["lifecycle", 2]]));
    await world.clock.run();
    expect(seen).toEqual([undefined, new Map([["lifecycle", 2]])]);
    expect(currentInvocation()).toBeUndefined();
  });
});
