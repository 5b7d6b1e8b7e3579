/** A zone that ARC shifts a cluster away from. */
export interface ShiftedZone {
  /** Its id or its name, as ARC says it. */
  readonly zone: string;
  /** Milliseconds since the epoch; absent when no end is set (autoshift). */
  readonly until?: number;
}

/** Asks ARC (Application Recovery Controller) about zonal shifts that hold now. */
export interface ZonalShift {
  /** Throws NotFoundError when ARC does not manage the cluster. */
  awayFrom(clusterArn: string): Promise<readonly ShiftedZone[]>;
}
