/** A text whose placeholders have been put behind words that YAML and the API take for plain text. */
export interface Masked {
  readonly text: string;
  readonly unmask: (text: string) => string;
}

/** What guides and templates leave to be filled in: ${NAME}, $(NAME), $NAME, {{ expression }} and <<<name>>>. */
const PLACEHOLDER = /\$\{[^}\n]*\}|\$\([A-Za-z_][^)\n]*\)|\$[A-Za-z_]\w*|\{\{[^\n]*?\}\}|<<<[^>\n]+>>>/g;

const WORD = /zqplaceholder(\d+)qz/g;

/** Puts each placeholder behind a word of its own, so that it can stand anywhere: in a flow list, as a name, in place of a number. */
export function maskPlaceholders(text: string): Masked {
  const placeholders: string[] = [];
  const masked = text.replaceAll(PLACEHOLDER, (placeholder) => `zqplaceholder${placeholders.push(placeholder) - 1}qz`);
  return { text: masked, unmask: (result) => result.replaceAll(WORD, (_, i: string) => placeholders[Number(i)] ?? "") };
}

/** Whether a value says something only once a placeholder is filled in: one of the source's, or one that the conversion put there. */
export const holdsPlaceholder = (value: unknown): boolean => /zqplaceholder\d+qz|\$\{\w+\}/.test(JSON.stringify(value) ?? "");
