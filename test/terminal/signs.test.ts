import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** What is on standard error while lines with `signs` run; a sign comes after 100 ms, later every 200 ms. */
function signsWhile(lines: string): readonly string[] {
  const program = `
    import { signsOfLife } from "./terminal/signs.ts";
    const signs = signsOfLife("solve", 100, 200);
    const busy = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); };
    ${lines}
    signs.end();`;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(status).toBe(0);
  return stderr.split("\n").filter(Boolean);
}

it("a command that plans without a pause gives signs on standard error in a pipe", () => {
  const signs = signsWhile("busy(2_000);");
  expect(signs.length).toBeGreaterThan(1);
  expect(signs.slice(0, 2)).toEqual(["solve: works, silent for 0.1 s", "solve: works, silent for 0.2 s"]);
  // Then the silence is long, and signs come at every 200 ms.
  expect(signs).not.toContain("solve: works, silent for 0.3 s");
});

it("a command that prints lines itself, or ends at once, gives no sign", () => {
  expect(signsWhile("for (let i = 0; i < 40; i += 1) { signs.heard(); await new Promise((resolve) => setTimeout(resolve, 20)); }")).toEqual(
    [],
  );
  expect(signsWhile("")).toEqual([]);
});
