import { nameReplacements } from "../disruption/command/replacement-names.ts";
import type { CommandRecord } from "../model/command-record.ts";
import type { Plan } from "../model/plan.ts";
import type { Snapshot } from "../model/snapshot.ts";
import { solve } from "../scheduling/solve.ts";
import { bindings } from "./place.ts";
import { arrive, bind, buy, leave, type Stage } from "./stage.ts";
import { stageOf } from "./start.ts";

/**
 * The cluster right after a command, in no time: its nodes gone, its replacements up, and the pods where the scheduler puts them. Nothing is bought besides, so
 * a pod that finds no room is left without a node: that is what a command must never come to.
 */
export function carryOut(snapshot: Snapshot, command: CommandRecord, provision: (snapshot: Snapshot) => Plan = solve): Snapshot {
  const taken = new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name));
  const orders = nameReplacements(command, taken).map(({ planned, name, intentId }) => {
    return { planned, name, id: intentId, reason: command.method === "drift" ? ("drifted" as const) : ("underutilized" as const) };
  });
  // Whatever else is on its way stays there.
  const before: Stage = { ...stageOf(snapshot), coming: new Map(), leaving: new Map() };
  const { stage: bought } = buy(before, orders);
  const types = new Map([...bought.coming].map(([name, coming]) => [name, { ...coming, at: snapshot.now }]));
  const up = arrive({ ...bought, coming: types });
  const going = command.candidates.map(({ nodeClaim }) => [nodeClaim, snapshot.now] as const);
  const left = leave({ ...up, leaving: new Map(going) });
  return bind(left, bindings(left.snapshot, provision(left.snapshot))).snapshot;
}
