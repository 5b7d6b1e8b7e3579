import { afterEach, describe, expect, it, vi } from "vitest";
import { errorText, memoryLog, powertoolsLog } from "#adapters/telemetry/log.ts";

function printed(): { readonly lines: () => Record<string, unknown>[] } {
  const texts: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      texts.push(String(chunk));
      return true;
    });
  }
  return {
    lines: () => {
      vi.restoreAllMocks();
      return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("powertoolsLog", () => {
  it("a line has the keys of Karpenter's lines, in its order", () => {
    const out = printed();
    powertoolsLog({ level: "info", commit: "abc1234", fields: { controller: "provisioner" } })
      .with({ NodePool: { name: "default" } })
      .info("created nodeclaim", { "instance-types": "m5.large" });
    const [line] = out.lines();
    expect(Object.keys(line ?? {})).toEqual(["level", "time", "logger", "message", "commit", "controller", "NodePool", "instance-types"]);
    expect(line).toMatchObject({ level: "INFO", logger: "controller", message: "created nodeclaim", NodePool: { name: "default" } });
    expect(String(line?.["time"])).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("lines below the level are dropped, and logs do not share fields", () => {
    const out = printed();
    const log = powertoolsLog({ level: "info" });
    log.with({ a: 1 }).debug("not shown");
    log.with({ a: 1 }).error("shown", { error: new Error("launching", { cause: new Error("no capacity") }) });
    log.info("plain");
    const lines = out.lines();
    expect(lines).toHaveLength(2);
    expect(lines.find((line) => line["message"] === "shown")).toMatchObject({ level: "ERROR", a: 1, error: "launching: no capacity" });
    expect(lines.find((line) => line["message"] === "plain")).not.toHaveProperty("a");
  });

  it.for<{ name: string; fields: Record<string, unknown> }>([
    { name: "by its field", fields: { notifyToken: "hush" } },
    { name: "deep in an object", fields: { config: { list: [{ Authorization: "hush" }] } } },
    { name: "by its looks", fields: { error: new Error("GET https://x with Bearer hush failed") } },
    { name: "in a presigned URL", fields: { url: "https://sts/?X-Amz-Signature=hush&x=1" } },
    { name: "as an EKS token", fields: { header: "k8s-aws-v1.hush" } },
    { name: "in a public path", fields: { error: new Error("POST https://x.example/v1/c1/hushhushhushhush/validate failed") } },
    { name: "as user data", fields: { userData: "hush" } },
  ])("a secret is never printed: $name", ({ fields }) => {
    const out = printed();
    powertoolsLog({ level: "debug" }).info("message", fields);
    const text = JSON.stringify(out.lines());
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("hush");
  });

  it.for(["/api/v1/namespaces/a-namespace-of-some-length/pods", "/apis/karpenter.sh/v1/nodeclaims/a-nodepool-of-some-length-x7k2p"])(
    "a path of the API server is printed whole: %s",
    (path) => {
      const out = printed();
      powertoolsLog({ level: "info" }).info("request", { path });
      expect(out.lines()[0]).toMatchObject({ path });
    },
  );

  it("a field that contains itself is printed", () => {
    const out = printed();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    powertoolsLog({ level: "info" }).info("loop", { loop });
    expect(out.lines()).toHaveLength(1);
  });
});

describe("memoryLog", () => {
  it("memoryLog keeps level, message and all fields", () => {
    const collected: string[] = [];
    const log = memoryLog((record) => collected.push(record.message));
    log.with({ a: 1 }).with({ b: 2 }).info("one", { c: 3 });
    log.error("two");
    expect(log.records).toEqual([
      { level: "info", message: "one", fields: { a: 1, b: 2, c: 3 } },
      { level: "error", message: "two", fields: {} },
    ]);
    expect(collected).toEqual(["one", "two"]);
  });
});

describe("errorText", () => {
  it.for([
    { error: new TypeError(""), want: "TypeError" },
    { error: "text", want: "text" },
    { error: { code: 7 }, want: '{"code":7}' },
    { error: undefined, want: "undefined" },
  ])("the text of an error is $want", ({ error, want }) => {
    expect(errorText(error)).toBe(want);
  });
});
