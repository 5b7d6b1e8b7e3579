// core/pause: who holds voluntary disruption and launches of a cluster, and whether an act may begin. In come what the
// table and the ConfigMap say, out go pauses and their sentences. Where both are read must not be known here.

import { isJsonObject } from "../lib/json.ts";
import { fromRfc3339, rfc3339 } from "../model/conditions.ts";
import type { Pause, PauseScope } from "../model/pause.ts";
import type { ConfigMap } from "../model/workloads.ts";

export const PAUSE_SCOPES: readonly PauseScope[] = ["disruption", "launches"];

/** The ConfigMap that pauses a cluster, for those who have kubectl alone. Tenants cannot write in its namespace. */
export const PAUSE_CONFIG_MAP = { name: "karpenter-serverless-pause", namespace: "kube-system" } as const;

/** Name of the table's document that the command `pause` writes for a cluster. */
export const pauseDocument = (cluster: string): string => `pause/${cluster}`;

/** Name of the table's document with the ConfigMap as it was last read, for when the API server does not answer. */
export const seenDocument = (cluster: string): string => `pause-seen/${cluster}`;

/** The pause that holds a scope at a time (ms), the longest one; undefined when acts may begin. */
export function pauseOf(pauses: readonly Pause[], scope: PauseScope, now: number): Pause | undefined {
  const holding = pauses.filter((pause) => (pause.only ?? scope) === scope && isInForce(pause, now));
  return holding.toSorted((a, b) => endOf(b) - endOf(a))[0];
}

export const isInForce = (pause: Pause, now: number): boolean => now < endOf(pause);

const endOf = ({ until = Number.POSITIVE_INFINITY }: Pause): number => until;

/** A pause without an end that is older than this counts as forgotten, ms. */
const FORGOTTEN_MS = 24 * 3_600_000;

export const isForgotten = ({ at, until }: Pause, now: number): boolean => until === undefined && now - at > FORGOTTEN_MS;

/** Who paused what, since when, until when and why: "disruption and launches are paused by … since …: …". */
export function pauseText({ source, only, at, until, by, reason, problem }: Pause): string {
  const what = only === undefined ? "disruption and launches are" : only === "launches" ? "launches are" : "disruption is";
  const { namespace, name } = PAUSE_CONFIG_MAP;
  const who = source === "table" ? by : `ConfigMap ${namespace}/${name}${by === "" ? "" : ` (by its own word ${by})`}`;
  const end = until === undefined ? "" : ` until ${rfc3339(until)}`;
  const why = reason === "" ? "" : `: ${reason}`;
  return `${what} paused by ${who} since ${rfc3339(at)}${end}${why}${problem === undefined ? "" : ` (${problem})`}`;
}

/** The document that pauses a cluster; one without a pause after it was taken back. */
export const pauseJson = (pause: Pause | undefined): string => JSON.stringify({ pause: pause ?? null });

const UNREADABLE = "the document cannot be read; run resume, or pause again";

/** The pause that stands in a document; a document that cannot be read pauses both. `at`: its time then, ms. */
export function pauseFromJson(text: string | undefined, at: number): Pause | undefined {
  const held = unreadablePause(at);
  if (text === undefined) return held;
  try {
    const read: unknown = JSON.parse(text);
    if (!isJsonObject(read)) return held;
    const { pause } = read;
    if (pause === null) return undefined;
    return isPause(pause) ? pause : held;
  } catch {
    return held;
  }
}

const unreadablePause = (at: number): Pause => ({ source: "table", at, by: "an unknown caller", reason: "", problem: UNREADABLE });

function isPause(value: unknown): value is Pause {
  if (!isJsonObject(value)) return false;
  const { source, only, at, until, by, reason } = value;
  const isTime = (time: unknown): boolean => typeof time === "number" && Number.isFinite(time);
  return (
    (source === "table" || source === "ConfigMap") &&
    (only === undefined || isScope(only)) &&
    isTime(at) &&
    (until === undefined || isTime(until)) &&
    typeof by === "string" &&
    typeof reason === "string"
  );
}

const isScope = (value: unknown): value is PauseScope => (PAUSE_SCOPES as readonly unknown[]).includes(value);

const KEYS: readonly string[] = ["only", "until", "reason", "by"];
/** Letters of a reason that are shown. */
const MAX_TEXT = 300;

/** The pause that a ConfigMap orders. A value that cannot be read pauses as if its key were absent, and is named. */
export function pauseOfConfigMap({ metadata, data = {} }: ConfigMap, now: number): Pause {
  const { only, until, reason = "", by = "" } = data;
  const created = fromRfc3339(metadata.creationTimestamp);
  const end = until === undefined ? undefined : timeOf(until);
  const problems = [
    ...(only === undefined || isScope(only) ? [] : [`only is ${JSON.stringify(only.slice(0, 40))}, not ${PAUSE_SCOPES.join(" or ")}`]),
    ...(until === undefined || end !== undefined
      ? []
      : [`until is ${JSON.stringify(until.slice(0, 40))}, not a time as in 2026-11-28T18:00:00Z`]),
    ...Object.keys(data)
      .filter((key) => !KEYS.includes(key))
      .sort()
      .map((key) => `${key.slice(0, 40)} is no key of it; there are ${KEYS.join(", ")}`),
  ];
  return {
    source: "ConfigMap",
    ...(isScope(only) && { only }),
    at: Number.isNaN(created) ? now : created,
    ...(end !== undefined && { until: end }),
    by: oneLine(by),
    reason: oneLine(reason),
    ...(problems.length > 0 && { problem: problems.join("; ") }),
  };
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function timeOf(text: string): number | undefined {
  const at = RFC_3339.test(text.trim()) ? fromRfc3339(text.trim()) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT);
