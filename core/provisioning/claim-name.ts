import { fnv1a32 } from "../lib/fnv.ts";

/** Letters and digits that form no words and are not mistaken for each other, as in Kubernetes' generated names. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** The name of a NodeClaim, "POOL-xxxxx": equal for equal seeds; other seeds give one of 14 million names. */
export function claimName(nodePool: string, seed: string): string {
  let rest = fnv1a32(seed);
  let suffix = "";
  for (let i = 0; i < 5; i++) {
    suffix += ALPHABET[rest % ALPHABET.length];
    rest = Math.floor(rest / ALPHABET.length);
  }
  return `${nodePool}-${suffix}`;
}
