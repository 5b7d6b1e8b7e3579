import { expect, it } from "vitest";
import { planFor } from "../../support/scheduling/builders.ts";
import { FAILING_PODS } from "../../support/scheduling/failing-pods.ts";

/** One line for each reason that a plan gives. */
function told([about, cases]: (typeof FAILING_PODS)[number]): string {
  const told = cases.flatMap(({ name, scene }) => {
    const reasons = [...new Set(Object.values(planFor(scene).podErrors))];
    expect(reasons, name).not.toEqual([]);
    return [`  ${name}:`, ...reasons.map((reason) => `    ${reason}`)];
  });
  return [about, ...told, ""].join("\n");
}

it("tells in words that lead to the mend why pods are left", async () => {
  await expect(FAILING_PODS.map(told).join("\n")).toMatchFileSnapshot("explain.golden.txt");
});
