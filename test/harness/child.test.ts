import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, removeDir, startChild } from "../e2e/support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dir = temporaryFolder("child");

describe("a child", () => {
  it("a child that is never ready is ended, and the error has the end of its log", async () => {
    const started = startChild({
      ...{ name: "The sleeper", command: "sh", args: ["-c", "echo still dreaming; echo $$ > pid; sleep 60"], cwd: dir },
      ...{ logFile: join(dir, "sleeper.log"), isReady: async () => false, readyTimeoutMs: 3_000 },
    });
    await expect(started).rejects.toThrow(/The sleeper was not ready within 3 s: …still dreaming/);
    const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("a child that ends before it is ready is reported at once", async () => {
    const started = startChild({
      ...{ name: "The quitter", command: "sh", args: ["-c", "echo no port; exit 3"] },
      ...{ logFile: join(dir, "quitter.log"), isReady: async () => false },
    });
    await expect(started).rejects.toThrow(/The quitter ended with status 3 before it was ready: …no port/);
  });
});

describe("a free port", () => {
  it("a free port can be bound, is none that the system assigns to outgoing connections, and is returned once", async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort));
    expect(new Set(ports).size).toBe(ports.length);
    expect(Math.max(...ports)).toBeLessThan(32_768);
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(ports[0], "127.0.0.1", resolve);
    });
    server.close();
  });
});

describe("removing a folder", () => {
  it("removing a folder removes its content, and succeeds when the folder does not exist", () => {
    const folder = join(dir, "data", "deep");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "file"), "");
    removeDir(join(dir, "data"));
    removeDir(join(dir, "data"));
    expect(() => readFileSync(join(folder, "file"))).toThrow("ENOENT");
  });
});
