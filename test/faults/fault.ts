import type { Edit } from "../support/patched-tree.ts";

/** A change of the source that breaks one rule, as a careless edit might. */
interface Broken {
  /** Unique in its area. */
  readonly name: string;
  /** The rule that is broken, in one sentence. */
  readonly rule: string;
  readonly edits: readonly Edit[];
}

export interface UnitFault extends Broken {
  readonly foundBy: "unit";
  /** Test files, from the project's root, of which one must fail. */
  readonly within: readonly string[];
}

export interface SimulationFault extends Broken {
  readonly foundBy: "simulation";
  /** Seeds, from 1 on, of which one must break an invariant. */
  readonly within: number;
}

export type Fault = UnitFault | SimulationFault;

/** The result of one fault. Only "found" is good. */
export type Outcome =
  | { readonly kind: "found"; readonly by: string }
  | { readonly kind: "missed" }
  /** The edits no longer fit the code, or nothing ran: the result says nothing about the rule. */
  | { readonly kind: "not tried"; readonly why: string };
