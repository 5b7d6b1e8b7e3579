import type { CircuitBreaker } from "#core/disruption/limits/circuit-breaker.ts";
import { jsonBytes, jsonIn } from "./json-bytes.ts";
import { readDocument } from "./read-document.ts";

// The circuit breaker of a cluster is a small document of the table.

type Deps = Parameters<typeof readDocument>[0];

const nameOf = (cluster: string): string => `circuit-breaker/${cluster}`;

/** What is remembered of the pods that moved; undefined where nothing is. Rejects when the table does not answer. */
export async function readCircuits(cluster: string, deps: Deps): Promise<CircuitBreaker | undefined> {
  const reading = { name: nameOf(cluster), what: "How the pods are that were moved", parse: parsed };
  return (await readDocument(deps, reading))?.value;
}

/** `now`: ms since the epoch. */
export const keepCircuits = (
  cluster: string,
  breaker: CircuitBreaker,
  store: { putDocument(name: string, bytes: Uint8Array, version: string): Promise<void> },
  now: number,
): Promise<void> => store.putDocument(nameOf(cluster), jsonBytes(breaker), String(now));

function parsed(bytes: Uint8Array): CircuitBreaker | undefined {
  const read = jsonIn(bytes) as CircuitBreaker;
  const isWhole =
    Array.isArray(read.moves) && [read.open, read.proven, read.lost].every((part) => typeof part === "object" && part !== null);
  return isWhole ? read : undefined;
}
