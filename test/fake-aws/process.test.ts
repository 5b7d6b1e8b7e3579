import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { DescribeSubnetsCommand } from "@aws-sdk/client-ec2";
import { afterEach, describe, expect, it } from "vitest";
import { ec2Client, errorOf, fakeAws, fleet, template } from "./support.ts";

const MAIN = resolve(import.meta.dirname, "../e2e/fake-aws/main.ts");
let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
});

describe("the fake as a process", () => {
  it("the process prints one line, answers, and ends with its parent's pipe", async () => {
    child = spawn(process.execPath, [MAIN, "--cluster", "demo", "--stop-with-stdin"], { stdio: ["pipe", "pipe", "inherit"] });
    if (!child.stdout || !child.stdin) throw new Error("no pipes");
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const { url, region } = JSON.parse(line) as { url: string; region: string };
    expect(region).toBe("us-west-2");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const state = (await (await fetch(`${url}/_fake/state`)).json()) as { cluster: { name: string }; instances: unknown[] };
    expect(state.cluster.name).toBe("demo");
    const gone = once(child, "exit");
    child.stdin.end();
    expect(await gone).toEqual([0, null]);
  });

  it.for([
    [["--port", "x"], /--port must be a whole number, not 'x'/],
    [["--prices", "p.json"], /--instance-types, --prices and --spot-prices go together/],
    [["--region", "mars-north-1"], /--region must be one of us-west-2, .*, not 'mars-north-1'/],
    [["--nonsense"], /nonsense/],
  ] as const)("refuses %s with a sentence", ([args, sentence]) => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8" });
    expect(status).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n {4}at /);
  });
});

describe("its control interface", () => {
  const post = async (url: string, path: string, body: unknown = {}) => {
    const response = await fetch(`${url}/_fake/${path}`, { method: "POST", body: JSON.stringify(body) });
    return [response.status, (await response.json()) as Record<string, unknown>] as const;
  };

  it("the control interface adds faults, advances time, interrupts, shows state and events, and resets", async () => {
    const fake = await fakeAws();
    const ec2 = ec2Client(fake);
    expect(await post(fake.url, "faults", { action: "DescribeSubnets", times: 1, throttle: true })).toEqual([200, { id: 1 }]);
    expect(await errorOf(ec2.send(new DescribeSubnetsCommand({})))).toBe("RequestLimitExceeded");
    await template(fake, ec2);
    await ec2.send(fleet(fake, { capacityType: "spot" }));
    await post(fake.url, "advance", { ms: 5000 });
    const state = (await (await fetch(`${fake.url}/_fake/state`)).json()) as {
      instances: { id: string; state: string; userData: string }[];
    };
    expect(state.instances).toMatchObject([{ state: "running", userData: "MIME-Version: 1.0" }]);
    const [status, event] = await post(fake.url, "interrupt", { instanceId: state.instances[0]?.id });
    expect([status, event["detail-type"]]).toEqual([200, "EC2 Spot Instance Interruption Warning"]);
    const events = (await (await fetch(`${fake.url}/_fake/events?after=2`)).json()) as unknown[];
    expect(events).toHaveLength(1);
    await post(fake.url, "cluster", { endpoint: "https://127.0.0.1:7443" });
    await post(fake.url, "reset");
    expect(fake.state.instances.size).toBe(0);
    expect(fake.cluster.endpoint).toBe("https://127.0.0.1:7443");
  });

  it("the control interface answers a wrong order with a sentence", async () => {
    const fake = await fakeAws();
    expect(await post(fake.url, "interrupt", { instanceId: "i-0123456789abcdef0" })).toEqual([
      400,
      { error: "The instance ID 'i-0123456789abcdef0' does not exist" },
    ]);
    expect(await post(fake.url, "interrupt", {})).toEqual([
      400,
      { error: `The field 'instanceId' must be a string: send {"instanceId": "…"}.` },
    ]);
    expect((await post(fake.url, "nothing"))[0]).toBe(404);
  });
});
