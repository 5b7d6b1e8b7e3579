import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { growingLog, wholeLines } from "../e2e/support/growing-log.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dir = temporaryFolder("growing-log");

let path = "";
let files = 0;
beforeEach(() => {
  path = join(dir, `${++files}.jsonl`);
});

describe("a growing log", () => {
  it("a growing log is empty until the file exists", () => {
    const log = growingLog(path);
    expect(log.linesSince(0)).toEqual([]);
    writeFileSync(path, "one\n");
    expect(log.linesSince(0)).toEqual(["one"]);
  });

  it("an incomplete line is left for the next read, also within a character of several bytes", () => {
    const log = growingLog(path);
    const line = Buffer.from("zwölf\n");
    writeFileSync(path, Buffer.concat([Buffer.from("elf\n"), line.subarray(0, 3)]));
    expect(log.linesSince(0)).toEqual(["elf"]);
    appendFileSync(path, line.subarray(3));
    expect(log.linesSince(0)).toEqual(["elf", "zwölf"]);
  });

  it("repeated reads since a moment return all lines since then, and few older lines", async () => {
    const log = growingLog(path);
    writeFileSync(path, "before\nhalf");
    expect(log.linesSince(0)).toEqual(["before"]);
    await sleep(5);
    const from = Date.now();
    appendFileSync(path, " a line\nafter\n");
    expect(log.linesSince(from)).toEqual(["half a line", "after"]);
    expect(log.linesSince(from)).toEqual(["half a line", "after"]);
  });

  it("lines written in the millisecond of a read are not lost", () => {
    const log = growingLog(path);
    for (let i = 0; i < 200; i++) {
      const from = Date.now();
      appendFileSync(path, `${i}\n`);
      expect(log.linesSince(from)).toContain(String(i));
    }
  });
});

describe("whole lines", () => {
  it("whole lines are those that end with a line break", () => {
    expect(wholeLines(path)).toEqual([]);
    writeFileSync(path, '{"a":1}\n\n{"b":');
    expect(wholeLines(path)).toEqual(['{"a":1}']);
  });
});
