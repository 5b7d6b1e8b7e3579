const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/**
 * Labels as the exposition writes them, in order of their names; empty values are left out, because they say the same
 * as an absent label.
 */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .filter((label) => labels[label] !== "")
    .sort()
    .map((label) => `${label}="${(labels[label] ?? "").replace(/[\\"\n]/g, (letter) => ESCAPES[letter] ?? letter)}"`)
    .join(",");
}

/** A name of Kubernetes' as labels have it: "WhenEmptyOrUnderutilized" is when_empty_or_underutilized. */
export const snakeCase = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
