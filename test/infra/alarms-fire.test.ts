import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, it } from "vitest";
import { emfMetrics, type MetricRecord, SENT_METRICS, type SentMetrics } from "#adapters/telemetry/metrics.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { makeApp } from "#infra/app.ts";
import { runawayBound } from "#infra/runaway.ts";
import { parseSettings } from "#infra/settings.ts";
import { createLab, ENTRIES, type FunctionEntries, type Lab, type LabOptions } from "#lab/host.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, MINUTE, OPTIONS, POOL, pass, SPOT_POOL, scale, start } from "../support/lab-story.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type AlarmDefinition, emfPoints, firesAt, type Point } from "./evaluate-alarm.ts";

/** A situation is played in the lab; the alarms of the template are evaluated over what the functions and AWS count. */

const outDir = temporaryFolder("alarms-fire");
const templateFor = (sent: SentMetrics): Template => {
  const alarmTopicArn = "arn:aws:sns:us-west-2:111122223333:on-call";
  const settings = parseSettings({ clusters: [{ name: "c1" }], alarmTopicArn, settings: { CLOUDWATCH_METRICS: sent } }, "test");
  return Template.fromStack(makeApp({ settings, outDir, code: () => Code.fromInline("exports.handler = async () => {};") }).stack);
};
const alarmsOf = (template: Template) =>
  Object.entries(template.findResources("AWS::CloudWatch::Alarm")).map(([id, { Properties }]) => ({
    name: /, (\w+)\.$/.exec(Properties.AlarmDescription)?.[1] ?? id,
    definition: Properties as AlarmDefinition,
  }));

const template = templateFor("essential");
const alarms = alarmsOf(template);
const filters = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(({ Properties }) => Properties);

const PERIOD = 5 * MINUTE;

interface Situation extends Partial<LabOptions> {
  readonly objects?: readonly ApiObject[];
  /** What happens at the start of each period of five minutes, from 0. */
  readonly happens?: (lab: Lab, period: number) => void;
}

/** Plays periods of five minutes, and returns what CloudWatch has of them. Period n ends at (n + 1) * PERIOD. */
async function play(
  periods: number,
  { objects = [NODE_CLASS, POOL, INFLATE], happens, isThrottled, ...options }: Situation,
): Promise<Point[]> {
  const points: Point[] = [];
  let period = 0;
  const at = () => period * PERIOD;
  const ofFunction = (metric: string, name: string, value = 1): void =>
    void points.push({ namespace: "AWS/Lambda", metric, dimensions: { FunctionName: `karpenter-serverless-${name}` }, at: at(), value });
  const lab = createLab({
    ...OPTIONS,
    ...options,
    entries: counting(options.entries ?? ENTRIES, (name, failed) => {
      ofFunction("Invocations", name);
      ofFunction("Errors", name, failed ? 1 : 0);
    }),
    isThrottled: (name) => {
      const refused = isThrottled?.(name) ?? false;
      if (refused) ofFunction("Throttles", name);
      return refused;
    },
    onLog: ({ message }) => {
      for (const { FilterPattern, MetricTransformations } of filters.slice(0, 1)) {
        if (!message.startsWith(/"([^"*]+)\*"/.exec(FilterPattern)?.[1] ?? "no pattern")) continue;
        for (const { MetricNamespace: namespace, MetricName: metric, MetricValue } of MetricTransformations)
          points.push({ namespace, metric, dimensions: {}, at: at(), value: Number(MetricValue) });
      }
    },
  });
  await start(lab, objects);
  let taken = 0;
  for (; period < periods; period++) {
    happens?.(lab, period);
    await pass(lab, period === 0 ? PERIOD - 65_000 : PERIOD);
    const records = (lab.deps.metrics as unknown as { readonly records: readonly MetricRecord[] }).records.slice(taken);
    taken += records.length;
    points.push(...emfPoints(emfMetrics("essential", "c1"), records, at()));
    for (const [queue, { deadLetters }] of Object.entries(lab.wakeUps as unknown as Record<string, { deadLetters?: readonly object[] }>))
      if (deadLetters !== undefined)
        points.push({
          namespace: "AWS/SQS",
          metric: "ApproximateNumberOfMessagesVisible",
          dimensions: { queue },
          at: at(),
          value: deadLetters.length,
        });
  }
  lab.close();
  return points;
}

/** Entries that tell of each invocation whether it has failed, as Lambda counts it. */
function counting(entries: FunctionEntries, ended: (name: string, failed: boolean) => void): FunctionEntries {
  const wrapped = Object.entries(entries).map(([name, entry]) => {
    const counted = (deps: unknown) => {
      const handler = (entry as (given: unknown) => (...args: unknown[]) => Promise<unknown>)(deps);
      return async (...args: unknown[]) => {
        try {
          const answer = await handler(...args);
          ended(name, false);
          return answer;
        } catch (error) {
          ended(name, true);
          throw error;
        }
      };
    };
    return [name, counted];
  });
  return Object.fromEntries(wrapped) as FunctionEntries;
}

const limited: ApiObject = { ...POOL, spec: { ...(POOL["spec"] as object), limits: { cpu: "2" } } } as ApiObject;
const orphan: ApiObject = {
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "data-0", namespace: "default" } },
  spec: {
    containers: [{ name: "data", image: "data", resources: { requests: { cpu: "1" } } }],
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "is-not-there" } }],
  },
};
type Hooks = NonNullable<LabOptions["hooks"]>;
const refusing = (code: string): Hooks => ({
  before: ({ port, method }) => {
    if (port === "fleet" && method === "launch") throw new RefusedError(`${code}: not allowed`);
  },
});
const failing = (port: string, methods: readonly string[]): Hooks => ({
  before: (call) => {
    if (call.port === port && methods.includes(call.method)) throw new Error("the service does not answer");
  },
});
const broken = (name: keyof FunctionEntries): FunctionEntries => ({
  ...ENTRIES,
  [name]: () => async () => {
    throw new Error("Runtime exited");
  },
});
/** Each of its invocations, also of a sweep, asks for the next one a second later. */
const endless: FunctionEntries = {
  ...ENTRIES,
  catalog:
    ({ wakeUps }) =>
    async () => {
      await wakeUps.wake([{ kind: "catalog", cluster: "c1", cause: "ObjectChanged", detail: "ec2nodeclasses/default", delayMs: 1_000 }]);
      return { batchItemFailures: [] };
    },
};
const noCapacity = (lab: Lab, n: number): void => {
  if (n > 0) return;
  lab.cloud.outages.push({});
  scale(lab, 5);
};
const spotEnds = (lab: Lab): void => {
  const [machine] = alive(lab);
  if (machine !== undefined) lab.cloud.interruptSpot(machine.instance.id);
};

/** What raises each alarm. The first period in which it must be raised is the last of what its runbook names. */
const SITUATIONS: Readonly<
  Record<string, readonly (Situation & { readonly what: string; readonly periods: number; readonly from: number })[]>
> = {
  PodsWait: [
    {
      what: "a NodePool's limits leave pods",
      objects: [NODE_CLASS, limited, INFLATE],
      periods: 4,
      from: 2,
      happens: (lab, n) => n === 0 && scale(lab, 10),
    },
    { what: "the PersistentVolumeClaim of a pod does not exist", objects: [NODE_CLASS, POOL, orphan], periods: 4, from: 2 },
  ],
  LaunchesFail: [
    { what: "EC2 has no capacity", periods: 4, from: 2, happens: noCapacity },
    {
      what: "no policy allows CreateFleet",
      periods: 4,
      from: 2,
      hooks: refusing("UnauthorizedOperation"),
      happens: (lab, n) => n === 0 && scale(lab, 5),
    },
  ],
  InterruptionsLate: [
    {
      what: "a notice waits in its queue for a minute and a half",
      objects: [NODE_CLASS, SPOT_POOL, INFLATE],
      periods: 3,
      from: 1,
      happens(lab, n) {
        if (n === 0) scale(lab, 5);
        if (n !== 1) return;
        lab.wakeUps.interruption.faults.delay = () => 90_000;
        spotEnds(lab);
      },
    },
  ],
  SweepsMissing: [
    { what: "the schedule of one function does not start it", periods: 4, from: 2, isThrottled: (name) => name === "catalog" },
  ],
  SweepsFail: [{ what: "a cluster of the stack does not answer", periods: 4, from: 2, neighbours: ["gone"] }],
  FunctionsFail: [{ what: "a function ends with an error", periods: 4, from: 2, entries: broken("provision") }],
  Runaway: [{ what: "each wake-up of a function asks for another", periods: 3, from: 1, entries: endless }],
  FunctionsThrottled: [{ what: "Lambda refuses a function", periods: 4, from: 1, isThrottled: (name) => name === "disruption" }],
  DeadLetters: [
    {
      what: "a wake-up fails each time",
      periods: 3,
      from: 1,
      hooks: failing("kubernetes", ["list"]),
      happens: (lab, n) => n === 0 && scale(lab, 5),
    },
  ],
};
describe("an alarm", () => {
  it("of the template is each in the list of situations", () => {
    expect([...new Set(alarms.map(({ name }) => name))].sort()).toEqual(Object.keys(SITUATIONS).sort());
  });

  it.for(Object.entries(SITUATIONS).flatMap(([name, all]) => all.map((situation) => ({ name, ...situation }))))(
    "$name is raised when $what",
    async ({ name, what: _what, periods, from, ...situation }) => {
      const points = await play(periods, situation);
      const fired = alarms.filter((alarm) => alarm.name === name).flatMap(({ definition }) => firesAt(definition, points, periods));
      expect(fired[0]).toBe(from);
    },
  );

  it("is not raised while pods come and go and notices are heeded", async () => {
    const points = await play(8, {
      objects: [NODE_CLASS, SPOT_POOL, INFLATE],
      happens(lab, n) {
        scale(lab, [5, 20, 40, 40, 3, 0, 12, 12][n] ?? 0);
        if (n === 3 || n === 6) spotEnds(lab);
      },
    });
    expect(points.filter(({ metric }) => metric.startsWith("karpenter_interruption_message_queue")).length).toBeGreaterThan(0);
    for (const { name, definition } of alarms) expect([name, firesAt(definition, points, 8)]).toEqual([name, []]);
  });

  it("Runaway has the metric of each function that may wake itself, and bounds that grow with the clusters", () => {
    const [{ definition } = { definition: undefined }] = alarms.filter(({ name }) => name === "Runaway");
    const looked = definition?.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions?.map(({ Value }) => Value) ?? []);
    const allowing = Object.values(template.findResources("AWS::Lambda::Function", { Properties: { RecursiveLoop: "Allow" } }));
    expect(looked?.toSorted()).toEqual(allowing.map(({ Properties }) => Properties.FunctionName).toSorted());
    expect([1, 2, 11, 101].map((clusters) => runawayBound("lifecycle", clusters))).toEqual([200_000, 220_000, 400_000, 2_200_000]);
    expect(() => runawayBound("notify", 1)).toThrow("give it one in infra/runaway.ts");
  });

  it.for(SENT_METRICS.filter((sent) => sent !== "none"))(
    "LaunchesFail is raised by ten failures in five minutes, and not by nine, with CLOUDWATCH_METRICS=%s",
    (sent) => {
      const [failed] = alarmsOf(templateFor(sent)).filter(({ name }) => name === "LaunchesFail");
      if (failed === undefined) throw new Error(`there is no alarm LaunchesFail with ${sent}`);
      const refused: MetricRecord = {
        ...{ kind: "count", name: "cloudprovider_instance_launch_failures_total", value: 1 },
        labels: { zone: "", zone_id: "", capacity_type: "spot", reason: "UnauthorizedOperation" },
      };
      const inZone = {
        ...refused,
        labels: { ...refused.labels, zone: "us-west-2a", zone_id: "usw2-az1", reason: "InsufficientInstanceCapacity" },
      };
      const raised = (failures: number): readonly number[] => {
        const records = Array.from({ length: failures }, (_, i) => (i % 2 === 0 ? refused : inZone));
        const points = [0, 1, 2].flatMap((n) => emfPoints(emfMetrics(sent, "c1"), records, n * PERIOD));
        return firesAt(failed.definition, points, 3);
      };
      expect([raised(9), raised(10)]).toEqual([[], [2]]);
    },
  );
});
