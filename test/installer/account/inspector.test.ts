import { describe, expect, it } from "vitest";
import { awsInspector } from "#installer/account/inspector.ts";
import { partsOf } from "#installer/account/stack-parts.ts";

const credentials = async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" });

/** A service that answers with one text after another, and keeps what it was asked. */
function answering(status: number, ...answers: readonly string[]) {
  const asked: { readonly url: string; readonly body: string }[] = [];
  const fetch = async (url: unknown, init?: RequestInit) =>
    new Response(answers[asked.push({ url: String(url), body: String(init?.body) }) - 1] ?? "{}", { status });
  const inspector = awsInspector("us-west-2", () => ({ region: "us-west-2", credentials, fetch: fetch as typeof globalThis.fetch }));
  return { inspector, asked };
}

const line = (timestamp: number, message: string | object) => ({
  timestamp,
  message: typeof message === "string" ? message : JSON.stringify(message),
});

describe("questions about a stack that runs", () => {
  it("the last error of a function is found on the last page, and a line that only holds the word is none", async () => {
    const { inspector, asked } = answering(
      200,
      JSON.stringify({ events: [line(1, { level: "ERROR", message: "first" })], nextToken: "next" }),
      JSON.stringify({
        events: [
          line(2, { level: "ERROR", message: "the scheduled pass failed", error: "AccessDenied" }),
          line(3, { level: "INFO", message: "no ERROR" }),
          line(4, "END RequestId: ERROR"),
        ],
      }),
    );
    expect(await inspector.lastError("ks-provision", 0)).toEqual({ at: 2, message: "the scheduled pass failed: AccessDenied" });
    expect(asked[1]?.body).toContain('"nextToken":"next"');
  });

  it.for([
    "2026-11-24T12:00:00Z 1 Task timed out after 60.00 seconds",
    "REPORT RequestId: 1 Duration: 2 ms Status: error Error Type: Runtime.ExitError",
  ])("what Lambda says of a function that died is an error: %s", async (message) => {
    const { inspector } = answering(200, JSON.stringify({ events: [line(1, message)] }));
    expect(await inspector.lastError("ks-provision", 0)).toEqual({ at: 1, message });
  });

  it("points of a metric come in the order of their time", async () => {
    const point = (time: string, sum: number) => `<member><Timestamp>${time}</Timestamp><Sum>${sum}.0</Sum></member>`;
    const { inspector, asked } = answering(
      200,
      `<Datapoints>${point("2026-11-24T12:01:00Z", 2)}${point("2026-11-24T12:00:00Z", 1)}</Datapoints>`,
    );
    const question = { namespace: "AWS/Lambda", name: "AsyncEventsReceived", dimensions: { FunctionName: "f" }, statistic: "Sum" } as const;
    expect((await inspector.metric({ ...question, since: 0 })).map(({ value }) => value)).toEqual([1, 2]);
    expect(asked[0]?.body).toContain("Dimensions.member.1.Name=FunctionName&Dimensions.member.1.Value=f");
  });

  it("depths, schedules and quotas are read from the service's answer", async () => {
    expect(await answering(200, '{"Attributes":{"ApproximateNumberOfMessages":"3"}}').inspector.depth("https://sqs/q")).toBe(3);
    const { inspector, asked } = answering(200, '{"State":"DISABLED"}');
    expect(await inspector.isScheduleEnabled("s-sweep")).toBe(false);
    expect(asked[0]?.url).toBe("https://scheduler.us-west-2.amazonaws.com/schedules/s-sweep");
    expect(await answering(200, '{"Quota":{"Value":640}}').inspector.ec2Quota("L-1")).toBe(640);
  });

  it("a refusal is the sentence of the service, with what was asked for", async () => {
    const { inspector } = answering(400, '{"message":"not authorized"}', '{"Message":"no such schedule"}');
    await expect(inspector.lastError("f", 0)).rejects.toThrow("reading the log of f: 400 not authorized");
    await expect(inspector.isScheduleEnabled("s")).rejects.toThrow("reading schedule s: 400 no such schedule");
  });

  it("functions, queues and schedules are told apart by type and name", () => {
    const parts = partsOf([
      { name: "Provision1", type: "AWS::Lambda::Function", id: "ks-provision" },
      { name: "Custom1", type: "AWS::Lambda::Function", id: "ks-other" },
      { name: "ClaimsQueue1", type: "AWS::SQS::Queue", id: "https://q" },
      { name: "ClaimsDeadLetters1", type: "AWS::SQS::Queue", id: "https://d" },
      { name: "ProvisionSweep", type: "AWS::Scheduler::Schedule", id: "ks-provision-sweep" },
      { name: "LifecycleSource1", type: "AWS::Lambda::EventSourceMapping", id: "uuid-1" },
      { name: "SpotInterruptionRule1", type: "AWS::Events::Rule", id: "ks-Spot" },
      { name: "AuditFilterOfc1", type: "AWS::Logs::SubscriptionFilter", id: "ks" },
    ]);
    expect(parts).toEqual({
      functions: [{ name: "provision", functionName: "ks-provision" }],
      queues: [{ name: "claims", url: "https://q" }],
      deadLetters: [{ name: "claims", url: "https://d" }],
      schedules: ["ks-provision-sweep"],
      eventSources: [{ name: "lifecycle", id: "uuid-1" }],
      rules: ["ks-Spot"],
      hasAuditFilter: true,
    });
  });
});
