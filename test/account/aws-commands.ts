import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandsOf, DOCUMENTED } from "../support/documented.ts";
import { inputFaults, type Member, modelOf, type ServiceModel, shapeOf } from "./service-models.ts";

// The command lines of AWS's own program that documents and the sentences of our program tell a person to type, judged
// by AWS's models of its services: is there such an operation, does it take these options and values, is one missing?

/** Options of the program itself, not of an operation. */
const GLOBAL = new Set(["region", "profile", "output", "query"]);
/** Options that the program names otherwise than the model. */
const RENAMED: Readonly<Record<string, string>> = { "update-cluster-version version": "kubernetes-version" };
/** Commands that the program makes of several operations, which no model describes. */
const CUSTOM = new Set(["cloudformation deploy", "eks update-kubeconfig", "sso login"]);

interface Found {
  readonly place: string;
  readonly words: readonly string[];
}

/** Those of the documents, and those in texts of the program, in which "xxx" stands for what it fills in. */
export function documentedCalls(): readonly Found[] {
  const inDocs = DOCUMENTED.flatMap(({ page, line }) => commandsOf(line).map((words) => ({ place: page, words })));
  const files = ["cli", "installer"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => (name.endsWith(".ts") ? [join(folder, name)] : [])),
  );
  const inTexts = files.flatMap((name) => {
    const text = readFileSync(name, "utf8").replaceAll(/\$\{[^}]*\}/g, "xxx");
    return [...text.matchAll(/\baws [a-z0-9-]+ [a-z-]+(?: --[^`;"]+)/g)].flatMap(([line]) =>
      commandsOf(line.replace(/, .*|\).*/, "")).map((words) => ({ place: name, words })),
    );
  });
  return [...inDocs, ...inTexts].filter(({ words }) => words[0] === "aws" && words.some((word) => word.startsWith("--")));
}

const kebab = (name: string): string =>
  name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1-$2")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase();

/** What is wrong with a command; empty when AWS would take its form. */
export function commandFaults({ place, words }: Found): readonly string[] {
  const [, service = "", action = "", ...rest] = words;
  if (CUSTOM.has(`${service} ${action}`)) return [];
  const about = `${place}: ${words.join(" ")}`;
  const model = modelOf(service);
  const operation = Object.values(model?.operations ?? {}).find(({ name }) => kebab(name) === action);
  if (model === undefined || operation === undefined) return [`${about}: AWS has no ${service} ${action}`];
  const members = Object.entries(operation.input === undefined ? {} : (shapeOf(model, operation.input.shape).members ?? {}));
  const input: Record<string, unknown> = {};
  const faults: string[] = [];
  for (let i = 0; i < rest.length; ) {
    const option = rest[i]?.replace(/^--/, "") ?? "";
    const next = rest.findIndex((word, at) => at > i && word.startsWith("--"));
    const values = rest.slice(i + 1, next < 0 ? undefined : next);
    i = next < 0 ? rest.length : next;
    if (GLOBAL.has(option)) continue;
    const isNamed = ([name]: readonly [string, Member], as: string): boolean => (RENAMED[`${action} ${kebab(name)}`] ?? kebab(name)) === as;
    const flag = values.length > 0 ? undefined : members.find((one) => isNamed(one, option.replace(/^no-/, "")));
    if (flag !== undefined && shapeOf(model, flag[1].shape).type === "boolean") {
      input[flag[0]] = !option.startsWith("no-");
      continue;
    }
    const member = members.find((one) => isNamed(one, option));
    if (member === undefined) faults.push(`${about}: ${action} has no option --${option}`);
    else input[member[0]] = argumentOf(model, member[1], values);
  }
  return [...faults, ...inputFaults(model, operation, input).map((fault) => `${about}: ${fault}`)];
}

/**
 * JSON, the program's shorthand (a=1,b=2), a list of words or one. A placeholder, which is in capitals or "xxx", stands
 * for a number and for an id too.
 */
function argumentOf(model: ServiceModel, member: Member, values: readonly string[]): unknown {
  const { type, member: item, min = 0 } = shapeOf(model, member.shape);
  const text = values.join(" ");
  if (/^[{[]/.test(text) && type !== "string") return JSON.parse(text);
  if (type === "list" && item !== undefined) return values.map((value) => argumentOf(model, item, [value]));
  if (type === "structure" || type === "map") return Object.fromEntries(text.split(",").map((pair) => pair.split("=") as [string, string]));
  if (!/^([A-Z]+|xxx)$/.test(text)) return text;
  return ["integer", "long", "float", "double"].includes(type) ? 1 : text.padEnd(min, text);
}
