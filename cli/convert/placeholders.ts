/** A text with a word in the place of each placeholder, so that YAML and the API take it for plain text. */
export interface Masked {
  readonly text: string;
  readonly unmask: (text: string) => string;
}

/**
 * The placeholders of guides and templates: ${NAME}, $(NAME), $NAME, {{ expression }}, <<name>> and <<<name>>>. The
 * length of each is bounded, so that a text of openings that are never closed takes no time.
 */
const PLACEHOLDER =
  /\$\{[^}\n]{0,300}\}|\$\([A-Za-z_][^)\n]{0,300}\)|\$[A-Za-z_]\w*|\{\{[^\n]{0,300}?\}\}|<<<[^>\n]{1,300}>>>|<<[A-Za-z_][\w.-]*(?: [\w.-]+)*>>/g;

const WORD = /zqplaceholder(\d+)qz/g;

/**
 * Replaces each placeholder by a word of its own, which may stand anywhere: in a flow list, as a name, in place of a
 * number.
 */
export function maskPlaceholders(text: string): Masked {
  const placeholders: string[] = [];
  const masked = text.replaceAll(PLACEHOLDER, (placeholder) => `zqplaceholder${placeholders.push(placeholder) - 1}qz`);
  return { text: masked, unmask: (result) => result.replaceAll(WORD, (_, i: string) => placeholders[Number(i)] ?? "") };
}

/** Whether a value holds a placeholder, of the source or of the conversion, so that it cannot be judged yet. */
export const holdsPlaceholder = (value: unknown): boolean => /zqplaceholder\d+qz|\$\{\w+\}/.test(JSON.stringify(value) ?? "");
