/** The right to decide for one cluster, for a while. The token grows with each holder, so a late writer is refused. */
export interface Lease {
  readonly cluster: string;
  readonly holder: string;
  readonly token: number;
  readonly expiresAt: number;
}
