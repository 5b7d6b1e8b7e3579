import type { Catalogue } from "../../core/offerings/catalogue.ts";
import type { ApiObject } from "../../functions/adapters/manifests/api-object.ts";
import type { Outage } from "../../lab/world/outages.ts";

/**
 * One run of the simulation, all of it: the world, what happens in it, and what goes wrong. Plain data, drawn from a seed, so that it can be cut down
 * (shrink.ts) and played again to the letter.
 */
export interface Script {
  /** What it was drawn from. */
  readonly seed: number;
  /** Seed of the world's own chance: names, delays, the order of interleaved calls. */
  readonly chance: number;
  /** Virtual minutes before the faults end and the world is left to converge. */
  readonly minutes: number;
  readonly sources: readonly ("audit" | "notify")[];
  /** Every remote call is a place where another invocation may come first. */
  readonly interleaved: boolean;
  /** For so long EC2 does not show a new instance, ms. */
  readonly cloudLagMs: number;
  readonly objects: readonly ApiObject[];
  /** In the order of their time. */
  readonly events: readonly ScriptEvent[];
}

/** `at`: seconds after the start. */
export type ScriptEvent = { readonly at: number } & (Act | Fault);

/** In [0, 1): names one of the things that are there when the act is done, so that it still means something in a cut-down script. */
export type Pick = number;

/** What people, workloads and EC2 do of their own accord. */
export type Act =
  | { readonly what: "scale"; readonly workload: string; readonly replicas: number }
  | { readonly what: "run job"; readonly name: string; readonly pods: number; readonly cpu: string }
  | { readonly what: "delete job"; readonly name: string }
  | { readonly what: "restart"; readonly workload: string }
  | { readonly what: "delete pod"; readonly pick: Pick }
  | { readonly what: "hold pod"; readonly pick: Pick; readonly value: string | undefined }
  | { readonly what: "delete node"; readonly pick: Pick }
  | { readonly what: "delete claim"; readonly pick: Pick }
  | { readonly what: "edit pool"; readonly pool: string; readonly spec: Readonly<Record<string, unknown>> }
  | { readonly what: "delete pool"; readonly pool: string }
  | { readonly what: "apply"; readonly object: ApiObject }
  | { readonly what: "interrupt"; readonly pick: Pick }
  | { readonly what: "recommend rebalance"; readonly pick: Pick }
  | { readonly what: "retire machine"; readonly pick: Pick }
  | { readonly what: "stop machine"; readonly pick: Pick }
  | { readonly what: "spot prices"; readonly spot: NonNullable<Catalogue["spot"]> }
  | { readonly what: "read prices" }
  | { readonly what: "outage"; readonly of: WithoutTime<Outage>; readonly minutes: number };

type WithoutTime<T> = Omit<T, "from" | "until">;

export type Failure = "conflict" | "throttled" | "server" | "expired";

/** What goes wrong between the product and the world. */
export type Fault =
  | Strike
  | { readonly what: "storm"; readonly port: Port; readonly rate: number; readonly minutes: number; readonly failure: Failure }
  | {
      readonly what: "messages";
      readonly queue: QueueName;
      readonly how: "lose" | "duplicate" | "delay";
      readonly rate: number;
      readonly minutes: number;
      readonly delayMs: number;
    }
  | { readonly what: "skew"; readonly fn: FunctionName; readonly ms: number; readonly minutes: number };

/** One remote call that does not come back as it should: the first that matches after so many others have been let through. */
export interface Strike {
  readonly what: "strike";
  readonly how: "kill" | "fail" | "slow";
  /** Before the call has its effect, or between the effect and its answer. */
  readonly when: "before" | "after";
  readonly fn?: FunctionName;
  readonly port?: Port;
  readonly method?: string;
  readonly skip: number;
  readonly failure: Failure;
  /** Of a slow one. */
  readonly ms: number;
}

export type Port = "kubernetes" | "store" | "fleet" | "wakeUps";
export type FunctionName = "provision" | "lifecycle" | "disruption" | "interruption" | "catalog";
export type QueueName = "provision" | "claims" | "disruption" | "catalog" | "interruption";

const FAULTS: ReadonlySet<string> = new Set(["strike", "storm", "messages", "skew"]);

export function isFault(event: Act | Fault): event is Fault {
  return FAULTS.has(event.what);
}

/** One line a person can read: "+12m05s strike: kill before lifecycle's store.update (after 3 others)". */
export function describeEvent(event: ScriptEvent): string {
  const minutes = Math.floor(event.at / 60);
  const time = `+${minutes}m${String(Math.round(event.at % 60)).padStart(2, "0")}s`;
  if (event.what === "strike") {
    const { how, when, fn = "any function", port, method, skip, failure, ms } = event;
    const effect = how === "fail" ? `fail (${failure})` : how === "slow" ? `hold up for ${ms / 1_000} s` : "kill";
    const call = port === undefined ? "a call" : `${port}.${method ?? "*"}`;
    return `${time} ${effect} ${when} ${call} of ${fn}${skip > 0 ? `, the one after ${skip} others` : ""}`;
  }
  if (event.what === "spot prices") return `${time} spot prices move`;
  if (event.what === "apply") return `${time} apply ${event.object.kind} ${event.object.metadata.name}`;
  const { at: _, what, ...rest } = event;
  return `${time} ${what} ${JSON.stringify(rest)}`;
}
