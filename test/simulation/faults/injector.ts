import type { TableFaults } from "#adapters/store/table-embedded.ts";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { FUNCTIONS } from "#infra/functions.ts";
import type { Lab } from "#lab/host.ts";
import type { CallHooks, KillVerdict, PortCall } from "#lab/world/intercept.ts";
import type { Invocation } from "#lab/world/invocation.ts";
import type { Queue } from "#lab/world/queue.ts";
import type { Random } from "#lab/world/random.ts";
import type { Fault, FunctionName, QueueName, Strike } from "../script.ts";
import { errorOf, fitting } from "./failure.ts";
import type { LosableTable } from "./losable-table.ts";
import { thinkAgain } from "./second-thought.ts";
import { tableFaults } from "./table-faults.ts";

/** Applies the script's faults to calls, messages and clocks. */
export interface Injector {
  readonly hooks: CallHooks;
  readonly skewMs: (invocation: Invocation | undefined) => number;
  readonly isFrozen: (invocation: Invocation) => boolean;
  readonly joinDelayMs: () => number;
  /** Whether EC2 leaves the instance of this ID out of the list that it is writing. */
  readonly isUnlisted: (id: string) => boolean;
  /** How old the states are that EC2's lists and descriptions report, ms. */
  readonly staleMs: () => number;
  /** How the table answers. */
  readonly table: TableFaults;
  readonly isThrottled: (fn: string) => boolean;
  /** Counts a fault that takes effect outside of the injector. */
  readonly hit: (what: string, fn: string, about?: string) => void;
  /** How many faults took effect, by kind: "kill", "fail throttled", "lose message"… */
  readonly counts: ReadonlyMap<string, number>;
  /** In order of time. Invariants with a time limit excuse functions that were hit. */
  readonly hits: readonly Hit[];
  /** Whether calls to some service fail for minutes now. */
  readonly isStormy: () => boolean;
  /** When the whole table was last lost, ms; -Infinity before. */
  readonly tableLostAt: () => number;
  /** When records of NodeClaims and commands were last lost, with the table or alone, ms; -Infinity before. */
  readonly recordsLostAt: () => number;
  begin(fault: Fault): void | Promise<void>;
  /** Ends all faults. */
  stop(): void;
}

/** One fault that took effect. */
export interface Hit {
  /** ms since the epoch. */
  readonly at: number;
  readonly what: string;
  /** The function whose call it was, or the queue. */
  readonly fn: string;
  /** The name of the object that a call to the API server was about, or the ID of the instance. */
  readonly about?: string | undefined;
}

interface Armed extends Strike {
  left: number;
}

const MINUTE_MS = 60_000;
/** Functions that decide under the cluster's lease, and how long the lease lasts, ms. */
const DECIDERS: ReadonlySet<string> = new Set(["provision", "disruption"]);
const LEASE_MS = 30_000;
/** Another tool of the account asks so often, ms. */
const BUSY_PERIOD_MS = 1_000;
const MORE_THAN_A_BUCKET = 1_000;
/** A call that takes longer only hangs: its invocation renews the lease meanwhile. A shorter one freezes all of it. */
const MAX_FROZEN_MS = 40_000;

/** Whether the policy refuses the call: by its kind of object, where it names one. */
const isRefused = ({ port, method, kind }: Extract<Fault, { what: "policy" }>, call: PortCall): boolean =>
  port === call.port && method === call.method && (kind === undefined || kind === call.args[0]);

/** The name of the object that a call to the API server is about. */
function nameIn({ port, args: [, about] }: PortCall): string | undefined {
  if (port !== "kubernetes") return undefined;
  return typeof about === "string" ? about : (about as Partial<KubernetesObject> | undefined)?.metadata?.name;
}

/** `lab` is a function because the lab is constructed with these hooks; it is first called at the first remote call. */
export function injector(lab: () => Lab, table: () => LosableTable, random: Random): Injector {
  const counts = new Map<string, number>();
  const hits: Hit[] = [];
  let strikes: Armed[] = [];
  let storms: { readonly fault: Extract<Fault, { what: "storm" }>; readonly until: number }[] = [];
  let troubled: { readonly fault: Extract<Fault, { what: "messages" }>; readonly until: number }[] = [];
  let policies: { readonly fault: Extract<Fault, { what: "policy" }>; readonly until: number }[] = [];
  let partial = { share: 0, until: 0 };
  let stale = { ms: 0, until: 0 };
  let account = { rate: 0, until: 0 };
  let busy: (Extract<Fault, { what: "busy bucket" }> & { readonly until: number }) | undefined;
  let tableLostAt = Number.NEGATIVE_INFINITY;
  let recordsLostAt = Number.NEGATIVE_INFINITY;
  const skews = new Map<FunctionName, { readonly ms: number; readonly until: number }>();
  const timed = new WeakSet<Invocation>();
  const frozen = new WeakSet<Invocation>();
  let slow = { ms: 0, until: 0 };
  let thoughts: Extract<Fault, { what: "second thought" }>[] = [];

  const now = (): number => lab().world.clock.now();
  const hit = (what: string, fn: string, about?: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1);
    hits.push({ at: now(), what, fn, about });
  };
  const answers = tableFaults(now, random.fork("table"), hit);
  const fail = (failure: Strike["failure"], call: PortCall, when: Strike["when"]): never => {
    const { port, method, invocation } = call;
    const actual = fitting(failure, port, method, when);
    const isTable = port === "store" && actual === "throttled";
    hit(
      `${isTable ? "table throttles" : `fail ${actual}`}${when === "after" ? ", effect done" : ""}`,
      invocation?.name ?? "",
      nameIn(call),
    );
    throw errorOf(actual);
  };
  /** A slow call uses up the time of its function, which Lambda ends at its timeout. */
  const limit = (invocation: Invocation | undefined): void => {
    if (invocation === undefined || timed.has(invocation)) return;
    timed.add(invocation);
    const { timeoutSeconds } = FUNCTIONS[invocation.name as FunctionName];
    lab().world.clock.after(timeoutSeconds * 1_000, `timeout of ${invocation.id}`, () => invocation.kill());
  };
  const struckBy = (call: PortCall, when: Strike["when"]): Armed | undefined =>
    strikes.find((strike) => {
      const matches =
        strike.when === when &&
        (strike.fn ?? call.invocation?.name) === call.invocation?.name &&
        (strike.port ?? call.port) === call.port &&
        (strike.method ?? call.method) === call.method;
      return matches && strike.left-- <= 0;
    });
  const decided = (command: CommandRecord): void => {
    const thought = thoughts.shift();
    if (thought === undefined) return;
    lab().world.clock.after(thought.ms, "second thought", () => {
      if (thinkAgain(thought.how, command, lab())) hit(`second thought (${thought.how})`, "");
    });
  };
  const inject = (call: PortCall, when: Strike["when"]): Promise<KillVerdict> | KillVerdict => {
    if (when === "before" && policies.some(({ fault, until }) => until > now() && isRefused(fault, call)))
      return fail("refused", call, when);
    const strike = strikes.length > 0 ? struckBy(call, when) : undefined;
    if (strike) {
      strikes = strikes.filter((other) => other !== strike);
      if (strike.how === "fail") return fail(strike.failure, call, when);
      if (strike.how === "kill") {
        hit(`kill ${when}`, call.invocation?.name ?? "");
        return "kill";
      }
      const { invocation } = call;
      const name = invocation?.name ?? "";
      const isFrozen = strike.ms <= MAX_FROZEN_MS;
      hit(DECIDERS.has(name) && strike.ms > LEASE_MS ? `${isFrozen ? "hold up" : "hang"} past the lease` : "hold up", name);
      limit(invocation);
      if (invocation !== undefined && isFrozen) frozen.add(invocation);
      return lab()
        .world.clock.sleep(strike.ms)
        .then(() => {
          if (invocation !== undefined) frozen.delete(invocation);
          return undefined;
        });
    }
    const storm = when === "before" ? storms.find((s) => s.fault.port === call.port && s.until > now()) : undefined;
    if (storm && random.next() < storm.fault.rate) return fail(storm.fault.failure, call, when);
    return undefined;
  };

  const loseTable = async ({ share }: Extract<Fault, { what: "lose table" }>): Promise<void> => {
    recordsLostAt = now();
    if (share >= 1) tableLostAt = now();
    const lost = await table().lose(lab().world.cluster, share, () => random.next() < share);
    hit(share < 1 ? "records lost" : "table lost", "");
    if (lost > 0) hit("records of machines lost", "");
  };

  /** Takes all that comes, of each second a share. */
  const useUp = (): void => {
    if (busy === undefined || busy.until <= now()) return;
    if (random.next() < busy.share) {
      hit("busy bucket", "lifecycle");
      lab().requests.use(busy.action, MORE_THAN_A_BUCKET);
    }
    lab().world.clock.after(BUSY_PERIOD_MS, "another tool asks EC2", useUp);
  };

  const troubling = (queue: QueueName, how: Extract<Fault, { what: "messages" }>["how"]): number | undefined => {
    const found = troubled.find(({ fault, until }) => fault.queue === queue && fault.how === how && until > now());
    if (!found || random.next() >= found.fault.rate) return undefined;
    hit(`${how} message`, queue);
    return found.fault.delayMs;
  };
  const trouble = (name: QueueName, queue: Queue): void => {
    queue.faults = {
      lose: () => troubling(name, "lose") !== undefined,
      duplicate: () => (troubling(name, "duplicate") !== undefined ? 1 : 0),
      delay: () => troubling(name, "delay") ?? 0,
    };
  };

  return {
    counts,
    hits,
    isStormy: () => storms.some(({ until }) => until > now()),
    tableLostAt: () => tableLostAt,
    recordsLostAt: () => recordsLostAt,
    hooks: {
      before: (call) => inject(call, "before"),
      after: (call) => {
        if (call.method === "createCommand") decided(call.args[1] as CommandRecord);
        return inject(call, "after");
      },
    },
    hit,
    table: answers,
    isFrozen: (invocation) => frozen.has(invocation),
    isThrottled: (fn) => {
      const isFull = account.until > now() && random.next() < account.rate;
      if (isFull) hit("refuse invocation", fn);
      return isFull;
    },
    isUnlisted: (id) => {
      const lacks = partial.until > now() && random.next() < partial.share;
      if (lacks) hit("missing in a list", "lifecycle", id);
      return lacks;
    },
    staleMs: () => (stale.until > now() ? stale.ms : 0),
    joinDelayMs: () => {
      if (slow.until <= now()) return 0;
      hit(slow.ms === Number.POSITIVE_INFINITY ? "never joins" : "slow start", "");
      return slow.ms;
    },
    skewMs: (invocation) => {
      const skew = invocation && skews.get(invocation.name as FunctionName);
      return skew && skew.until > now() ? skew.ms : 0;
    },
    begin(fault) {
      switch (fault.what) {
        case "strike":
          strikes.push({ ...fault, left: fault.skip });
          return;
        case "storm":
          storms.push({ fault, until: now() + fault.minutes * MINUTE_MS });
          return;
        case "messages":
          troubled.push({ fault, until: now() + fault.minutes * MINUTE_MS });
          trouble(fault.queue, lab().wakeUps[fault.queue]);
          return;
        case "skew":
          hit("skew clock", fault.fn);
          skews.set(fault.fn, { ms: fault.ms, until: now() + fault.minutes * MINUTE_MS });
          return;
        case "policy":
          policies.push({ fault, until: now() + fault.minutes * MINUTE_MS });
          return;
        case "partial lists":
          partial = { share: fault.share, until: now() + fault.minutes * MINUTE_MS };
          return;
        case "stale lists":
          hit("stale lists", "lifecycle");
          stale = { ms: fault.ms, until: now() + fault.minutes * MINUTE_MS };
          return;
        case "lose table":
          return loseTable(fault);
        case "busy table":
        case "late index":
          answers.begin(fault, now() + fault.minutes * MINUTE_MS);
          return;
        case "full account":
          account = { rate: fault.rate, until: now() + fault.minutes * MINUTE_MS };
          return;
        case "busy bucket":
          busy = { ...fault, until: now() + fault.minutes * MINUTE_MS };
          useUp();
          return;
        case "slow start":
          slow = { ms: fault.ms ?? Number.POSITIVE_INFINITY, until: now() + fault.minutes * MINUTE_MS };
          return;
        case "second thought":
          thoughts.push(fault);
          return;
      }
    },
    stop() {
      strikes = [];
      storms = [];
      policies = [];
      partial = { share: 0, until: 0 };
      answers.stop();
      stale = { ms: 0, until: 0 };
      account = { rate: 0, until: 0 };
      busy = undefined;
      troubled = [];
      skews.clear();
      slow = { ms: 0, until: 0 };
      thoughts = [];
    },
  };
}
