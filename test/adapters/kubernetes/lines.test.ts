import fc from "fast-check";
import { expect, it } from "vitest";
import { eachLine } from "#adapters/kubernetes/lines.ts";

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

it("lines are the same however the bytes are split", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))),
      fc.array(fc.nat(9)),
      async (lines, sizes) => {
        const collected: string[] = [];
        await eachLine(cut(Buffer.from(lines.map((line) => `${line}\n`).join("")), sizes), (line) => collected.push(line));
        expect(collected).toEqual(lines);
      },
    ),
  );
});

it("a line that was cut off is dropped", async () => {
  const collected: string[] = [];
  await eachLine(cut(Buffer.from("whole\nhal"), [3]), (line) => collected.push(line));
  expect(collected).toEqual(["whole"]);
});
