import { readRate } from "#core/disruption/limits/rate-limit.ts";
import type { RateSetting } from "#core/disruption/settings.ts";
import { parseDuration } from "#core/lib/duration.ts";
import { type CapsByCluster, EACH } from "#core/model/price-caps.ts";
import { readDollars } from "#core/node-pool/max-price.ts";
import { readSchedule } from "#core/node-pool/schedule.ts";
import { readSavingsPlans, SAVINGS_PLANS_FORM } from "#core/offerings/savings-plans.ts";
import { readSchedulerConfig, type SchedulerConfig } from "#core/scheduling/rules/scheduler-config.ts";
import {
  bool,
  duration,
  durationOrNone,
  numberOf,
  oneOf,
  type Read,
  type Reader,
  readerOf,
  wholeNumberOf,
  wholeNumberOrNone,
} from "./variables.ts";

/**
 * Every setting that an operator may give, one row each; CONTRIBUTING.md says how to add one.
 *
 * In: texts of environment variables, under Karpenter's names where Karpenter has the setting. Out, by type derivation:
 * what a function reads of them (config.ts), `settings` of ClusterDeps, the check of a deployment's settings and
 * docs/settings.md (infra/). What a setting is for is said in infra/setting-notes.ts, which does not compile without
 * it; the prose stays there because every function would have to load it at a cold start.
 */
interface Row {
  /** The name of the value in code. */
  readonly as: string;
  /** Who reads the value: decisions, as `settings` of ClusterDeps; the wiring of a function, as a field of Config. */
  readonly readBy: "decisions" | "wiring";
  /** The default as an operator would write it; "" for none. */
  readonly fallback: string;
  readonly read: Reader<unknown>;
  /** Whether Karpenter has no setting of this name. */
  readonly isOurs?: true;
}

/**
 * Feature gates that have an effect, and their defaults. Decisions read the gate NodeRepair as `settings.nodeRepair`.
 */
export const DEFAULT_GATES = {
  CapacityBuffer: false,
  NodeOverlay: false,
  NodeRepair: false,
  RebootForRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  StaticCapacity: false,
  TerminateFirstDrift: false,
  TerminateFirstRepair: false,
};

export type Gate = keyof typeof DEFAULT_GATES;
type FeatureGates = Readonly<Record<Gate, boolean>>;

/** The gates of a list such as "NodeRepair=true,StaticCapacity=false"; undefined when it is malformed. */
export function gatesIn(text: string): Readonly<Record<string, boolean>> | undefined {
  const gates: Record<string, boolean> = {};
  for (const part of text.split(",").filter((item) => item.trim() !== "")) {
    const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(true|false)\s*$/.exec(part) ?? [];
    if (name === undefined) return undefined;
    gates[name] = value === "true";
  }
  return gates;
}

/** Gates that this product does not have are ignored, as Karpenter ignores them; a malformed list is refused. */
function readGates(text: string): FeatureGates | undefined {
  const gates = gatesIn(text);
  if (gates === undefined) return undefined;
  const known = Object.keys(DEFAULT_GATES).filter((name) => Object.hasOwn(gates, name));
  return { ...DEFAULT_GATES, ...Object.fromEntries(known.map((name) => [name, gates[name]])) };
}

/** YAML is turned into JSON when the stack is made, so that no function needs a reader of YAML. */
function readDefaultConstraints(text: string): Read<SchedulerConfig["defaultConstraints"]> {
  if (text === "") return { value: [] };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON; set it to JSON such as {"podTopologySpread":{"defaultConstraints":[…]}}' };
  }
  const config = readSchedulerConfig(json);
  return "problem" in config ? config : { value: config.defaultConstraints };
}

/** "20", "prod=50,dev=5" or both: dollars an hour for each cluster, or for one that is named. */
function readCaps(text: string): CapsByCluster | undefined {
  if (text === "none") return {};
  const parts = text.split(",").map((part) => part.split("=").map((word) => word.trim()));
  const caps = parts.map((words) => [words.length === 1 ? EACH : words[0], readDollars(words.at(-1) ?? "")] as const);
  const isRead = caps.every(([name, dollars]) => name !== "" && dollars !== undefined) && parts.every(({ length }) => length <= 2);
  return isRead && new Set(caps.map(([name]) => name)).size === caps.length ? Object.fromEntries(caps) : undefined;
}

/** Undefined for the word "none". */
const readCap: Reader<number | undefined> = (text) =>
  text === "none" ? { value: undefined } : readerOf('dollars an hour such as 120 or 12.50, or "none"', readDollars)(text);

/** Undefined for the word "off". */
const readRateSetting: Reader<RateSetting | undefined> = (text) => {
  const read = readRate(text, parseDuration);
  return read === "off" ? { value: undefined } : readerOf('a share of the nodes and a time such as 20%/10m, or "off"', () => read)(text);
};

/** A schedule for each cluster, or JSON with a schedule for each that is named. */
function readSchedules(text: string): Read<Readonly<Record<string, string>>> {
  if (text === "none") return { value: {} };
  const byCluster = text.trim().startsWith("{") ? readTexts(text) : { [EACH]: text };
  if (byCluster === undefined) return { problem: 'is not JSON; set it to JSON such as {"dev":"0 20 * * 1-5 for 10h"}' };
  for (const schedule of Object.values(byCluster)) {
    const read = readSchedule(schedule);
    if ("problem" in read) return { problem: read.problem };
  }
  return { value: byCluster };
}

function readTexts(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    const isTexts = typeof read === "object" && read !== null && Object.values(read).every((value) => typeof value === "string");
    return isTexts ? (read as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
}

export const SETTINGS = {
  LOG_LEVEL: { as: "logLevel", readBy: "wiring", fallback: "info", read: oneOf("debug", "info", "error") },
  CLOUDWATCH_METRICS: {
    as: "cloudWatchMetrics",
    readBy: "wiring",
    fallback: "essential",
    read: oneOf("essential", "all", "both", "counts", "none"),
    isOurs: true,
  },
  FEATURE_GATES: {
    as: "featureGates",
    readBy: "wiring",
    fallback: "",
    read: readerOf("a list such as SpotToSpotConsolidation=true,NodeRepair=false", readGates),
  },
  HISTORY_DAYS: { as: "historyDays", readBy: "wiring", fallback: "30", read: wholeNumberOf(0), isOurs: true },
  /** Share of an instance's memory. */
  VM_MEMORY_OVERHEAD_PERCENT: { as: "vmMemoryOverheadPercent", readBy: "decisions", fallback: "0.075", read: numberOf(0) },
  RESERVED_ENIS: { as: "reservedEnis", readBy: "decisions", fallback: "0", read: wholeNumberOf(0) },
  PREFERENCE_POLICY: { as: "preferencePolicy", readBy: "decisions", fallback: "Respect", read: oneOf("Respect", "Ignore", "Weigh") },
  MIN_VALUES_POLICY: { as: "minValuesPolicy", readBy: "decisions", fallback: "Strict", read: oneOf("Strict", "BestEffort") },
  SCHEDULER_CONFIG: { as: "defaultConstraints", readBy: "decisions", fallback: "", read: readDefaultConstraints },
  /** ms; undefined bounds no saving. */
  CONSOLIDATION_HORIZON: { as: "horizonMs", readBy: "decisions", fallback: "24h", read: durationOrNone, isOurs: true },
  /** USD. */
  CONSOLIDATION_POD_COST: { as: "podMoveCost", readBy: "decisions", fallback: "0.001", read: numberOf(0), isOurs: true },
  /** undefined: no limit. */
  DISRUPTION_RATE: { as: "disruptionRate", readBy: "decisions", fallback: "20%/10m", read: readRateSetting, isOurs: true },
  /** USD per hour. */
  NODE_OVERHEAD_PRICE: { as: "nodeOverheadPrice", readBy: "decisions", fallback: "0.02", read: numberOf(0), isOurs: true },
  BURSTABLE_PRICE: { as: "burstablePrice", readBy: "decisions", fallback: "surplus", read: oneOf("surplus", "list"), isOurs: true },
  /** undefined: never together. */
  LAUNCH_TOGETHER: { as: "launchTogether", readBy: "decisions", fallback: "5", read: wholeNumberOrNone(2), isOurs: true },
  /** USD per hour, by cluster. */
  MAX_PRICE_PER_HOUR: {
    as: "maxPricePerHour",
    readBy: "decisions",
    fallback: "none",
    read: readerOf('dollars an hour such as 20, of clusters such as prod=50,dev=5, or "none"', readCaps),
    isOurs: true,
  },
  /** USD per hour. */
  STACK_MAX_PRICE_PER_HOUR: { as: "stackMaxPricePerHour", readBy: "decisions", fallback: "none", read: readCap, isOurs: true },
  /** USD per hour at on-demand prices. */
  SAVINGS_PLANS: {
    as: "savingsPlans",
    readBy: "decisions",
    fallback: "none",
    read: readerOf(SAVINGS_PLANS_FORM, readSavingsPlans),
    isOurs: true,
  },
  RESERVED_INSTANCES: { as: "reservedInstances", readBy: "decisions", fallback: "false", read: bool, isOurs: true },
  /** The text by cluster. */
  SLEEP_SCHEDULE: { as: "sleepSchedule", readBy: "decisions", fallback: "none", read: readSchedules, isOurs: true },
  BESIDE_KARPENTER: { as: "besideKarpenter", readBy: "decisions", fallback: "false", read: bool, isOurs: true },
  LEGACY_NODE_REPAIR: { as: "legacyNodeRepair", readBy: "decisions", fallback: "false", read: bool },
  ISOLATED_VPC: { as: "isolatedVpc", readBy: "decisions", fallback: "false", read: bool },
  ENABLE_ZONAL_SHIFT: { as: "zonalShift", readBy: "decisions", fallback: "false", read: bool },
  /** ms, as every duration. */
  AMI_REFRESH_INTERVAL: { as: "amiRefreshMs", readBy: "decisions", fallback: "1m", read: duration("1m", "24h") },
  SUBNET_REFRESH_INTERVAL: { as: "subnetRefreshMs", readBy: "decisions", fallback: "1m", read: duration("1m", "24h") },
  SECURITY_GROUP_REFRESH_INTERVAL: { as: "securityGroupRefreshMs", readBy: "decisions", fallback: "1m", read: duration("1m", "24h") },
  // After five minutes SQS no longer recognises a wake-up as the same.
  BATCH_IDLE_DURATION: { as: "batchIdleMs", readBy: "decisions", fallback: "1s", read: duration("0s", "5m") },
  BATCH_MAX_DURATION: { as: "batchMaxMs", readBy: "decisions", fallback: "10s", read: duration("0s", "5m") },
  KUBE_CLIENT_QPS: { as: "kubeClientQps", readBy: "wiring", fallback: "200", read: numberOf(1) },
  KUBE_CLIENT_BURST: { as: "kubeClientBurst", readBy: "wiring", fallback: "300", read: wholeNumberOf(1) },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof SETTINGS;
export type SettingName = keyof Table;
export type SettingValue<N extends SettingName> = Table[N]["read"] extends Reader<infer T> ? T : never;

/** The values that this reader reads, by their names in code. */
type ReadBy<R extends Row["readBy"]> = {
  readonly [N in SettingName as Table[N]["readBy"] extends R ? Table[N]["as"] : never]: SettingValue<N>;
};

/** What the wiring of a function reads, as fields of Config. */
export type WiringSettings = ReadBy<"wiring">;

/** What decisions read: the settings, and each feature gate under its name in lower camel case. */
export type Settings = ReadBy<"decisions"> & { readonly [G in Gate as Uncapitalize<G>]: boolean };

type SettingValues = { readonly [N in SettingName]: SettingValue<N> };

function readBy(reader: Row["readBy"], values: SettingValues): Readonly<Record<string, unknown>> {
  const rows: readonly (readonly [string, Row])[] = Object.entries(SETTINGS);
  return Object.fromEntries(rows.flatMap(([name, row]) => (row.readBy === reader ? [[row.as, values[name as SettingName]]] : [])));
}

/**
 * The values under their names in code. The casts hold because the types are derived from the rows that are gone
 * through.
 */
export function wiringSettings(values: SettingValues): WiringSettings {
  return readBy("wiring", values) as WiringSettings;
}

export function decisionSettings(values: SettingValues): Settings {
  const gates = Object.entries(values.FEATURE_GATES).map(([gate, isOn]) => [gate.charAt(0).toLowerCase() + gate.slice(1), isOn]);
  return { ...readBy("decisions", values), ...Object.fromEntries(gates) } as Settings;
}
