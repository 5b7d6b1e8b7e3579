/** What became of an overlay. Only "Applied" changes anything. */
export type Verdict =
  /** `instanceTypes`: names of those it is about, in whatever pool; none is no fault of the overlay's. */
  | { readonly outcome: "Applied"; readonly instanceTypes: readonly string[] }
  | { readonly outcome: "RuntimeValidation"; readonly problems: readonly string[] }
  | { readonly outcome: "Conflict"; readonly clash: Clash };

/** Two overlays of equal weight that would set the same thing. */
export interface Clash {
  /** The overlay that was first, and is applied. */
  readonly other: string;
  readonly weight: number;
  /** "the price of m5.large (spot, us-west-2a)", "example.com/device of m5.large". */
  readonly over: string;
  readonly nodePool: string;
}

/** Why an overlay is not applied, in one sentence; for one that matches nothing, that; else "". */
export function explainVerdict(verdict: Verdict): string {
  switch (verdict.outcome) {
    case "Applied":
      return verdict.instanceTypes.length > 0 ? "" : "no instance type of any NodePool meets spec.requirements";
    case "RuntimeValidation":
      return verdict.problems.join("; ");
    case "Conflict": {
      const { other, weight, over, nodePool } = verdict.clash;
      return `NodeOverlay ${other} of the same weight (${weight}) already sets ${over} in NodePool ${nodePool}; give one of the two another weight`;
    }
  }
}
