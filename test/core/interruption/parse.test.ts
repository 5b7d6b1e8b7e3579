import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseInterruption, UnreadableInterruptionError } from "../../../core/interruption/parse.ts";

const EVENTS = join(import.meta.dirname, "../../../events");
const read = (name: string) => readFileSync(join(EVENTS, name), "utf8");
const { files } = JSON.parse(read("index.json")) as {
  files: Record<string, { kind: string; instances?: string[]; expect?: { kind: string; instances?: string[] }[] }>;
};

describe("interruption messages, as AWS sends them", () => {
  const messages = readdirSync(EVENTS).filter((name) => files[name]?.instances !== undefined);
  it.for(messages)("%s", (name) => {
    const { kind, instanceIds } = parseInterruption(read(name));
    expect({ kind, instances: instanceIds }).toEqual({ kind: files[name]?.kind, instances: files[name]?.instances });
  });

  const batches = readdirSync(EVENTS).filter((name) => files[name]?.kind === "sqs");
  it.for(batches)("each record of %s", (name) => {
    const bodies = (JSON.parse(read(name)) as { Records: { body: string }[] }).Records.map(({ body }) => body);
    const kinds = bodies.map((body) => {
      try {
        return parseInterruption(body).kind;
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableInterruptionError);
        return "malformed";
      }
    });
    expect(kinds).toEqual(files[name]?.expect?.map(({ kind }) => kind));
  });

  it("an interruption has the time of its event, and none when the time cannot be read", () => {
    const event = JSON.parse(read("spot-interruption.json")) as object;
    expect(parseInterruption(JSON.stringify(event)).time).toBe(Date.parse("2026-01-15T10:02:00Z"));
    expect(parseInterruption(JSON.stringify({ ...event, time: "yesterday" }))).toEqual({
      kind: "spot_interrupted",
      instanceIds: ["i-0aaaaaaaaaaaaaaa1"],
    });
  });
});
