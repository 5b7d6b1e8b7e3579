import { CelError } from "./tokens.ts";

/** Longest text that is compared with a pattern; with MAX_REPEATS it bounds the steps of a comparison. */
const MAX_TEXT = 256;
/** Parts of a pattern that may repeat without a bound. */
const MAX_REPEATS = 2;

/** What RE2 and JavaScript read alike: characters, classes, groups, choices, repeats of single characters. */
const PART =
  /\\[dwsDWS.^$*+?()[\]{}|\\/-]|\[\^?(?:\\[dwsDWS.^$*+?()[\]{}|\\/-]|[^\\\]\n[])+\]|\(\?:|[().^$|]|[*+?]|\{\d{1,3}(?:,\d{0,3})?\}|[^\\[\](){}*+?.^$|]/y;

/**
 * Whether a regular expression finds something in a text. Throws CelError for a pattern that is not simple enough: the
 * time of JavaScript's search has no bound for all that RE2 takes.
 */
export function matches(text: string, pattern: string): boolean {
  if (text.length > MAX_TEXT) throw new CelError(`matches() takes texts of ${MAX_TEXT} characters, not ${text.length}`);
  let repeats = 0;
  let last = "";
  for (PART.lastIndex = 0; PART.lastIndex < pattern.length; ) {
    const part = PART.exec(pattern)?.[0];
    const isRepeat = part !== undefined && /^[*+{?]/.test(part);
    if (isRepeat && (part === "*" || part === "+" || part.startsWith("{"))) repeats += 1;
    if (part === undefined || repeats > MAX_REPEATS || (isRepeat && last === ")" && part !== "?")) {
      throw new CelError(`matches() does not take the pattern ${JSON.stringify(pattern.slice(0, 40))}; use a simpler one, or several`);
    }
    last = part;
  }
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    throw new CelError(`matches() cannot read the pattern ${JSON.stringify(pattern.slice(0, 40))}`);
  }
}
