import { fixedToken } from "#adapters/lambda/path-token.ts";
import { metricBuffer } from "#adapters/telemetry/metric-buffer.ts";
import type { memoryMetrics } from "#adapters/telemetry/metrics.ts";
import { labelText } from "#core/insight/metrics/labels.ts";
import { addUp } from "#core/insight/metrics/sums.ts";
import type { KeptGauge } from "#core/ports/metric-sums.ts";
import { metricsEntry } from "#functions/metrics/entry.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import type { Lab } from "#lab/host.ts";
import { memoryMetricSums } from "./metric-sums.ts";

export const TOKEN = "0123456789abcdef0123";

/** The metrics function over labs, whose functions' counts are added up at each scrape. */
export function scrapedLabs(labs: readonly Lab[], hung: readonly string[] = []) {
  const sums = memoryMetricSums();
  const taken = new Map<Lab, number>();
  const now = (): number => labs[0]?.world.clock.now() ?? 0;
  const log = {
    errors: [] as string[],
    debug: () => {},
    info: () => {},
    error: (message: string) => void log.errors.push(message),
    with: () => log,
  };
  const buffer = metricBuffer(sums, { log, now });
  // Labs have one name; of several, each further one gets a number.
  const nameOf = (lab: Lab): string => `${lab.world.cluster}${labs.indexOf(lab) === 0 ? "" : `-${labs.indexOf(lab) + 1}`}`;
  const byName = new Map(labs.map((lab) => [nameOf(lab), lab]));
  const addCounts = async (lab: Lab): Promise<void> => {
    const { records } = lab.deps.metrics as ReturnType<typeof memoryMetrics>;
    const fresh = records.slice(taken.get(lab) ?? 0);
    taken.set(lab, records.length);
    const gauges = fresh.flatMap(({ kind, name, labels, value }) =>
      kind === "gauge" ? [{ name, labels: labelText(labels), value } as KeptGauge] : [],
    );
    await sums.add(nameOf(lab), { increments: addUp(fresh.filter(({ kind }) => kind !== "gauge")), gauges }, now());
  };
  const handle = metricsEntry({
    clusters: async () => [...byName.keys(), ...hung],
    clusterDeps: async (name) => {
      const lab = byName.get(name);
      if (lab === undefined) throw new Error("connect ETIMEDOUT");
      const silent = { count: () => {}, gauge: () => {}, observe: () => {} };
      return { ...lab.deps, metrics: buffer.keeping(name, silent) };
    },
    ...{ sums, flush: buffer.flush, version: "1.2.3", log, now, later: () => () => {}, isToken: fixedToken(TOKEN) },
    memory: new ProcessMemory(),
  });
  return {
    errors: log.errors,
    /** The response to a scraper's request. */
    async get({ token = TOKEN, path = "/metrics", query = "", headers = {}, method = "GET" } = {}) {
      for (const lab of labs) await addCounts(lab);
      const event = {
        ...{ rawPath: path, rawQueryString: query, requestContext: { http: { method } } },
        headers: { ...(token !== "" && { authorization: `Bearer ${token}` }), accept: "application/openmetrics-text", ...headers },
      };
      return handle(event as unknown as Parameters<typeof handle>[0]);
    },
  };
}
