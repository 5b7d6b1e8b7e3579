/**
 * The right to decide for one cluster until `expiresAt` (ms). The token grows with each holder, so that the store
 * refuses a late writer.
 */
export interface Lease {
  readonly cluster: string;
  readonly holder: string;
  readonly token: number;
  readonly expiresAt: number;
}
