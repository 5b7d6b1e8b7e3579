import { broken, type Violation } from "../../lib/invariant.ts";
import type { CommandRecord } from "../../model/command-record.ts";

/**
 * Why a command must not be stored; undefined when it obeys each rule.
 * @param candidates names of the NodeClaims that may be disrupted
 */
export function commandViolation(
  { candidates: disrupted, replacements, savingsPerHour }: Pick<CommandRecord, "candidates" | "replacements" | "savingsPerHour">,
  candidates: ReadonlySet<string>,
): Violation | undefined {
  const names = disrupted.map(({ nodeClaim }) => nodeClaim);
  const stranger = names.find((name) => !candidates.has(name));
  if (stranger !== undefined) return broken("a command disrupts candidates", `${stranger} is none`);
  if (new Set(names).size < names.length) return broken("a command disrupts each NodeClaim once", `${names.join(", ")} has one twice`);
  if (names.length === 0) return broken("a command disrupts a NodeClaim", "it has none");
  if (!Number.isFinite(savingsPerHour)) return broken("the savings of a command are finite", `they are ${savingsPerHour}`);
  const dear = replacements.find(({ pricePerHour }) => !Number.isFinite(pricePerHour) || pricePerHour < 0);
  return (
    dear && broken("the price of a replacement is finite and not negative", `one of NodePool ${dear.nodePool} costs ${dear.pricePerHour}`)
  );
}
