import { CelError } from "./tokens.ts";

/** Steps of one search: each part that repeats may begin and end at each character of the text. */
const MAX_STEPS = 200_000;

/** What RE2 and JavaScript read alike: characters, classes, groups, choices, repeats of single characters. */
const PART =
  /\\[dwsDWS.^$*+?()[\]{}|\\/-]|\[\^?(?:\\[dwsDWS.^$*+?()[\]{}|\\/-]|[^\\\]\n[])+\]|\(\?:|[().^$|]|[*+?]|\{\d{1,3}(?:,\d{0,3})?\}|[^\\[\](){}*+?.^$|]/y;

/**
 * Whether a regular expression finds something in a text. Throws CelError for a pattern that is not simple enough: the
 * time of JavaScript's search has no bound for all that RE2 takes.
 */
export function matches(text: string, pattern: string): boolean {
  let repeats = 1;
  let last = "";
  for (PART.lastIndex = 0; PART.lastIndex < pattern.length; ) {
    const part = PART.exec(pattern)?.[0];
    const isRepeat = part !== undefined && /^[*+{?]/.test(part);
    if (isRepeat && (part === "*" || part === "+" || part.startsWith("{"))) repeats += 1;
    if (part === undefined || (text.length + 1) ** repeats > MAX_STEPS || (isRepeat && last === ")" && part !== "?")) {
      throw new CelError(`matches() does not take the pattern ${JSON.stringify(pattern.slice(0, 40))}; use a simpler one`);
    }
    last = part;
  }
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    throw new CelError(`matches() cannot read the pattern ${JSON.stringify(pattern.slice(0, 40))}`);
  }
}
