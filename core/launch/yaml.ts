/** As much YAML as a NodeConfig needs: block style maps and lists of JSON values. */

/** A JSON value whose maps may have undefined fields. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | { readonly [key: string]: YamlValue | undefined };

/**
 * Renders a block style document. Undefined fields are left out; strings that could be read as another type are quoted.
 */
export function toYaml(value: YamlValue): string {
  return `${block(value, "").trimStart()}\n`;
}

function block(value: YamlValue, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return " []";
    return value.map((item: YamlValue) => `\n${indent}-${nested(item, `${indent}  `)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter((field): field is [string, YamlValue] => field[1] !== undefined);
    if (fields.length === 0) return " {}";
    return fields
      .map(([key, field]) => `\n${indent}${scalar(key)}:${isScalar(field) ? ` ${scalar(field)}` : block(field, `${indent}  `)}`)
      .join("");
  }
  return ` ${scalar(value as string)}`;
}

/** An item of a list: a map starts on the line of its dash. */
function nested(item: YamlValue, indent: string): string {
  const text = isScalar(item) ? ` ${scalar(item)}` : block(item, indent);
  return text.startsWith("\n") ? ` ${text.slice(1 + indent.length)}` : text;
}

function isScalar(value: YamlValue): value is string | number | boolean | null {
  return typeof value !== "object" || value === null;
}

/**
 * Plain where no reader can take the text for a number, a boolean or syntax; else double quoted, which YAML shares with
 * JSON.
 */
function scalar(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z]{2}[A-Za-z0-9_./-]*$/.test(value) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}
