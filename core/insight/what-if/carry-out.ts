import { nameReplacements } from "../../disruption/command/replacement-names.ts";
import type { CommandRecord } from "../../model/command-record.ts";
import type { Plan } from "../../model/plan.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { solve } from "../../scheduling/solve.ts";
import { bindings } from "./place.ts";
import { arrive, bind, buy, leave, type Stage } from "./stage.ts";
import { stageOf } from "./start.ts";

/**
 * The cluster right after a command, without any delay: candidates removed, replacements initialized, and pods where
 * the scheduler puts them. Nothing else is launched, so a pod without room stays pending: a correct command never
 * leaves one.
 */
export function carryOut(snapshot: Snapshot, command: CommandRecord, provision: (snapshot: Snapshot) => Plan = solve): Snapshot {
  const taken = new Set(snapshot.nodeClaims.map(({ metadata }) => metadata.name));
  const orders = nameReplacements(command, taken).map(({ planned, name, intentId }) => {
    return { planned, name, id: intentId, reason: command.method === "drift" ? ("drifted" as const) : ("underutilized" as const) };
  });
  // Other claims that are launching or being deleted do not change.
  const before: Stage = { ...stageOf(snapshot), coming: new Map(), leaving: new Map() };
  const { stage: ordered } = buy(before, orders);
  const coming = new Map([...ordered.coming].map(([name, launch]) => [name, { ...launch, at: snapshot.now }]));
  const up = arrive({ ...ordered, coming });
  const leaving = command.candidates.map(({ nodeClaim }) => [nodeClaim, snapshot.now] as const);
  const left = leave({ ...up, leaving: new Map(leaving) });
  return bind(left, bindings(left.snapshot, provision(left.snapshot))).snapshot;
}
