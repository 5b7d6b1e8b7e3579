import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Interruption, parseInterruption } from "#core/interruption/parse.ts";

const EVENTS = join(import.meta.dirname, "../../../events");
const read = (name: string) => readFileSync(join(EVENTS, name), "utf8");
const { files } = JSON.parse(read("index.json")) as {
  files: Record<string, { kind: string; instances?: string[]; expect?: { kind: string; instances?: string[] }[] }>;
};

/** What a message says; a message that cannot be read fails the test. */
function parsed(body: string): Interruption {
  const reading = parseInterruption(body);
  if ("problem" in reading) throw new Error(reading.problem);
  return reading.interruption;
}

describe("interruption messages, as AWS sends them", () => {
  const messages = readdirSync(EVENTS).filter((name) => files[name]?.instances !== undefined);
  it.for(messages)("%s", (name) => {
    const { kind, instanceIds } = parsed(read(name));
    expect({ kind, instances: instanceIds }).toEqual({ kind: files[name]?.kind, instances: files[name]?.instances });
  });

  const batches = readdirSync(EVENTS).filter((name) => files[name]?.kind === "sqs");
  it.for(batches)("each record of %s", (name) => {
    const bodies = (JSON.parse(read(name)) as { Records: { body: string }[] }).Records.map(({ body }) => body);
    const kinds = bodies.map((body) => {
      const reading = parseInterruption(body);
      return "problem" in reading ? "malformed" : reading.interruption.kind;
    });
    expect(kinds).toEqual(files[name]?.expect?.map(({ kind }) => kind));
  });

  it("an interruption has the time of its event, and none when the time cannot be read", () => {
    const event = JSON.parse(read("spot-interruption.json")) as object;
    expect(parsed(JSON.stringify(event)).time).toBe(Date.parse("2026-01-15T10:02:00Z"));
    expect(parsed(JSON.stringify({ ...event, time: "yesterday" })).time).toBeUndefined();
  });

  it("an interruption says in which account and region its instances are", () => {
    expect(parsed(read("spot-interruption.json"))).toMatchObject({ account: "111122223333", region: "us-west-2" });
    // AWS Health tells the backup region and the organization's account, too, and says whom it means in the details.
    const event = JSON.parse(read("health-scheduled-change.json")) as object;
    const elsewhere = { ...event, account: "999999999999", region: "us-east-1" };
    expect(parsed(JSON.stringify(elsewhere))).toMatchObject({ account: "111122223333", region: "us-west-2" });
  });

  const odd: unknown[] = [7, null, true, [], {}, { toString: 1 }, "", "i", "i-", `i-${"0".repeat(2_000)}`, "constructor", "i-0/../x"];
  it.for(odd)("a notice whose instance id is %j names no instance, which is told", (id) => {
    const body = JSON.stringify({ ...JSON.parse(read("spot-interruption.json")), detail: { "instance-id": id } });
    expect(parseInterruption(body)).toMatchObject({ problem: expect.stringContaining("names no instance; it was dropped") });
  });

  it("a field of another type than AWS sends counts as missing", () => {
    const event = JSON.parse(read("spot-interruption.json")) as object;
    for (const field of ["version", "detail-type", "source", "account", "time", "region", "resources", "detail"]) {
      for (const value of [7, null, [], { toString: 1 }, { valueOf: null, toString: null }]) {
        expect(() => parseInterruption(JSON.stringify({ ...event, [field]: value })), field).not.toThrow();
      }
    }
  });
});
