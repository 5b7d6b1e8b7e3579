import { QUANTILE_WINDOW_MS, SKETCH } from "#core/insight/metrics/sums.ts";
import { isMetricName, type MetricName, metricOf } from "#core/ports/metric-registry.ts";
import type { KeptGauge, MetricSums, SumIncrement } from "#core/ports/metric-sums.ts";
import type { Table, TableItem } from "./table.ts";
import { tableRequests } from "./table-requests.ts";

const SUM = "sum#";
const WINDOW = "window#";
const GAUGES = "gauges";
const MARK = "mark";
const partition = (cluster: string): string => `metrics#${cluster}`;

/** DynamoDB takes an update expression of 4 KB; each attribute has some 12 letters in it. */
const MAX_ATTRIBUTES = 200;
/** A gauge that no decision has set for so long is no longer told, unless the registry says how long it stays. */
const MAX_GAUGE_AGE_MS = 86_400_000;
const stayOf = (name: string): number => (isMetricName(name) ? metricOf(name).staysMs : undefined) ?? MAX_GAUGE_AGE_MS;
/** The start of a window in a sort key, of equal length for each time. */
const startOf = (now: number): number => now - (now % QUANTILE_WINDOW_MS);

/** Attributes that are not metrics. */
const OWN_ATTRIBUTES = new Set(["pk", "sk", "ttl"]);

function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

/**
 * Sums in the table of records: the partition `metrics#CLUSTER` has one small item for each metric, because a write is
 * priced by the item's size. Its attributes are `PART|LABELS`. Quantiles have items of their own for each ten minutes
 * (TTL), and the last values of gauges are one item, `NAME|LABELS` to [value, ms]. DynamoDB adds numbers atomically, so
 * functions that run at the same time lose nothing. A write that the SDK repeats after a lost answer counts twice.
 */
export function metricSums(table: Table): MetricSums {
  const { write, query } = tableRequests(table);

  const update = async (
    cluster: string,
    sk: string,
    attributes: readonly (readonly [string, unknown])[],
    verb: "add" | "set",
    ttl?: number,
  ): Promise<void> => {
    for (const chunk of chunks(attributes, MAX_ATTRIBUTES)) {
      const expiry = ttl === undefined ? {} : { ttl };
      const changes = Object.fromEntries(chunk);
      const by = verb === "add" ? { add: changes as Readonly<Record<string, number>>, set: expiry } : { set: { ...changes, ...expiry } };
      await write({ update: { pk: partition(cluster), sk }, by });
    }
  };

  const addTo = (cluster: string, sk: string, increments: readonly SumIncrement[], ttl?: number) =>
    update(
      cluster,
      sk,
      increments.map(({ part, labels, value }) => [`${part}|${labels}`, value] as const),
      "add",
      ttl,
    );

  const all = (pk: string, prefix: string): Promise<readonly TableItem[]> => query({ pk, prefix, isConsistent: true });

  return {
    async add(cluster, { increments, gauges }, now) {
      const byMetric = Map.groupBy(increments, ({ name }) => name);
      const start = startOf(now);
      await Promise.all([
        ...[...byMetric].flatMap(([name, parts]) => {
          const sketch = parts.filter(({ part }) => part.startsWith(SKETCH));
          const totals = parts.filter(({ part }) => !part.startsWith(SKETCH));
          return [
            addTo(cluster, `${SUM}${name}`, totals),
            addTo(cluster, `${WINDOW}${start}#${name}`, sketch, Math.ceil((start + 3 * QUANTILE_WINDOW_MS) / 1_000)),
          ];
        }),
        update(
          cluster,
          GAUGES,
          gauges.map(({ name, labels, value }) => [`${name}|${labels}`, [value, now]] as const),
          "set",
        ),
      ]);
    },

    async read(cluster, now) {
      const pk = partition(cluster);
      const [sums, earlier, present, kept] = await Promise.all([
        all(pk, SUM),
        all(pk, `${WINDOW}${startOf(now) - QUANTILE_WINDOW_MS}#`),
        all(pk, `${WINDOW}${startOf(now)}#`),
        all(pk, GAUGES),
      ]);
      const numbers = [...sums, ...earlier, ...present].flatMap((item) => {
        const name = item.sk.slice(item.sk.lastIndexOf("#") + 1) as MetricName;
        return attributesOf(item).flatMap(([[part, labels], value]) => (typeof value === "number" ? [{ name, part, labels, value }] : []));
      });
      const gauges = kept.flatMap(attributesOf).flatMap(([[name, labels], pair]): KeptGauge[] => {
        const [value, at] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
        const isFresh = typeof value === "number" && typeof at === "number" && now - at <= stayOf(name);
        return isFresh ? [{ name: name as KeptGauge["name"], labels, value }] : [];
      });
      return { sums: numbers, gauges };
    },

    async moveMark(cluster, to) {
      const condition = { anyOf: [{ absent: "mark" }, { attribute: "mark", below: to }] };
      const moved = { update: { pk: partition(cluster), sk: MARK }, by: { set: { mark: to } }, if: condition };
      const { isWritten, item } = await write(moved, { returns: "old" });
      const former = item?.["mark"];
      return isWritten && typeof former === "number" ? former : undefined;
    },
  };
}

/** The attributes of an item that are metrics, with the two parts of their names. */
function attributesOf(item: Readonly<Record<string, unknown>>): readonly (readonly [readonly [string, string], unknown])[] {
  return Object.entries(item).flatMap(([name, value]) => {
    const bar = name.indexOf("|");
    return OWN_ATTRIBUTES.has(name) || bar < 0 ? [] : [[[name.slice(0, bar), name.slice(bar + 1)], value] as const];
  });
}
