// What shows that a file is a template or no manifest, or that a placeholder of a guide is left in it.

import { type Document, isCollection, isMap, isScalar, visit } from "yaml";
import type { Path } from "#core/lib/json.ts";

/** A document that can be read, is not empty, and was not meant as a Kubernetes object. */
export function isSomethingElse({ errors, contents }: Document.Parsed): boolean {
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
  return errors.length === 0 && !isEmpty && !(isMap(contents) && (contents.has("apiVersion") || contents.has("kind")));
}

export const HELM = "Helm template; render it with `helm template` and give its output instead";
export const JINJA = "Jinja template; render it and give its output instead";

/**
 * The offset of the first `{{ expression }}` of a template: YAML reads it as a map with a map for a key, or refuses the
 * line. Undefined without one.
 */
export function templateExpression(document: Document.Parsed, text: string): number | undefined {
  const at = document.errors[0]?.pos[0];
  if (at !== undefined) {
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const [line = ""] = text.slice(start).split("\n");
    return /\{\{.*\}\}/.test(line) ? start : undefined;
  }
  let found: number | undefined;
  visit(document, {
    Pair(_, { key }) {
      if (!isCollection(key)) return undefined;
      found = key.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** Fields that may hold placeholders of their own, such as scripts. In any other field a placeholder is an error. */
const SCRIPTS = new Set(["userData", "data", "stringData", "args", "command", "env", "annotations"]);

/** `<<NAME>>` and `<<<NAME>>>`, but not the `<<EOF >>file` of a script. */
const BRACKETED = /<<<?[A-Za-z_][\w.-]*(?: [\w.-]+)*>>>?/;

export function placeholderProblems(value: unknown, path: Path = []): readonly { path: Path; message: string }[] {
  if (typeof value === "string") {
    const name = /\$\{([A-Za-z_]\w*)\}/.exec(value)?.[1];
    if (name !== undefined)
      return [{ path, message: `holds the placeholder \${${name}}; set the environment variable ${name}, or write the value` }];
    const [written] = BRACKETED.exec(value) ?? /^\$[A-Z][A-Z0-9_]*$/.exec(value) ?? [];
    if (written === undefined) return [];
    const [, variable] = /^<<(\w+)>>$/.exec(written) ?? [];
    const fix = variable === undefined ? "write the value in its place" : `set the environment variable ${variable}, or write the value`;
    return [{ path, message: `holds the placeholder ${written}; ${fix}` }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    SCRIPTS.has(key) ? [] : placeholderProblems(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
