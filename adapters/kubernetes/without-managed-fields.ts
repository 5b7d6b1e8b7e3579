const BEGIN = '"managedFields":[{';
const END = "}]";

/**
 * An answer of the API server, parsed, of which the managedFields may be empty: who wrote which field is half of the
 * text of a pod, no decision reads it, and a write leaves it out. So it is cut out before the parsing, which takes most
 * of the time of a long list. In a string the beginning cannot occur, because its quotes are escaped; the end may, in
 * the name of a field, and then what is left is no JSON, and the whole text is parsed.
 */
export function parsedWithoutManagedFields(text: string): unknown {
  const cut = withoutManagedFields(text);
  if (cut === text) return JSON.parse(text);
  try {
    return JSON.parse(cut);
  } catch {
    return JSON.parse(text);
  }
}

function withoutManagedFields(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  for (;;) {
    const begin = text.indexOf(BEGIN, kept);
    const end = begin === -1 ? -1 : text.indexOf(END, begin);
    if (end === -1) break;
    parts.push(text.slice(kept, begin + BEGIN.length - 1));
    // The bracket that closes the list stays.
    kept = end + END.length - 1;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept);
}
