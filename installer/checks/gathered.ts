import type { Named } from "./observe-health.ts";
import { note, type Verdict } from "./verdict.ts";

/** The verdict on several answers; a missing one is a note instead, unless the others are a fault already. */
export function gathered<T, Name extends string, More extends object>(
  all: readonly (Named<T> & { readonly name: Name } & More)[],
  judge: (known: readonly (More & { readonly name: Name; readonly value: T })[]) => Verdict,
): Verdict {
  const known = all.flatMap((one) => ("value" in one.is ? [{ ...one, value: one.is.value }] : []));
  const verdict = judge(known);
  const missing = all.find(({ is }) => "error" in is);
  if (missing === undefined || verdict.level === "fault") return verdict;
  return note(`not checked: ${"error" in missing.is ? missing.is.error : ""}`);
}
