import { jsonCall } from "#adapters/aws/json-call.ts";
import { allPages } from "#adapters/aws/pages.ts";
import { type SignedCaller, signedFetch } from "#adapters/aws/signed-fetch.ts";
import { members, text } from "#adapters/aws/stack-outputs.ts";
import { documentName, unpackCatalogue } from "#adapters/catalogue/document.ts";
import { dynamoNodeClaimStore } from "#adapters/store/dynamodb-store.ts";
import { dynamoClient } from "#adapters/store/table-dynamodb.ts";
import type { Inspector, LoggedError } from "./ports.ts";

/** What a function's own errors, and Lambda's about a function, contain. */
const ERROR_FILTER = '?ERROR ?"Task timed out" ?"Runtime exited" ?"Runtime.ExitError" ?"Runtime.ImportModuleError"';

interface LogPage {
  readonly events?: readonly { readonly timestamp: number; readonly message: string }[];
  readonly nextToken?: string;
}

/** An installation on AWS. `caller` makes the caller of a service by its name in AWS_ENDPOINT_URL_<NAME>. */
export function awsInspector(region: string, caller: (service: string) => Omit<SignedCaller, "service">): Inspector {
  return {
    lastError: async (functionName, startTime) => {
      const logs = { ...caller("CLOUDWATCH_LOGS"), service: "logs" };
      const events = await allPages(
        (nextToken) =>
          jsonCall<LogPage>(logs, {
            target: "Logs_20140328.FilterLogEvents",
            input: { logGroupName: `/aws/lambda/${functionName}`, startTime, filterPattern: ERROR_FILTER, ...(nextToken && { nextToken }) },
            doing: `reading the log of ${functionName}`,
          }),
        (page) => page.events,
        (page) => page.nextToken,
      );
      const errors = events.flatMap(({ timestamp, message }) => errorOf(timestamp, message));
      return errors.reduce<LoggedError | undefined>((last, error) => (last === undefined || error.at >= last.at ? error : last), undefined);
    },
    depth: async (QueueUrl) => {
      const { Attributes } = await jsonCall<{ readonly Attributes?: Readonly<Record<string, string>> }>(
        { ...caller("SQS"), service: "sqs" },
        {
          target: "AmazonSQS.GetQueueAttributes",
          input: { QueueUrl, AttributeNames: ["ApproximateNumberOfMessages"] },
          doing: `reading queue ${QueueUrl}`,
          version: "1.0",
        },
      );
      return Number(Attributes?.["ApproximateNumberOfMessages"] ?? 0);
    },
    isScheduleEnabled: async (schedule) => {
      const response = await signedFetch(
        { ...caller("SCHEDULER"), service: "scheduler" },
        { method: "GET", path: `/schedules/${schedule}` },
      );
      const { State, Message = "" } = (await response.json().catch(() => ({}))) as { readonly State?: string; readonly Message?: string };
      if (!response.ok) throw new Error(`reading schedule ${schedule}: ${response.status} ${Message}`.trimEnd());
      return State === "ENABLED";
    },
    metric: async ({ namespace, name, dimensions, statistic, since }) => {
      const given = Object.entries(dimensions).flatMap(([key, value], i) => [
        [`Dimensions.member.${i + 1}.Name`, key] as const,
        [`Dimensions.member.${i + 1}.Value`, value] as const,
      ]);
      const body = new URLSearchParams({
        ...{ Action: "GetMetricStatistics", Version: "2010-08-01", Namespace: namespace, MetricName: name, Period: "60" },
        ...{ StartTime: new Date(since).toISOString(), EndTime: new Date().toISOString(), "Statistics.member.1": statistic },
        ...Object.fromEntries(given),
      }).toString();
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await signedFetch({ ...caller("CLOUDWATCH"), service: "monitoring" }, { method: "POST", headers, body });
      const xml = await response.text();
      if (!response.ok) throw new Error(`reading metric ${name}: ${text(xml, "Message") || `CloudWatch answers ${response.status}`}`);
      return members(xml)
        .map((point) => ({ at: Date.parse(text(point, "Timestamp")), value: Number(text(point, statistic)) }))
        .toSorted((a, b) => a.at - b.at);
    },
    ec2Quota: async (QuotaCode) => {
      const { Quota } = await jsonCall<{ readonly Quota?: { readonly Value?: number } }>(
        { ...caller("SERVICE_QUOTAS"), service: "servicequotas" },
        {
          target: "ServiceQuotasV20190624.GetServiceQuota",
          input: { ServiceCode: "ec2", QuotaCode },
          doing: `reading EC2's quota ${QuotaCode}`,
        },
      );
      if (Quota?.Value === undefined) throw new Error(`Service Quotas has no value of EC2's quota ${QuotaCode}`);
      return Quota.Value;
    },
    pricesAsOf: async (tableName) => {
      const document = await dynamoNodeClaimStore({ tableName, client: dynamoClient(region) }).getDocument(documentName(region));
      return document && unpackCatalogue(document.bytes).asOf;
    },
    get: async (url) => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).status,
  };
}

/** The error in a line of a log; none when the line only holds one of the words. */
function errorOf(at: number, line: string): readonly LoggedError[] {
  try {
    const { level, message, errorMessage, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (level !== undefined && level !== "ERROR") return [];
    const said = String(message ?? errorMessage ?? line);
    return [{ at, message: typeof error === "string" ? `${said}: ${error}` : said }];
  } catch {
    return /^(INIT_START|START|END|REPORT)\b(?!.*Status: )/.test(line) ? [] : [{ at, message: line.trim() }];
  }
}
