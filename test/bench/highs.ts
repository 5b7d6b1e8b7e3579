import { createRequire } from "node:module";
import type highsLoader from "highs";

// The types of the package describe a CommonJS module with a "default" function, but the module is that function.
const load = createRequire(import.meta.url)("highs") as typeof highsLoader.default;

type Highs = Awaited<ReturnType<typeof load>>;

/** Solves a model in the LP format with HiGHS, in an instance of its own. */
export async function solveModel(model: string, options?: Parameters<Highs["solve"]>[1]): Promise<ReturnType<Highs["solve"]>> {
  return (await load()).solve(model, options);
}

/** Joins terms with line breaks, because a line of the LP format has a limited length. */
export function lines(terms: readonly string[], between: string): string {
  return terms.map((term, i) => (i % 50 === 49 ? `${term}\n` : term)).join(between);
}
