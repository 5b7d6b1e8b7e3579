import { gunzipSync } from "node:zlib";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { Pod } from "#core/model/pod.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { readSavingsPlans, SAVINGS_PLANS_FORM, type SavingsPlan } from "#core/offerings/savings-plans.ts";
import { type SelectorSources, withDefaultConstraints } from "#core/scheduling/rules/default-constraints.ts";
import { readSchedulerConfig, type SchedulerConfig } from "#core/scheduling/rules/scheduler-config.ts";
import { isDeep, withoutNulls } from "#manifests/yaml.ts";
import { LAB } from "#settings/program.ts";
import { readBytes } from "#terminal/bounded-file.ts";
import { InputError } from "#terminal/input-error.ts";
import { type BufferedScenario, scenarioHeadroom } from "./headroom.ts";
import { type OverlaidScenario, overlaidScenario } from "./overlays.ts";

const LISTS = [
  "nodePools",
  "nodes",
  "nodeClaims",
  "pods",
  "daemonSets",
  "podDisruptionBudgets",
  "persistentVolumeClaims",
  "persistentVolumes",
  "storageClasses",
  "csiNodes",
  "namespaces",
] as const;

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

/** Most bytes of a scenario, unpacked: JSON of this size takes a second or two and about 2 GB. */
const MAX_SCENARIO_BYTES = 256 * 1024 * 1024;

/** Reads a scenario file; "-" is standard input, and gzip is recognised by its first bytes. Throws InputError. */
export function readScenario(path: string): unknown {
  const name = path === "-" ? "standard input" : path;
  let bytes: Buffer;
  try {
    bytes = readBytes(path === "-" ? 0 : path, MAX_SCENARIO_BYTES);
  } catch (error) {
    throw new InputError(
      `cannot read ${name}: ${WHY[(error as NodeJS.ErrnoException).code ?? ""] ?? String(error)}; give the path of a scenario file`,
    );
  }
  try {
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const scenario: unknown = JSON.parse((isPacked ? unpacked(bytes) : bytes).toString("utf8"));
    if (isDeep(scenario)) throw new Error("it nests fields deeper than any object of Kubernetes");
    return withoutNulls(scenario);
  } catch (error) {
    if (/\.ya?ml$/.test(name)) throw new InputError(`${name} is YAML and a scenario is JSON; manifests are played by ${LAB} ${name}`);
    throw new InputError(
      `${name} is not a scenario: ${error instanceof Error ? error.message : String(error)}; it must be one JSON object`,
    );
  }
}

function unpacked(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_SCENARIO_BYTES });
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw isTooLong ? new Error(`it unpacks to more than ${MAX_SCENARIO_BYTES / 1024 / 1024} MB`) : error;
  }
}

/** Lists from which a snapshot is derived and which it does not hold. */
const SOURCES = [
  "nodeOverlays",
  "capacityBuffers",
  "podTemplates",
  "deployments",
  "statefulSets",
  "replicaSets",
  "services",
  "replicationControllers",
] as const;

/** A file that has none of these is something else. */
const PARTS: readonly string[] = [...LISTS, ...SOURCES, "instanceTypes"];

const shortened = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name);

type Sources = Pick<ScenarioParts, (typeof SOURCES)[number]>;
type Lists = Pick<Snapshot, (typeof LISTS)[number]>;

/** The fields of a scenario file. */
interface ScenarioParts extends Lists, OverlaidScenario, BufferedScenario, SelectorSources, SchedulerConfig {
  /** The most that all nodes may cost together, USD per hour. */
  readonly maxPricePerHour?: number;
  /** What commitments pay for, used by nodes of the scenario alone. */
  readonly savingsPlans?: readonly SavingsPlan[];
  readonly nodePools: Lists["nodePools"];
  readonly now: number;
}

/** The fields of a scenario file; a missing list is empty. Throws InputError when the shape is wrong. */
export function scenarioParts(scenario: unknown): ScenarioParts {
  if (typeof scenario !== "object" || scenario === null || Array.isArray(scenario)) {
    throw new InputError("a scenario must be a JSON object with nodePools, pods and instanceTypes");
  }
  const fields = scenario as Record<string, unknown>;
  if (!PARTS.some((name) => Object.hasOwn(fields, name))) {
    const [found] = Object.keys(fields);
    throw new InputError(
      `this is no scenario, because it has ${found === undefined ? "no fields" : `${shortened(found)} and none of its lists`}; write nodePools, pods and instanceTypes`,
    );
  }
  const list = (name: string): readonly unknown[] => {
    const value = fields[name] ?? [];
    if (!Array.isArray(value)) throw new InputError(`${name} must be a list of objects`);
    value.forEach((item, i) => {
      if (typeof item !== "object" || item === null) throw new InputError(`${name}[${i}] must be an object`);
      if (name !== "instanceTypes" && typeof item.metadata?.name !== "string")
        throw new InputError(`${name}[${i}].metadata.name is missing; every Kubernetes object has one`);
    });
    return value;
  };
  const now = fields["now"] === undefined ? 0 : Date.parse(String(fields["now"]));
  if (Number.isNaN(now))
    throw new InputError(`now must be an RFC 3339 time, such as 2026-01-01T00:00:00Z, not ${JSON.stringify(fields["now"])}`);
  // The objects in the lists are checked against their schemas in check.ts, not here.
  const lists = Object.fromEntries([...LISTS, ...SOURCES].map((name) => [name, list(name)])) as unknown as Lists & Sources;
  const money = { ...priceCap(fields["maxPricePerHour"]), ...savingsPlans(fields["savingsPlans"]) };
  const config = { ...schedulerConfig(fields["schedulerConfig"]), ...money };
  return { ...lists, ...config, now, instanceTypes: list("instanceTypes").map(instanceType) };
}

function priceCap(value: unknown): Pick<ScenarioParts, "maxPricePerHour"> {
  if (value === undefined) return {};
  if (typeof value !== "number" || !(value >= 0))
    throw new InputError(`maxPricePerHour must be dollars an hour as a number, such as 12.5, not ${JSON.stringify(value)}`);
  return { maxPricePerHour: value };
}

function savingsPlans(value: unknown): Pick<ScenarioParts, "savingsPlans"> {
  if (value === undefined) return {};
  const plans = typeof value === "string" ? readSavingsPlans(value) : undefined;
  if (plans === undefined) throw new InputError(`savingsPlans must be ${SAVINGS_PLANS_FORM}, not ${JSON.stringify(value)}`);
  return { savingsPlans: plans };
}

function schedulerConfig(value: unknown = {}): SchedulerConfig {
  const config = readSchedulerConfig(value);
  if ("problem" in config) throw new InputError(`schedulerConfig: ${config.problem}`);
  return config;
}

/**
 * A scenario file as the core sees a cluster: every NodePool has its instance types with the NodeOverlays applied,
 * CapacityBuffers become virtual pods, and the default spread constraints of schedulerConfig are added to the pods.
 * Throws InputError when the shape is wrong.
 */
export function scenarioToSnapshot(scenario: unknown): Snapshot {
  const parts = scenarioParts(scenario);
  const lists = Object.fromEntries(LISTS.map((name) => [name, parts[name]])) as unknown as Lists;
  const { maxPricePerHour: perHour, savingsPlans: plans = [] } = parts;
  const spread = (pods: readonly Pod[]) => withDefaultConstraints(pods, parts.defaultConstraints, parts);
  return {
    ...lists,
    now: parts.now,
    pods: spread(lists.pods),
    virtualPods: spread(scenarioHeadroom(parts).flatMap(({ pods }) => pods)),
    instanceTypes: overlaidScenario(parts).instanceTypes,
    ...(perHour !== undefined && { priceCap: { of: "cluster", perHour, elsewhere: 0 } }),
    ...(plans.length > 0 && { paid: plans.map(({ of, perHour: most }) => ({ of, perHour: most, keeps: most })) }),
    nominated: new Map(),
    disrupting: new Set(),
  };
}

function instanceType(item: unknown, i: number): InstanceType {
  const type = item as Partial<InstanceType>;
  if (typeof type.name !== "string") throw new InputError(`instanceTypes[${i}].name is missing`);
  if (!Array.isArray(type.offerings)) throw new InputError(`instanceTypes[${i}] (${type.name}) needs a list of offerings`);
  return {
    name: type.name,
    requirements: type.requirements ?? [],
    capacity: type.capacity ?? {},
    overhead: type.overhead ?? {},
    ...(type.volumePrice !== undefined && { volumePrice: type.volumePrice }),
    ...(type.volumeLimit !== undefined && { volumeLimit: type.volumeLimit }),
    offerings: type.offerings,
  };
}
