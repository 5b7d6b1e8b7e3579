/** A zone that ARC (Application Recovery Controller) shifts the cluster's traffic away from. */
export interface ShiftedZone {
  /** The zone's id or name, as ARC returns it. */
  readonly zone: string;
  /** Milliseconds since the epoch; absent when no end is set (autoshift). */
  readonly until?: number;
}

/** Asks ARC for the zonal shifts that are active now. */
export interface ZonalShift {
  /** Throws NotFoundError when ARC does not manage the cluster. */
  awayFrom(clusterArn: string): Promise<readonly ShiftedZone[]>;
}
