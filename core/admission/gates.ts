/** Feature gates without which a kind, or a part of it, does nothing. */
export interface Gates {
  readonly NodeOverlay: boolean;
  readonly StaticCapacity: boolean;
}

/** Says nothing of gates: for those who judge manifests of no deployment. */
export const ALL_GATES: Gates = { NodeOverlay: true, StaticCapacity: true };
