import { hash, type Random, seeded } from "#lab/world/random.ts";
import { drawFaults } from "../draw/faults.ts";
import type { Script, ScriptEvent } from "../script.ts";
import { START } from "../story.ts";
import { batchJob, CATALOGUE, type Policy, SERVICES, weekObjects } from "./cluster.ts";
import { scalings, sized } from "./load.ts";
import { spotWalk } from "./market.ts";

export interface WeekOptions {
  readonly seed: number;
  readonly days: number;
  /** Multiple of the cluster of 12 to 60 nodes. */
  readonly size: number;
  readonly policy: Policy;
  /** Whether calls, messages and clocks have faults. */
  readonly faults: boolean;
}

const DAY_MS = 86_400_000;
const HOUR = 3_600;
const INTERRUPTIONS_A_DAY = 4;
/** The product reads spot prices twice a day (infra/functions.ts), while the market changes each hour. */
const READ_HOURS = 12;
const STRIKES_PER_HOUR = 10;

function marketEvents(hours: number, random: Random): readonly ScriptEvent[] {
  return spotWalk(CATALOGUE, hours, random).flatMap((spot, i): ScriptEvent[] => {
    const at = (i + 1) * HOUR;
    return [{ at, what: "spot prices", spot }, ...((i + 1) % READ_HOURS === 0 ? [{ at: at + 30, what: "read prices" } as const] : [])];
  });
}

/** The daily events besides the load: a batch at night, releases on working days, spot interruptions. */
function dayEvents(day: number, size: number, random: Random): readonly ScriptEvent[] {
  const from = (day * DAY_MS) / 1_000;
  const weekday = new Date(START + day * DAY_MS).getUTCDay();
  const isWorkday = weekday !== 0 && weekday !== 6;
  const interruptions = Array.from(
    { length: INTERRUPTIONS_A_DAY },
    (): ScriptEvent => ({ at: from + random.between(60, DAY_MS / 1_000 - 60), what: "interrupt", pick: random.next() }),
  );
  const releases: readonly ScriptEvent[] = [
    { at: from + 10 * HOUR + random.between(0, HOUR), what: "restart", workload: "web" },
    { at: from + 15 * HOUR + random.between(0, HOUR), what: "restart", workload: "api" },
  ];
  const name = `batch-${day}`;
  return [
    ...interruptions,
    ...(isWorkday ? releases : []),
    { at: from + 2 * HOUR + random.between(0, HOUR), what: "apply", object: batchJob(name, size) },
    { at: from + 8 * HOUR, what: "delete job", name },
  ];
}

/** A week (or `days`) of a cluster: equal seeds give equal load, market and interruptions, whatever the policy. */
export function weekScript({ seed, days, size, policy, faults }: WeekOptions): Script {
  const chance = hash(`week ${seed}`);
  const random = seeded(chance).fork("week");
  const load = SERVICES.flatMap(({ name, curve }) =>
    scalings(sized(curve, size), START, days * DAY_MS, random.fork(name)).map(
      ({ at, replicas }): ScriptEvent => ({ at, what: "scale", workload: name, replicas }),
    ),
  );
  const daily = Array.from({ length: days }, (_, day) => dayEvents(day, size, random.fork(`day ${day}`))).flat();
  // On the fifth day the template of the spot NodePool changes, so that all its nodes drift.
  const drift: readonly ScriptEvent[] =
    days < 5
      ? []
      : [
          {
            at: (4 * DAY_MS) / 1_000 + 11 * HOUR,
            what: "edit pool",
            pool: "elastic",
            spec: { template: { metadata: { labels: { release: "2" } } } },
          },
        ];
  const acts = [...load, ...daily, ...drift].sort((a, b) => a.at - b.at);
  const minutes = (days * DAY_MS) / 60_000;
  const trouble = faults ? drawFaults(acts, minutes, STRIKES_PER_HOUR, random.fork("faults")) : [];
  return {
    seed,
    chance,
    minutes,
    sources: ["notify"],
    interleaved: false,
    world: "fast",
    cloudLagMs: 3_000,
    objects: weekObjects(policy, size, START),
    events: [...acts, ...marketEvents(days * 24, random.fork("market")), ...trouble].sort((a, b) => a.at - b.at),
  };
}
