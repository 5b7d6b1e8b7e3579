// Kubernetes manifests: reading, checking and defaulting, for the lab, the command line and tests.
// In: paths of files and folders. Out: objects with their place in a file, or a ManifestError that names file and line.
// It imports only core/ and other adapters. It must not know who plays, plans or converts the objects.

import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments } from "yaml";
import { type Json, type Path, textAt } from "#core/lib/json.ts";
import { ownValue } from "#core/lib/own-value.ts";
import { PROGRAM } from "#settings/program.ts";
import { readText } from "#terminal/bounded-file.ts";
import type { ApiObject } from "./api-object.ts";
import { manifestProblems } from "./check.ts";
import { fieldPath } from "./schema.ts";
import { HELM, isSomethingElse, JINJA, placeholderProblems, templateExpression } from "./templates.ts";
import { documentValue, textProblem, withoutNulls } from "./yaml.ts";

/** An object of a manifest, and its place. */
export interface Manifest {
  readonly object: ApiObject;
  readonly file: string;
  /** From 1. */
  readonly document: number;
  /** From 1: the line where the object begins. */
  readonly line: number;
}

/**
 * Manifests that cannot be used. The message is one sentence: the file, document and line, what is wrong and how to fix
 * it.
 */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
  /** A sentence for each problem; the message is the first. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const more = problems.length - 1;
    super(`${problems[0]}${more > 0 ? ` (and ${more} more)` : ""}`);
    this.problems = problems;
  }
}

/** Placeholders that guides leave to envsubst, with their values in the lab. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  CLUSTER_NAME: "lab",
  EKS_CLUSTER_NAME: "lab",
  EKSCLUSTER_NAME: "lab",
  CLUSTER_ENDPOINT: "https://lab.example",
  ALIAS_VERSION: "latest",
  K8S_VERSION: "1.36",
  AWS_REGION: "us-west-2",
  AWS_DEFAULT_REGION: "us-west-2",
  AWS_PARTITION: "aws",
  AWS_ACCOUNT_ID: "111122223333",
  ACCOUNT_ID: "111122223333",
  KARPENTER_NODE_ROLE: "KarpenterNodeRole-lab",
  KARPENTER_NODE_IAM_ROLE_NAME: "KarpenterNodeRole-lab",
  KARPENTER_NAMESPACE: "kube-system",
};

/** Kinds that other kinds depend on are returned first, whatever the order of the files. */
const FIRST = [
  "Namespace",
  "PriorityClass",
  "StorageClass",
  "EC2NodeClass",
  "NodePool",
  "Node",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "DaemonSet",
  "PodDisruptionBudget",
];

/**
 * Reads manifests from files and folders ("-" is standard input): YAML streams, JSON, lists, and the output of
 * kustomize. A folder with a plain kustomization.yaml (resources, namespace) is followed. `${NAME}` and `<<NAME>>` are
 * replaced from `environment`, else from the lab's own values. A file of a folder that holds something else, such as an
 * IAM policy, is left out when `onLeftOut` takes a sentence about it. Throws ManifestError.
 */
export function loadManifests(
  paths: readonly string[],
  environment: Environment = {},
  onLeftOut?: (sentence: string) => void,
): readonly Manifest[] {
  const problems: string[] = [];
  const manifests = paths.flatMap((path) => readPath(path, { environment, problems, onLeftOut }));
  if (problems.length > 0) throw new ManifestError(problems);
  if (manifests.length === 0)
    throw new ManifestError([
      `${paths.map((path) => (path === "-" ? STANDARD_INPUT : path)).join(", ")}: no Kubernetes object was found; give manifests (of a folder, files that end in .yaml, .yml or .json are read)`,
    ]);
  const rank = ({ object }: Manifest): number => {
    const index = FIRST.indexOf(object.kind ?? "");
    return index < 0 ? FIRST.length : index;
  };
  return manifests
    .map((m, i) => [m, i] as const)
    .sort(([a, i], [b, j]) => rank(a) - rank(b) || i - j)
    .map(([m]) => m);
}

const STANDARD_INPUT = "standard input";

type Environment = Readonly<Record<string, string | undefined>>;

/** What is the same for all files. */
interface Reading {
  readonly environment: Environment;
  readonly problems: string[];
  readonly onLeftOut: ((sentence: string) => void) | undefined;
}

/** `isNamed` is false for a file that was only found in a folder. */
function readPath(path: string, reading: Reading, above: readonly string[] = [], isNamed = true): readonly Manifest[] {
  const { problems } = reading;
  if (path === "-") return readFile(STANDARD_INPUT, 0, reading, isNamed);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) {
    problems.push(`${path}: there is no such file or folder; check the path`);
    return [];
  }
  if (!stat.isDirectory()) {
    if (KUSTOMIZATION.test(basename(path))) return followKustomization(path, reading, above);
    return readFile(path, path, reading, isNamed);
  }
  const names = readdirSync(path).sort();
  const kustomization = names.find((name) => KUSTOMIZATION.test(name));
  if (kustomization !== undefined) return followKustomization(join(path, kustomization), reading, above);
  return names
    .filter((name) => !name.startsWith(".") && (/\.(ya?ml|json)$/.test(name) || statSync(join(path, name)).isDirectory()))
    .flatMap((name) => readPath(join(path, name), reading, [], false));
}

function readFile(name: string, path: string | 0, reading: Reading, isNamed: boolean): readonly Manifest[] {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    reading.problems.push(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
  return readManifests(name, text, reading, isNamed);
}

const KUSTOMIZATION = /^kustomization(\.ya?ml)?$/i;

interface Kustomization {
  readonly resources?: unknown;
  readonly namespace?: unknown;
  readonly [field: string]: unknown;
}

/** Follows a kustomization of resources and a namespace; whatever else rewrites objects needs kustomize itself. */
function followKustomization(file: string, reading: Reading, above: readonly string[]): readonly Manifest[] {
  const refuse = (problem: string): readonly Manifest[] => {
    reading.problems.push(`${file}: ${problem}`);
    return [];
  };
  if (above.includes(file)) return refuse("names itself among its resources, by way of others; take one of them out");
  const lines = new LineCounter();
  const text = readText(file);
  const nested = textProblem(text);
  if (nested !== undefined) return refuse(`${nested.problem}; give a kustomization`);
  const [document] = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const error = document && "errors" in document ? document.errors[0] : undefined;
  if (error)
    return refuse(`line ${lines.linePos(error.pos[0]).line}: this is not valid YAML: ${error.message.replace(/\.$/, "")}; fix the line`);
  const read = document && "toJS" in document ? documentValue(document) : { value: {} };
  if ("problem" in read) return refuse(read.problem);
  const { apiVersion: _, kind: __, resources = [], namespace, ...rest } = (read.value ?? {}) as Kustomization;
  const other = Object.keys(rest)[0];
  const instead = `run \`kubectl kustomize ${dirname(file)} > all.yaml\` and give all.yaml instead`;
  if (other !== undefined) return refuse(`${other} needs kustomize itself; ${instead}`);
  if (!Array.isArray(resources) || resources.some((r) => typeof r !== "string"))
    return refuse("resources must be a list of paths; write - before each");
  if (namespace !== undefined && typeof namespace !== "string") return refuse("namespace must be text; put it in quotes");
  const remote = (resources as readonly string[]).find((r) => /:\/\/|^(github\.com|git@)/.test(r));
  if (remote !== undefined) return refuse(`${remote} is not on this machine; ${instead}`);
  const manifests = (resources as readonly string[]).flatMap((r) => readPath(join(dirname(file), r), reading, [...above, file]));
  if (namespace === undefined) return manifests;
  return manifests.map((m) => ({ ...m, object: { ...m.object, metadata: { ...m.object.metadata, namespace } } }));
}

function readManifests(file: string, source: string, reading: Reading, isNamed: boolean): readonly Manifest[] {
  const { environment, problems, onLeftOut } = reading;
  // Scripts and templates in Kubernetes objects may hold "{{"; at the start of a line it belongs to Helm.
  const statement = source.split("\n").findIndex((line) => /^\s*(\{\{-?\s|\{%)/.test(line));
  if (statement >= 0) {
    const isJinja = source.split("\n")[statement]?.trimStart().startsWith("{%") === true;
    problems.push(`${file}, line ${statement + 1}: this is a ${isJinja ? JINJA : HELM}`);
    return [];
  }
  const filled = (whole: string, name: string): string => ownValue(environment, name) ?? ownValue(PLACEHOLDERS, name) ?? whole;
  const nested = textProblem(source);
  if (nested !== undefined) {
    problems.push(`${file}, line ${source.slice(0, nested.at).split("\n").length}: ${nested.problem}; give manifests in YAML or JSON`);
    return [];
  }
  const text = source.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, filled).replaceAll(/<<([A-Za-z_]\w*)>>/g, filled);
  const lines = new LineCounter();
  // Warnings of the parser would be printed among our sentences.
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true, logLevel: "error" });
  if (!Array.isArray(parsed)) return [];
  const expression = parsed.flatMap((document) => templateExpression(document, text) ?? [])[0];
  if (expression !== undefined) {
    const line = Math.max(1, lines.linePos(expression).line);
    problems.push(`${file}, line ${line}: this is a template with expressions in {{ }}; render it and give its output instead`);
    return [];
  }
  if (!isNamed && onLeftOut && parsed.length > 0 && parsed.every(isSomethingElse)) {
    onLeftOut(`${file} is left out, because it is no Kubernetes manifest: it has neither apiVersion nor kind`);
    return [];
  }
  return parsed.flatMap((document, i) => readDocument({ file, document, number: i + 1, lines, problems }));
}

interface Source {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly number: number;
  readonly lines: LineCounter;
  readonly problems: string[];
}

function readDocument({ file, document, number, lines, problems }: Source): readonly Manifest[] {
  const place = (line: number): string => `${file}, document ${number}, line ${line}`;
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const [error] = document.errors;
  if (error) {
    problems.push(
      `${place(lineAt(error.pos[0]))}: this is not valid ${file.endsWith(".json") ? "JSON" : "YAML"}: ${error.message.replace(/\.$/, "")}; fix the line`,
    );
    return [];
  }
  const start = lineAt(document.contents?.range?.[0] ?? 0);
  const read = documentValue(document);
  if ("problem" in read) {
    problems.push(`${place(start)}: ${read.problem}`);
    return [];
  }
  const { value } = read;
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) {
    problems.push(
      `${place(start)}: this is no Kubernetes object but ${Array.isArray(value) ? "a list" : "text"}; write a map with apiVersion, kind and metadata`,
    );
    return [];
  }
  /** The line of the deepest field of the path that exists: of its name, not of its value. */
  const lineOf = (path: Path): number => {
    for (let depth = path.length; depth > 0; depth--) {
      const offset = offsetOf(document, path.slice(0, depth));
      if (offset !== undefined) return lineAt(offset);
    }
    return start;
  };
  const items = (value as { readonly items?: unknown }).items;
  const isList = /List$/.test(String((value as ApiObject).kind)) && Array.isArray(items);
  const objects: readonly (readonly [unknown, Path])[] = isList ? items.map((item, i) => [item, ["items", i]] as const) : [[value, []]];
  return objects.flatMap(([object, base]) => {
    const found = [...placeholderProblems(object), ...manifestProblems(object)];
    const apiVersion = textAt(object as Json, ["apiVersion"]) ?? "";
    for (const { path, message } of found) {
      const how = path[0] === "apiVersion" && OLD_API.test(apiVersion) ? `; \`${convertCommand(file)}\` does it` : "";
      problems.push(`${place(lineOf([...base, ...path]))}: ${sentence(path, message)}${how}`);
    }
    return found.length > 0 ? [] : [{ object: withoutNulls(object) as ApiObject, file, document: number, line: lineOf(base) }];
  });
}

/** The versions that `convert` reads. */
const OLD_API = /^karpenter\.(sh|k8s\.aws)\/v1(alpha|beta)\d+$/;

function convertCommand(file: string): string {
  const path = file === STANDARD_INPUT ? "-" : /^[\w./@+-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
  return `${PROGRAM} convert ${path}`;
}

function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  const parent: unknown = document.getIn(path.slice(0, -1), true) ?? document.contents;
  const name = path.at(-1);
  const key = isMap(parent) ? parent.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name)?.key : undefined;
  const node: unknown = key ?? (isSeq(parent) ? parent.items[Number(name)] : undefined);
  return isNode(node) ? node.range?.[0] : undefined;
}

function sentence(path: Path, message: string): string {
  const name = fieldPath(path);
  // These messages name the field themselves.
  return name === "" || path[0] === "apiVersion" || path[0] === "kind" || (path.length === 1 && message.startsWith("spec."))
    ? message
    : `${name} ${message}`;
}
