import { nearest } from "#core/lib/nearest.ts";
import { twoColumns } from "#terminal/command-line.ts";
import { type Group, type Program, programsOf } from "./program.ts";

/** The program to start and its arguments, or what is printed in its place. */
export type Choice =
  | { readonly kind: "run"; readonly program: Program; readonly args: readonly string[] }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly message: string };

/**
 * Reads `WHAT [ARG...]`; a "--" after WHAT, as npm passes it on, is left out. Without arguments the program's own
 * default arguments are used. With a fallback, arguments that begin with no name are all for that program.
 */
export function choose(groups: readonly Group[], given: readonly string[], fallback?: string): Choice {
  const programs = programsOf(groups);
  const [what = "", ...rest] = given;
  if (what === "--help" || what === "-h") return { kind: "help" };
  const named = programs.find(({ name }) => name === what);
  if (named !== undefined) {
    const args = rest[0] === "--" ? rest.slice(1) : rest;
    return { kind: "run", program: named, args: args.length > 0 ? args : (named.args ?? []) };
  }
  const meant = nearest(
    what,
    programs.map(({ name }) => name),
  );
  if (meant !== undefined) return { kind: "wrong", message: `There is no "${what}"; did you mean ${meant}?` };
  const program = programs.find(({ name }) => name === fallback);
  if (program !== undefined) return { kind: "run", program, args: given };
  return {
    kind: "wrong",
    message: what === "" ? "Name what to run; --help lists it." : `There is no "${what}"; --help lists what there is.`,
  };
}

/** The program's question, its arguments, minutes and needs, in one sentence for a terminal. */
function described({ answers, takes, minutes, needs }: Program): string {
  const args = takes === undefined ? "" : ` Arguments: ${takes}.`;
  return `${answers}${/[.?!]$/.test(answers) ? "" : "."}${args} ${minutes} min${needs.length === 0 ? "" : `; needs ${needs.join(", ")}`}`;
}

/** What `--help` prints. */
export function help(command: string, groups: readonly Group[], width: number): string {
  return [
    `${command} -- WHAT [ARG...]`,
    ...groups.flatMap(({ title, programs }) => [
      "",
      title,
      ...twoColumns(
        programs.map((program) => [program.name, described(program)]),
        width,
      ),
    ]),
  ].join("\n");
}
