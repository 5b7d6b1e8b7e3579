/** The result for one overlay. Only "Applied" changes instance types. */
export type OverlayVerdict =
  /** `instanceTypes`: names of the types that the overlay selects in any NodePool; may be empty. */
  | { readonly outcome: "Applied"; readonly instanceTypes: readonly string[] }
  | { readonly outcome: "RuntimeValidation"; readonly problems: readonly string[] }
  | { readonly outcome: "Conflict"; readonly clash: Clash };

/** Two overlays of equal weight that set the same value. */
export interface Clash {
  /** The overlay that was first and is applied. */
  readonly other: string;
  readonly weight: number;
  /** "the price of m5.large (spot, us-west-2a)", "example.com/device of m5.large". */
  readonly over: string;
  readonly nodePool: string;
}

/** Why an overlay is not applied, or that it selects no instance type, in one sentence; else "". */
export function explainVerdict(verdict: OverlayVerdict): string {
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
