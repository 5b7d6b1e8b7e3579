// What the autoscaler itself costs in a month.
// In: the size of a fleet. Out: the bill by service, beside other autoscalers. It reads no account: the counts are what
// the simulation measured (measured.json, written by test/simulation/bill).

import { SENT_METRICS } from "#adapters/telemetry/metrics.ts";
import { parseSettings } from "#infra/settings.ts";
import { interfaceEndpoints } from "#infra/vpc-services.ts";
import type { WakeUpSource } from "#settings/cluster-list.ts";
import { InputError } from "#terminal/input-error.ts";
import { billOf, CALL_MS, type Fleet, rangeOf } from "./bill.ts";
import measured from "./measured.json" with { type: "json" };
import { peersOf } from "./peers.ts";
import { costTable } from "./table.ts";
import { SOURCES } from "./usage.ts";

export interface CostOptions {
  readonly clusters: string | undefined;
  readonly nodes: string | undefined;
  readonly churn: string | undefined;
  readonly sources: string | undefined;
  readonly metrics: string | undefined;
  readonly endpoints: string | undefined;
  readonly private: boolean;
  readonly "call-ms": string | undefined;
  readonly "free-tier": boolean;
  readonly alarms: boolean;
  readonly json: boolean;
}

/** Throws InputError. */
export function cost({ json, ...given }: CostOptions): string {
  const fleet = fleetOf(given);
  const bill = billOf(fleet, measured);
  const range = rangeOf(fleet, measured);
  const peers = peersOf(fleet);
  if (json)
    return `${JSON.stringify({ ...bill, range, peers: Object.fromEntries(peers.map(({ name, perMonth }) => [name, perMonth])) })}\n`;
  return costTable(fleet, { ...bill, range }, peers, measured.quietHours.at(-1)?.nodes ?? 0);
}

const SOURCES_IN_USE = "notify,sweep";
/** In which a private VPC has its endpoints. */
const ZONES = 2;

/** The number of interface endpoints that the functions of a stack need in a VPC without NAT. */
function endpointsOf(sources: readonly WakeUpSource[]): number {
  return interfaceEndpoints(parseSettings({ clusters: [{ name: "any", sources }] }, "cost")).length;
}

/** The fleet that the options describe. Throws InputError. */
export function fleetOf(given: Omit<CostOptions, "json">): Fleet {
  const { clusters, nodes, churn, sources, metrics, endpoints, alarms, "call-ms": callMs, "free-tier": freeTier } = given;
  return {
    clusters: whole(clusters ?? "1", "clusters", 1),
    nodes: whole(nodes ?? "0", "nodes", 0),
    churnPerDay: churnPerDay(churn ?? "0%/day"),
    sources: sourcesOf(sources ?? SOURCES_IN_USE),
    metrics: word(metrics ?? "essential", SENT_METRICS, "metrics"),
    hasAlarms: alarms,
    endpoints:
      endpoints === undefined && given.private
        ? ZONES * endpointsOf(sourcesOf(sources ?? SOURCES_IN_USE))
        : whole(endpoints ?? "0", "endpoints", 0),
    callMs: whole(callMs ?? String(CALL_MS.usual), "call-ms", 0),
    freeTier,
  };
}

/** "5%/day" is 0.05, "2%/hour" 0.48. */
function churnPerDay(text: string): number {
  const [, number, per = "day"] = /^(\d+(?:\.\d+)?)%(?:\/(hour|day|week|month))?$/.exec(text) ?? [];
  if (number === undefined) throw new InputError(`--churn must be a part of the nodes in a time, as in 5%/day or 2%/hour, not "${text}"`);
  const days: Readonly<Record<string, number>> = { hour: 1 / 24, day: 1, week: 7, month: 30 };
  return Number(number) / 100 / (days[per] ?? 1);
}

function sourcesOf(text: string): readonly WakeUpSource[] {
  return text.split(",").map((one) => word(one.trim(), SOURCES, "sources"));
}

function word<Word extends string>(text: string, words: readonly Word[], option: string): Word {
  const found = words.find((one) => one === text);
  if (found === undefined) throw new InputError(`--${option} must be of ${words.join(", ")}, not "${text}"`);
  return found;
}

/** At most a million, so that sums stay meaningful. */
function whole(text: string, option: string, least: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= 1_000_000))
    throw new InputError(`--${option} must be a whole number from ${least} to 1,000,000, not "${text}"`);
  return value;
}
