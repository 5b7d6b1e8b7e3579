// Whether the circuit breaker holds a reason of disruption.
// In: the stack's table. Out: a line for each circuit that is open, none without one.

import { readCircuits } from "#adapters/store/circuit-breaker.ts";
import { type CircuitBreaker, CLOSED, circuitText, openCircuits } from "#core/disruption/limits/circuit-breaker.ts";
import { CIRCUIT_RESET } from "#core/model/labels.ts";
import type { InstallationPorts } from "../account/ports.ts";
import type { StackState } from "../account/stack-state.ts";
import type { Observed } from "./facts.ts";
import { observed } from "./observe-account.ts";
import { type CheckResult, note } from "./verdict.ts";

/** Nothing is asked without a table. */
export async function observedCircuits(
  cluster: string,
  stack: Observed<StackState | undefined>,
  { records }: Pick<InstallationPorts, "records">,
): Promise<Observed<CircuitBreaker>> {
  const table = "value" in stack ? stack.value?.outputs["TableName"] : undefined;
  if (table === undefined) return { value: CLOSED };
  return observed(readCircuits(cluster, { store: records(table) }).then((known) => known ?? CLOSED));
}

interface CircuitFacts {
  readonly now: number;
  readonly circuits: Observed<CircuitBreaker>;
}

export function heldReasons({ now, circuits }: CircuitFacts): readonly CheckResult[] | undefined {
  const name = "circuit breaker";
  if ("error" in circuits) return [{ name, ...note(`not checked: ${circuits.error}`) }];
  const lines = openCircuits(circuits.value, now).map((circuit): CheckResult => {
    const reset = `kubectl annotate nodepool ${circuit.pools[0] ?? "NAME"} ${CIRCUIT_RESET}=${now} --overwrite`;
    return { name, ...note(`${circuitText(circuit)}; ${reset} ends it`) };
  });
  return lines.length === 0 ? undefined : lines;
}
