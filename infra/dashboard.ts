import { Duration, type Stack } from "aws-cdk-lib";
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
  Metric,
  PeriodOverride,
  SingleValueWidget,
  TextWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { type MetricName, metricOf } from "#core/ports/metric-registry.ts";
import { FUNCTIONS, type FunctionName } from "./functions.ts";

/** What a dashboard shows of one of Karpenter's metrics. */
interface Shown {
  readonly title: string;
  readonly metric: MetricName;
  readonly statistic: "Sum" | "Maximum" | "Average" | "p99";
  /** The label that distinguishes lines; the cluster alone where only essential metrics are sent. */
  readonly by?: string;
}

/** In the order of the dashboard; those that CLOUDWATCH_METRICS does not send are left out. */
const SHOWN: readonly Shown[] = [
  { title: "Pods that no NodePool can hold", metric: "scheduler_unschedulable_pods_count", statistic: "Maximum" },
  { title: "NodeClaims created", metric: "nodeclaims_created_total", statistic: "Sum", by: "nodepool" },
  { title: "NodeClaims disrupted", metric: "nodeclaims_disrupted_total", statistic: "Sum", by: "reason" },
  { title: "NodeClaims terminated", metric: "nodeclaims_terminated_total", statistic: "Sum", by: "nodepool" },
  { title: "Launches that EC2 refused", metric: "cloudprovider_instance_launch_failures_total", statistic: "Sum", by: "reason" },
  { title: "Notices of EC2", metric: "interruption_received_messages_total", statistic: "Sum", by: "message_type" },
  { title: "Age of notices when handled", metric: "interruption_message_queue_duration_seconds", statistic: "Maximum" },
  { title: "Objects that cannot be read", metric: "cluster_state_unreadable_objects", statistic: "Maximum", by: "kind" },
  { title: "Time of a plan, p99", metric: "scheduler_scheduling_duration_seconds", statistic: "p99" },
  { title: "Disruption decisions", metric: "voluntary_disruption_decisions_total", statistic: "Sum", by: "reason" },
  { title: "Evictions", metric: "pods_eviction_requests_total", statistic: "Sum", by: "code" },
  { title: "Termination of a node, p99", metric: "nodes_termination_duration_seconds", statistic: "p99", by: "nodepool" },
  { title: "Nodes that stay, by reason", metric: "voluntary_disruption_blocked_nodes", statistic: "Maximum", by: "reason" },
  { title: "Disruptions that budgets allow", metric: "nodepools_allowed_disruptions", statistic: "Maximum", by: "nodepool" },
];

const PERIOD = Duration.minutes(5);
const HEIGHT = 6;
/** A dashboard is 24 columns wide. */
const WIDTH = 8;

/** Metrics of messages belong to no single cluster where several share one queue of notices. */
const isOfQueue = (metric: MetricName): boolean => metric.startsWith("interruption_") && !metric.includes("instance_status");

/** CloudWatch takes 1,024 characters of a search. */
const MAX_CLUSTERS_CHARACTERS = 700;

/**
 * A query of CloudWatch that finds a metric of the stack's clusters, whatever its other dimensions are. A line is named
 * by its cluster and the value of `by`. With `CLOUDWATCH_METRICS=both` the copies without `cluster` are not found. A
 * search has no room for forty clusters; it then finds those of other stacks, too.
 */
function search({ metric, statistic, by }: Shown, clusters: readonly string[], sent: string): IMetric {
  const names = clusters.map((name) => `"${name}"`).join(" OR ");
  const shared = isOfQueue(metric) && clusters.length > 1;
  const ofClusters = shared || names.length > MAX_CLUSTERS_CHARACTERS ? "" : ` cluster=(${names})`;
  const isOfCluster = sent === "essential" || (sent === "counts" && metricOf(metric).type === "gauge");
  const parts = [...(shared ? [] : ["cluster"]), ...(isOfCluster || by === undefined ? [] : [by])];
  const label = parts.map((name) => `\${PROP('Dim.${name}')}`).join(" ") || "all clusters";
  return new MathExpression({
    expression: `SEARCH('Namespace="Karpenter" MetricName="karpenter_${metric}"${ofClusters}', '${statistic}', ${PERIOD.toSeconds()})`,
    usingMetrics: {},
    period: PERIOD,
    label,
  });
}

/** Whether CLOUDWATCH_METRICS has the metric sent (adapters/telemetry/metrics.ts, dimensionSets). */
function isSent(metric: MetricName, sent: string): boolean {
  const { type, isEssential = false } = metricOf(metric);
  if (sent === "none") return false;
  return sent === "essential" ? isEssential : sent === "counts" ? isEssential || type !== "gauge" : true;
}

interface DashboardOptions {
  readonly clusters: readonly string[];
  /** The value of CLOUDWATCH_METRICS. */
  readonly sent: string;
  readonly functions: ReadonlyMap<FunctionName, LambdaFunction>;
  readonly deadLetters: readonly Queue[];
}

/**
 * The stack's dashboard in CloudWatch: whether the functions work, from metrics that AWS has always, and what they did,
 * from those of Karpenter's metrics that are sent. CloudWatch charges $3 a month for a dashboard beyond the third of an
 * account.
 */
export function makeDashboard(stack: Stack, { clusters, sent, functions, deadLetters }: DashboardOptions): void {
  const graph = (title: string, left: IMetric[]): IWidget => new GraphWidget({ title, left, width: WIDTH, height: HEIGHT, period: PERIOD });
  const ofFunctions = (title: string, metricName: string, statistic: string, names: readonly FunctionName[]): IWidget =>
    graph(
      title,
      names.map(
        (name) =>
          new Metric({
            ...{ namespace: "AWS/Lambda", metricName, statistic, period: PERIOD, label: name },
            dimensionsMap: { FunctionName: `${stack.stackName}-${name}` },
          }),
      ),
    );
  const names = [...functions.keys()];
  const swept = names.filter((name) => FUNCTIONS[name].schedules.length > 0);
  const shown = SHOWN.filter(({ metric }) => isSent(metric, sent)).map((one) => graph(one.title, [search(one, clusters, sent)]));
  const rows: readonly (readonly IWidget[])[] = [
    [
      new TextWidget({
        width: 24,
        height: 2,
        markdown: `**${stack.stackName}**: ${clusters.length} cluster${clusters.length === 1 ? "" : "s"}. What to do when an alarm comes: docs/operate.md. \`karpenter-serverless status\` and \`doctor\` say more. CLOUDWATCH_METRICS is \`${sent}\`.`,
      }),
    ],
    [
      new SingleValueWidget({
        title: "Work that was given up (dead letters)",
        width: 24,
        height: 3,
        metrics: deadLetters.map((queue) =>
          queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum", period: PERIOD, label: queue.node.id }),
        ),
      }),
    ],
    [
      ofFunctions("Runs of swept functions (none is an alarm)", "Invocations", "Sum", swept),
      ofFunctions("Errors and time-outs", "Errors", "Sum", names),
      ofFunctions("Refused by Lambda (throttles)", "Throttles", "Sum", names),
    ],
    [ofFunctions("Duration, p99", "Duration", "p99", names), ...shown.slice(0, 2)],
    ...chunks(shown.slice(2), 3),
  ];
  new Dashboard(stack, "Dashboard", {
    // The names of dashboards are those of an account, in all regions.
    dashboardName: `${stack.stackName}-${stack.region}`,
    periodOverride: PeriodOverride.INHERIT,
    widgets: rows.filter((row) => row.length > 0).map((row) => [...row]),
  });
}

function chunks<T>(list: readonly T[], size: number): readonly (readonly T[])[] {
  return list.length === 0 ? [] : [list.slice(0, size), ...chunks(list.slice(size), size)];
}
