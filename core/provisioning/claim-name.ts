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

/**
 * Names that no other NodeClaim has: each seed's own, or, where that is taken, one of the seed and a number. Of 14
 * million names two are equal in every fifth plan for 2,500 nodes, and a name of 5,000 nodes is taken in every second.
 * @param taken names of NodeClaims and records; what is given counts as taken from then on
 */
export function unusedNames(taken: Iterable<string>): (nodePool: string, seed: string) => string {
  const used = new Set(taken);
  return (nodePool, seed) => {
    let name = claimName(nodePool, seed);
    for (let attempt = 1; used.has(name); attempt++) name = claimName(nodePool, `${seed}/${attempt}`);
    used.add(name);
    return name;
  };
}
