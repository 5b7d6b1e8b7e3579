import type { CommandRecord } from "../../model/command-record.ts";
import { unusedNames } from "../../provisioning/claim-name.ts";
import type { NamedReplacement } from "./command-action.ts";

/**
 * Names and intent ids of the replacements. They follow from the command alone, so that a repeated run writes the same
 * claims (docs/stateless-controller.md, "Identity and tokens").
 * @param taken names of other NodeClaims.
 */
export function nameReplacements(command: CommandRecord, taken: ReadonlySet<string>): readonly NamedReplacement[] {
  const nameOf = unusedNames(taken);
  return command.replacements.map((planned, i) => {
    const intentId = `${command.id}/${i}`;
    return { name: nameOf(planned.nodePool, intentId), intentId, planned };
  });
}
