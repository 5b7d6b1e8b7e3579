import { fnv1a32 } from "../lib/fnv.ts";

/** Letters and digits that make no words and are not mistaken for each other, as Kubernetes' generated names use. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** The name of a NodeClaim, "POOL-xxxxx": the same for the same seed, one of 14 million for different ones. */
export function claimName(nodePool: string, seed: string): string {
  let rest = fnv1a32(seed);
  let suffix = "";
  for (let i = 0; i < 5; i++) {
    suffix += ALPHABET[rest % ALPHABET.length];
    rest = Math.floor(rest / ALPHABET.length);
  }
  return `${nodePool}-${suffix}`;
}
