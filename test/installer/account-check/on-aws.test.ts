import { EC2Client } from "@aws-sdk/client-ec2";
import { afterEach, describe, expect, it, vi } from "vitest";
import { functionsOnAws, invocationOf, queuesOnAws } from "#installer/account-check/aws-functions.ts";
import { machinesOnAws } from "#installer/account-check/aws-machines.ts";
import { stacksOnAws } from "#installer/account-check/aws-stacks.ts";
import { tagOf, tagsOf } from "#installer/account-check/names.ts";
import { loopTemplate, MAX_HOPS, rollbackTemplate } from "#installer/account-check/templates.ts";
import { fakeAws, subnetIn } from "../../fake-aws/support.ts";

const credentials = async () => ({ accessKeyId: "AKIATEST", secretAccessKey: "secret" });

/** Services that answer with one text after another; what they were asked. */
function answering(...answers: readonly (string | Response)[]) {
  const asked: { readonly method: string; readonly path: string; readonly body: string }[] = [];
  const fetch = async (url: unknown, init?: RequestInit) => {
    const answer =
      answers[asked.push({ method: init?.method ?? "", path: new URL(String(url)).pathname, body: String(init?.body) }) - 1] ?? "{}";
    return typeof answer === "string" ? new Response(answer) : answer;
  };
  return { asked, caller: () => ({ region: "us-west-2", credentials, fetch: fetch as typeof globalThis.fetch }) };
}

afterEach(() => void vi.restoreAllMocks());

describe("account-check's calls of AWS", () => {
  it("a machine is launched from a template, found by its tag alone, and ended", async () => {
    const fake = await fakeAws();
    vi.stubEnv("AWS_ENDPOINT_URL_EC2", fake.url);
    vi.stubEnv("AWS_ENDPOINT_URL_SSM", fake.url);
    const machines = machinesOnAws("us-west-2", credentials);
    const tags = tagsOf("run1");
    const parameter = [...fake.state.parameters.keys()].find((name) => name.includes("arm64")) ?? "";
    await machines.createTemplate({ name: "check-machine", instanceType: "m6g.large", imageParameter: parameter, tags });
    expect([await machines.templates(tagOf("run1")), await machines.templates(tagOf("other"))]).toEqual([["check-machine"], []]);
    const fleet = { template: "check-machine", subnet: subnetIn(fake, "us-west-2a"), token: "run1", tags };
    const [id = ""] = await machines.launch(fleet);
    expect(await machines.launch(fleet)).toEqual([id]);
    expect([await machines.instances(tagOf()), await machines.instances(tagOf("other"))]).toEqual([[id], []]);
    expect(await machines.state(id)).toBe("pending");
    expect(await machines.state("i-0123456789abcdef0")).toBeUndefined();
    await machines.terminate([id]);
    expect(await machines.instances(tagOf())).toEqual([]);
    await machines.removeTemplate("check-machine");
    await machines.removeTemplate("check-machine");
    expect(await machines.templates(tagOf())).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("a fleet without a machine is an error with EC2's code", async () => {
    const Errors = [{ ErrorCode: "InsufficientInstanceCapacity", ErrorMessage: "none left" }];
    vi.spyOn(EC2Client.prototype, "send").mockImplementation((async () => ({ Errors })) as never);
    const launch = machinesOnAws("us-west-2", credentials).launch({ template: "check-machine", subnet: "s", token: "k", tags: {} });
    await expect(launch).rejects.toThrow("CreateFleet: InsufficientInstanceCapacity: none left");
  });

  it("stacks are made with their tags, found by the beginning of their names on every page, and say why they failed", async () => {
    const stacks = (...names: readonly string[]) => names.map((name) => `<member><StackName>${name}</StackName></member>`).join("");
    const event = (id: string, status: string, reason: string) =>
      `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceStatus>${status}</ResourceStatus><ResourceStatusReason>${reason}</ResourceStatusReason></member>`;
    const { asked, caller } = answering(
      "<ok/>",
      `${stacks("ours-1", "theirs")}<NextToken>n</NextToken>`,
      stacks("ours-2"),
      event("Cold", "CREATE_FAILED", "Resource creation cancelled") + event("Allow", "CREATE_FAILED", "no iam:PassRole"),
    );
    const cloud = stacksOnAws("us-west-2", caller);
    await cloud.createStack({ name: "ours-1", template: "{}", tags: tagsOf("run1") });
    expect(new URLSearchParams(asked[0]?.body).get("Tags.member.1.Key")).toBe("karpenter-serverless/account-check");
    expect(await cloud.stacks("ours-")).toEqual(["ours-1", "ours-2"]);
    expect(await cloud.failure("ours-1")).toBe("Allow: no iam:PassRole");
  });

  it("messages are taken out of a queue with their groups", async () => {
    const Messages = [{ Body: "{}", ReceiptHandle: "h", Attributes: { MessageGroupId: "c1" } }];
    const { asked, caller } = answering(JSON.stringify({ Messages }));
    expect(await queuesOnAws(caller).take("https://q")).toEqual([{ body: "{}", group: "c1" }]);
    expect(asked[1]?.body).toContain('"ReceiptHandle":"h"');
  });

  it("the times of an invocation are those of Lambda's report", async () => {
    const report = "REPORT RequestId: 1\tDuration: 12.50 ms\tBilled Duration: 500 ms\tMemory Size: 1024 MB\tInit Duration: 480.25 ms\t\n";
    expect(invocationOf(report)).toEqual({ durationMs: 12.5, initMs: 480.25 });
    expect(invocationOf(report.replace(/\tInit.*/, ""))).toEqual({ durationMs: 12.5 });
    const headers = { "x-amz-log-result": Buffer.from(report).toString("base64") };
    const { caller } = answering(new Response("{}", { headers }));
    expect((await functionsOnAws(caller).invoke("f", {})).initMs).toBe(480.25);
  });

  it("a function is renewed with the variables that it has", async () => {
    const { asked, caller } = answering(JSON.stringify({ Environment: { Variables: { TABLE_NAME: "t" } } }));
    await functionsOnAws(caller).renew("f", "1");
    expect(asked[1]).toMatchObject({ method: "PUT", path: "/2015-03-31/functions/f/configuration" });
    expect(JSON.parse(asked[1]?.body ?? "")).toEqual({ Environment: { Variables: { TABLE_NAME: "t", CHECK: "1" } } });
  });
});

describe("account-check's templates", () => {
  it("fit into a call of CloudFormation", () => {
    for (const template of [loopTemplate(), rollbackTemplate("run00001")]) expect(Buffer.byteLength(template)).toBeLessThan(51_200);
  });

  it("the function for cold starts has the variables that the code of notify demands", async () => {
    const { Resources } = JSON.parse(loopTemplate()) as {
      Resources: Record<string, { Properties: { Environment: { Variables: Record<string, string> } } }>;
    };
    vi.stubEnv("AWS_REGION", "us-west-2");
    for (const [name, value] of Object.entries(Resources["Cold"]?.Properties.Environment.Variables ?? {})) vi.stubEnv(name, value);
    const { handler } = await import("#functions/notify/handler.ts");
    expect(handler).toBeTypeOf("function");
    vi.unstubAllEnvs();
  });

  it("the function of a loop sends each message one hop further, and to the end after the last", async () => {
    const { Resources } = JSON.parse(loopTemplate()) as { Resources: Record<string, { Properties: { Code: { ZipFile: string } } }> };
    const sent: object[] = [];
    class SQSClient {
      send = async (input: object): Promise<void> => void sent.push(input);
    }
    const sdk = {
      SQSClient,
      SendMessageCommand: class {
        constructor(input: object) {
          Object.assign(this, input);
        }
      },
    };
    const exports: { handler?: (event: object) => Promise<void> } = {};
    vi.stubEnv("LOOP", "loop");
    vi.stubEnv("END", "end");
    new Function("require", "exports", Resources["Allow"]?.Properties.Code.ZipFile ?? "")(() => sdk, exports);
    const message = (chain: string, hop: number) => ({ body: JSON.stringify({ chain, hop, together: 1 }) });
    await exports.handler?.({ Records: [message("a", 3), message("b", MAX_HOPS - 1)] });
    expect(sent.map((one) => ({ ...one }))).toEqual([
      { QueueUrl: "loop", MessageBody: JSON.stringify({ chain: "a", hop: 4, together: 2 }) },
      { QueueUrl: "end", MessageBody: JSON.stringify({ chain: "b", hop: MAX_HOPS, together: 2 }) },
    ]);
    vi.unstubAllEnvs();
  });
});
