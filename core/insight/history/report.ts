import { machineOf } from "../../history/claim-entries.ts";
import { dayOf } from "../../history/keys.ts";
import type { Collected, HistoryEntry, HistoryMachine, LaunchFailed, Removed } from "../../model/history-entry.ts";
import type { NodeClaimRecord } from "../../model/node-claim-record.ts";
import { INTERRUPTIONS } from "./words.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * For so long the saving of one consolidation is counted: what the cluster would have cost without it is not known
 * later, because its pods come and go. It is the default of CONSOLIDATION_HORIZON.
 */
const SAVING_COUNTS_MS = DAY_MS;

/** Machines of one NodePool and capacity type on one day (UTC). */
interface ReportRow {
  readonly day: string;
  readonly nodePool: string;
  readonly capacityType: string;
  /** Hours of all its machines together. */
  readonly nodeHours: number;
  /** USD, by the machines' prices at launch. */
  readonly dollars: number;
  /** USD of the same hours on demand, as far as that price is known; equal to `dollars` where it is not. */
  readonly onDemandDollars: number;
}

export interface Report {
  readonly cluster: string;
  /** ms. */
  readonly since: number;
  readonly until: number;
  readonly rows: readonly ReportRow[];
  /** Sums of the rows. */
  readonly total: { readonly nodeHours: number; readonly dollars: number; readonly onDemandDollars: number };
  readonly launched: number;
  readonly ended: number;
  /** Machines that run at `until`, and what they cost an hour, USD. */
  readonly running: number;
  readonly runningPerHour: number;
  /** Machines that count with hours and without dollars, because their price is not known. */
  readonly unpriced: number;
  /** How many NodeClaims began to end, by reason. */
  readonly endings: Readonly<Record<string, number>>;
  /** The endings that EC2 brought about. */
  readonly interruptions: number;
  /** Nodes that went, pods that moved and savings by reason of disruption; without commands that were given up. */
  readonly disruptions: Readonly<
    Record<
      string,
      { readonly commands: number; readonly nodes: number; readonly pods: number; readonly savesPerHour: number; readonly saved: number }
    >
  >;
  /** USD: savings of consolidation (Empty, Underutilized), each counted for SAVING_COUNTS_MS at most. */
  readonly savedByConsolidation: number;
  /** USD: what the hours on spot cost less than on demand. */
  readonly savedBySpot: number;
  /** Launches without a machine, by reason. */
  readonly launchFailures: Readonly<Record<string, number>>;
  /** Waits of pods that no plan placed, and the longest of them, ms. */
  readonly waits: number;
  readonly longestWaitMs: number;
}

/** The time that a machine ran, ms. */
export interface Life {
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly machine: HistoryMachine;
  readonly from: number;
  readonly to: number;
}

const isEnd = (entry: HistoryEntry): entry is Removed | Collected => entry.type === "Removed" || entry.type === "Collected";

/** Each machine once, from its launch to its end or to `until`. */
export function livesOf(entries: readonly HistoryEntry[], records: readonly NodeClaimRecord[], until: number): readonly Life[] {
  const lives = new Map<string, Life>();
  for (const record of records) {
    const machine = machineOf(record);
    const { name: nodeClaim, nodePool = "", launchedAt } = record;
    if (machine && launchedAt !== undefined) lives.set(machine.instanceId, { nodeClaim, nodePool, machine, from: launchedAt, to: until });
  }
  for (const entry of entries.filter(isEnd)) {
    const { machine, launchedAt, nodeClaim, nodePool, at } = entry;
    if (machine && launchedAt !== undefined) lives.set(machine.instanceId, { nodeClaim, nodePool, machine, from: launchedAt, to: at });
  }
  return [...lives.values()];
}

/** The rows of one machine within the range, a row a day. */
function rowsOf({ nodePool, machine, from, to }: Life, since: number, until: number): readonly ReportRow[] {
  const rows: ReportRow[] = [];
  const end = Math.min(to, until);
  for (let start = Math.max(from, since); start < end; ) {
    const next = Math.min(end, (Math.floor(start / DAY_MS) + 1) * DAY_MS);
    const nodeHours = (next - start) / HOUR_MS;
    const { capacityType, pricePerHour = 0, onDemandPerHour = pricePerHour } = machine;
    rows.push({
      ...{ day: dayOf(start), nodePool, capacityType, nodeHours },
      dollars: nodeHours * pricePerHour,
      onDemandDollars: nodeHours * (machine.pricePerHour === undefined ? 0 : onDemandPerHour),
    });
    start = next;
  }
  return rows;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function merged(rows: readonly ReportRow[]): readonly ReportRow[] {
  const groups = Map.groupBy(rows, ({ day, nodePool, capacityType }) => JSON.stringify([day, nodePool, capacityType]));
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, group]) => {
      const [first] = group;
      if (first === undefined) return [];
      return [
        {
          ...first,
          nodeHours: sum(group.map(({ nodeHours }) => nodeHours)),
          dollars: sum(group.map(({ dollars }) => dollars)),
          onDemandDollars: sum(group.map(({ onDemandDollars }) => onDemandDollars)),
        },
      ];
    });
}

const countsOf = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, all]) => [name, all.length]));

/** EC2's own code of an error, which says more than that a launch failed. */
const failureOf = ({ reason, message }: LaunchFailed): string => /^([A-Z][A-Za-z.]+): /.exec(message)?.[1] ?? reason;

interface ReportInput {
  readonly cluster: string;
  /** ms. */
  readonly since: number;
  readonly until: number;
  /** From `since` on; those after `until` say which machines ran at `until`. */
  readonly entries: readonly HistoryEntry[];
  /** Of the machines that run now. */
  readonly records: readonly NodeClaimRecord[];
  /** One NodePool only. */
  readonly nodePool?: string | undefined;
}

/**
 * What the machines of a cluster cost in a range of time, and what happened to them. Dollars are the hours of each
 * machine times its price at launch: a list price, or the spot price of that moment, without volumes, traffic, taxes
 * and discounts.
 */
export function reportOf({ cluster, since, until, entries: all, records, nodePool }: ReportInput): Report {
  const isOurs = (pool: string): boolean => nodePool === undefined || pool === nodePool;
  const entries = all.filter(({ at }) => at < until);
  // A month of a busy cluster has more entries than a call may have arguments.
  const latest = all.reduce((most, { at }) => Math.max(most, at), until);
  const lives = livesOf(all, records, latest).filter((life) => isOurs(life.nodePool) && life.from < until);
  const rows = merged(lives.flatMap((life) => rowsOf(life, since, until)));
  const within = lives.filter(({ to }) => to > since);
  const running = lives.filter(({ to }) => to >= until);
  const failed = new Set(entries.flatMap((entry) => (entry.type === "DisruptionFailed" && entry.hadBegun ? [entry.commandId] : [])));
  const disrupted = entries
    .filter((entry) => entry.type === "Disrupted")
    .filter(({ commandId, nodes }) => !failed.has(commandId) && nodes.some((node) => isOurs(node.nodePool)));
  const savedBy = ({ at, savesPerHour }: { readonly at: number; readonly savesPerHour: number }): number =>
    (savesPerHour * Math.min(until - at, SAVING_COUNTS_MS)) / HOUR_MS;
  const disruptions = Object.fromEntries(
    [...Map.groupBy(disrupted, ({ reason }) => reason)].map(([reason, commands]) => [
      reason,
      {
        commands: commands.length,
        nodes: sum(commands.map(({ nodes }) => nodes.length)),
        pods: sum(commands.map(({ podCount }) => podCount)),
        savesPerHour: sum(commands.map(({ savesPerHour }) => savesPerHour)),
        // How long a node would have run on at night, is unknown: the dollars of the days show what sleep saves.
        saved: reason === "Asleep" ? 0 : sum(commands.map(savedBy)),
      },
    ]),
  );
  const endings = entries.filter((entry) => entry.type === "Terminating").filter((entry) => isOurs(entry.nodePool));
  const failures = entries.filter((entry) => entry.type === "LaunchFailed").filter((entry) => isOurs(entry.nodePool));
  const waits = Map.groupBy(
    entries.filter((entry) => entry.type === "PodsWaited"),
    ({ namespace, owner, since: from }) => JSON.stringify([namespace, owner, from]),
  );
  const spot = rows.filter(({ capacityType }) => capacityType === "spot");
  return {
    ...{ cluster, since, until, rows },
    total: {
      nodeHours: sum(rows.map(({ nodeHours }) => nodeHours)),
      dollars: sum(rows.map(({ dollars }) => dollars)),
      onDemandDollars: sum(rows.map(({ onDemandDollars }) => onDemandDollars)),
    },
    launched: lives.filter(({ from }) => from >= since).length,
    ended: within.filter(({ to }) => to < until).length,
    running: running.length,
    runningPerHour: sum(running.map(({ machine }) => machine.pricePerHour ?? 0)),
    unpriced: within.filter(({ machine }) => machine.pricePerHour === undefined).length,
    endings: countsOf(endings.map(({ reason }) => reason)),
    interruptions: endings.filter(({ reason }) => INTERRUPTIONS.has(reason)).length,
    disruptions,
    savedByConsolidation: (disruptions["Empty"]?.saved ?? 0) + (disruptions["Underutilized"]?.saved ?? 0),
    savedBySpot: sum(spot.map(({ dollars, onDemandDollars }) => onDemandDollars - dollars)),
    launchFailures: countsOf(failures.map(failureOf)),
    waits: nodePool === undefined ? waits.size : 0,
    longestWaitMs:
      nodePool === undefined ? [...waits.values()].flat().reduce((most, { at, since: from }) => Math.max(most, at - from), 0) : 0,
  };
}
