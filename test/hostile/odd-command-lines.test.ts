import { expect, it } from "vitest";
import { ODD_INPUTS } from "../support/effort.ts";
import { wrongWithOddCommandLine } from "./odd-command-lines.ts";

it("commands answer odd command lines and inputs, or say in one sentence what is wrong", { timeout: 120_000 }, async () => {
  for (let seed = 1; seed <= ODD_INPUTS; seed++) expect(await wrongWithOddCommandLine(seed)).toBeUndefined();
});
