import type { PauseScope } from "#core/model/pause.ts";
import { hash, seeded } from "#lab/world/random.ts";
import type { Script, ScriptEvent } from "../script.ts";
import { chance } from "./world.ts";

/** The script with pauses by people, drawn from a stream of their own: nothing else of the script changes. */
export function withPauses(script: Script): Script {
  const random = seeded(hash(`pauses of seed ${script.seed}`)).fork("pauses");
  const pauses = Array.from(
    { length: random.between(1, 4) },
    (): ScriptEvent => ({
      at: random.between(60, Math.max(61, (script.minutes - 5) * 60)),
      what: "pause",
      by: random.pick(["table", "ConfigMap"]),
      minutes: random.pick([1, 5, 15]),
      hasEnd: chance(random, 0.4),
      ...onlyOf(random.pick<PauseScope | undefined>([undefined, "disruption", "disruption", "launches"])),
    }),
  );
  return { ...script, pauses: true, events: [...script.events, ...pauses].sort((a, b) => a.at - b.at) };
}

const onlyOf = (only: PauseScope | undefined) => (only === undefined ? {} : { only });
