import type { CommandRecord } from "../model/record.ts";
import type { NamedReplacement } from "./command-action.ts";

/** Letters and digits that make no words and are not mistaken for each other, as Kubernetes' generated names use. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}

function suffix(seed: string): string {
  let rest = hash(seed);
  let text = "";
  for (let i = 0; i < 5; i++) {
    text += ALPHABET[rest % ALPHABET.length];
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/**
 * Names and intent ids that follow from the command alone, so that a run that was killed and repeated writes the same intents.
 * `taken` are the names of other NodeClaims.
 */
export function nameReplacements(command: CommandRecord, taken: ReadonlySet<string>): readonly NamedReplacement[] {
  const used = new Set(taken);
  return command.replacements.map((planned, i) => {
    const intentId = `${command.id}/${i}`;
    let name = `${planned.nodePool}-${suffix(intentId)}`;
    for (let attempt = 1; used.has(name); attempt++) name = `${planned.nodePool}-${suffix(`${intentId}/${attempt}`)}`;
    used.add(name);
    return { name, intentId, planned };
  });
}
