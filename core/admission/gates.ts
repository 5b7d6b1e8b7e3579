/** Feature gates without which a kind, or a field of it, has no effect. */
export interface Gates {
  readonly NodeOverlay: boolean;
  readonly StaticCapacity: boolean;
}

/** No warning about gates: for callers that check manifests of no deployment. */
export const ALL_GATES: Gates = { NodeOverlay: true, StaticCapacity: true };
