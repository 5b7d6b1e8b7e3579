import type { Random } from "#lab/world/random.ts";
import type { Failure, Fault, FunctionName, Port, QueueName, ScriptEvent, Strike } from "../script.ts";
import { chance } from "./world.ts";

/** Calls that faults hit: writes, and the reads that decisions depend on. */
const CALLS: Readonly<Record<FunctionName, readonly (readonly [Port, string])[]>> = {
  lifecycle: [
    ["fleet", "launch"],
    ["fleet", "launch"],
    ["fleet", "ensureLaunchTemplate"],
    ["fleet", "terminate"],
    ["fleet", "describe"],
    ["fleet", "list"],
    ["fleet", "tag"],
    ["store", "joinLaunch"],
    ["store", "updateLaunchGroup"],
    ["store", "update"],
    ["store", "update"],
    ["store", "remove"],
    ["store", "get"],
    ["store", "create"],
    ["store", "markUnavailable"],
    ["kubernetes", "create"],
    ["kubernetes", "update"],
    ["kubernetes", "updateStatus"],
    ["kubernetes", "delete"],
    ["kubernetes", "evict"],
    ["kubernetes", "list"],
    ["kubernetes", "get"],
    ["wakeUps", "wake"],
  ],
  provision: [
    ["store", "acquireLease"],
    ["store", "writeIntents"],
    ["store", "writeIntents"],
    ["store", "releaseLease"],
    ["store", "list"],
    ["kubernetes", "list"],
    ["wakeUps", "wake"],
  ],
  disruption: [
    ["store", "acquireLease"],
    ["store", "createCommand"],
    ["store", "updateCommand"],
    ["store", "updateCommand"],
    ["store", "writeIntents"],
    ["store", "removeCommand"],
    ["store", "update"],
    ["store", "commands"],
    ["store", "isFirstWithin"],
    ["kubernetes", "update"],
    ["kubernetes", "updateStatus"],
    ["kubernetes", "list"],
    ["wakeUps", "wake"],
  ],
  interruption: [
    ["store", "byInstance"],
    ["store", "update"],
    ["store", "get"],
    ["store", "markUnavailable"],
    ["wakeUps", "wake"],
  ],
  catalog: [
    ["kubernetes", "updateStatus"],
    ["kubernetes", "update"],
    ["kubernetes", "list"],
    ["inventory", "ensureInstanceProfile"],
    ["inventory", "subnets"],
    ["inventory", "securityGroups"],
    ["inventory", "parameter"],
    ["inventory", "images"],
  ],
};

const WHO: readonly [FunctionName, ...FunctionName[]] = [
  ...(["lifecycle", "lifecycle", "lifecycle", "lifecycle", "provision", "provision"] as const),
  ...(["disruption", "disruption", "disruption", "interruption", "catalog"] as const),
];
const FAILURES: Readonly<Record<Port, readonly [Failure, ...Failure[]]>> = {
  kubernetes: ["conflict", "throttled", "server", "expired", "refused"],
  store: ["conflict", "throttled", "server"],
  fleet: ["throttled", "server", "refused"],
  inventory: ["throttled", "server", "refused"],
  wakeUps: ["throttled", "server"],
};

function drawStrike(random: Random): Strike {
  const fn = random.pick(WHO);
  const anywhere = chance(random, 0.3);
  const [port, method] = random.pick(CALLS[fn] as [readonly [Port, string], ...(readonly [Port, string])[]]);
  const how = random.pick<Strike["how"]>(["kill", "kill", "fail", "fail", "slow"]);
  const failure = random.pick(FAILURES[port]);
  return {
    what: "strike",
    how,
    when: random.pick(["before", "after"]),
    fn,
    ...(!anywhere && { port, method }),
    skip: anywhere ? random.between(0, 40) : random.pick([0, 0, 0, 1, 2, 5]),
    failure: anywhere && failure !== "throttled" ? "server" : failure,
    ms: random.pick([500, 3_000, 12_000, 35_000, 50_000]),
  };
}

const QUEUES: readonly [QueueName, ...QueueName[]] = ["provision", "claims", "claims", "disruption", "interruption"];

function drawSpell(random: Random): Fault {
  const how = random.pick(["lose", "duplicate", "delay"] as const);
  const port = random.pick<Port>(["fleet", "store", "kubernetes", "wakeUps", "inventory"]);
  return random.pick<Fault>([
    {
      what: "storm",
      port,
      rate: random.pick([0.1, 0.3, 1]),
      minutes: random.pick([0.5, 1, 3, 8]),
      failure: random.pick<Failure>(
        port === "store" || port === "kubernetes" ? ["throttled", "server", "conflict"] : ["throttled", "server"],
      ),
    },
    {
      what: "messages",
      queue: random.pick(QUEUES),
      how,
      // The sweep, which repairs lost wake-ups, sends wake-ups itself: a queue that loses all of them would stop
      // everything.
      rate: how === "lose" ? random.pick([0.1, 0.3, 0.5]) : random.pick([0.2, 0.5, 1]),
      minutes: random.pick([1, 5, 15]),
      delayMs: random.pick([2_000, 20_000, 90_000]),
    },
    {
      what: "skew",
      fn: random.pick<FunctionName>(["provision", "lifecycle", "disruption", "interruption"]),
      ms: random.pick([-3_000, -500, 500, 3_000]),
      minutes: random.pick([5, 20]),
    },
  ]);
}

/** Calls that an admission policy or a role may refuse for a while. */
const REFUSABLE: readonly [Refusable, ...Refusable[]] = [
  { port: "kubernetes", method: "create", kind: "NodeClaim" },
  { port: "kubernetes", method: "update", kind: "Node" },
  { port: "kubernetes", method: "update", kind: "NodeClaim" },
  { port: "kubernetes", method: "updateStatus", kind: "NodeClaim" },
  { port: "kubernetes", method: "delete", kind: "NodeClaim" },
  { port: "kubernetes", method: "delete", kind: "Node" },
  { port: "kubernetes", method: "evict" },
  { port: "kubernetes", method: "nominate" },
  { port: "fleet", method: "ensureLaunchTemplate" },
  { port: "fleet", method: "launch" },
  { port: "fleet", method: "terminate" },
  { port: "fleet", method: "describe" },
  { port: "fleet", method: "list" },
  // Rights of the catalog function, of which each is an IAM action of its own.
  { port: "inventory", method: "ensureInstanceProfile" },
  { port: "inventory", method: "subnets" },
  { port: "inventory", method: "securityGroups" },
  { port: "inventory", method: "parameter" },
];
type Refusable = Pick<Extract<Fault, { what: "policy" }>, "port" | "method" | "kind">;

/** What happens in runs without strikes too: machines that start slowly, and people who change their mind. */
export function drawTrials(minutes: number, random: Random): readonly ScriptEvent[] {
  const anytime = (): number => random.between(30, minutes * 60);
  const thoughts = Array.from(
    { length: Math.round(minutes / 8) },
    (): ScriptEvent => ({
      at: anytime(),
      what: "second thought",
      how: random.pick(["pods", "pods", "hold", "hold", "hold", "budget"]),
      ms: random.pick([1_000, 4_000, 8_000, 13_000]),
    }),
  );
  // Of slow replacements those of machines that EC2 takes back matter most: their pods cannot wait.
  const slow = Array.from({ length: Math.round(minutes / 15) }, (): readonly ScriptEvent[] => {
    const at = anytime();
    return [
      {
        at,
        what: "slow start",
        ms: random.pick<number | undefined>([60_000, 150_000, 240_000, undefined]),
        minutes: random.pick([2, 5]),
      },
      { at: at + 15, what: "interrupt", pick: random.next() },
    ];
  });
  const policy = (): ScriptEvent => ({ at: anytime(), what: "policy", ...random.pick(REFUSABLE), minutes: random.pick([1, 4, 10]) });
  const partial: ScriptEvent = { at: anytime(), what: "partial lists", share: random.pick([0.2, 0.5, 1]), minutes: random.pick([2, 10]) };
  return [
    ...thoughts,
    ...(chance(random, 0.6) ? slow.flat() : []),
    ...(chance(random, 0.4) ? [policy(), policy()] : []),
    ...(chance(random, 0.3) ? [partial] : []),
  ];
}

/** Minutes in which the table answers as DynamoDB may, in every third run. */
export function drawTableFaults(minutes: number, random: Random): readonly ScriptEvent[] {
  if (!chance(random, 0.3)) return [];
  return Array.from({ length: random.between(1, 3) }, () => ({
    at: random.between(30, minutes * 60),
    what: "busy table" as const,
    rate: random.pick([0.05, 0.2, 0.5]),
    staleMs: random.pick([0, 1_000, 5_000]),
    minutes: random.pick([1, 4, 10]),
  }));
}

/** The faults of a run, most of them shortly after an act, while work is in progress. `perHour`: expected strikes. */
export function drawFaults(acts: readonly ScriptEvent[], minutes: number, perHour: number, random: Random): readonly ScriptEvent[] {
  const anytime = (): number => random.between(30, minutes * 60);
  const [first, ...others] = acts;
  const behindAnAct = (): number => (first ? random.pick([first, ...others]).at + random.between(0, 150) : anytime());
  const strikes = Math.round((minutes / 60) * perHour);
  const spells = Math.round(((minutes / 60) * perHour) / 8);
  return [
    ...Array.from({ length: strikes }, () => ({ at: chance(random, 0.8) ? behindAnAct() : anytime(), ...drawStrike(random) })),
    ...Array.from({ length: spells }, () => ({ at: chance(random, 0.6) ? behindAnAct() : anytime(), ...drawSpell(random) })),
  ];
}
