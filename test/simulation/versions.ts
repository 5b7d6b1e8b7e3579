import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ENTRIES, type FunctionEntries } from "#lab/host.ts";

type Errors = Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>>;

/** The functions of another tree of this project, with the classes of errors that its code asks for. */
export interface OtherVersion {
  readonly entries: FunctionEntries;
  readonly errors: Errors;
  /** Whether it writes the history of decisions; versions before November 2026 do not. */
  readonly keepsHistory: boolean;
  /** Whether it keeps nodes that other commands move pods to; version 0.1.0 does not. */
  readonly keepsDestinations: boolean;
  /** Whether it asks which clusters there are; versions before the clusters had records are told once. */
  readonly asksForClusters: boolean;
}

/** Loads the functions of the tree in a folder. */
export async function loadVersion(tree: string): Promise<OtherVersion> {
  const load = (file: string): Promise<Record<string, never>> => import(pathToFileURL(join(tree, file)).href);
  const names = Object.keys(ENTRIES);
  const modules = await Promise.all(names.map(async (name) => [name, (await load(`functions/${name}/entry.ts`))[`${name}Entry`]] as const));
  return {
    entries: Object.fromEntries(modules) as unknown as FunctionEntries,
    errors: await load("core/ports/errors.ts"),
    keepsHistory: existsSync(join(tree, "core/history")),
    keepsDestinations: existsSync(join(tree, "core/disruption/cluster/rules/destination.ts")),
    asksForClusters: existsSync(join(tree, "functions/wiring/served-clusters.ts")),
  };
}

/**
 * This version and another at once, as while a deployment replaces the code: `isOther` picks the version of each
 * invocation. Both have the same queues, table, cluster and EC2.
 */
export function bothVersions(other: OtherVersion, isOther: () => boolean): FunctionEntries {
  type Entry = (deps: Readonly<Record<string, unknown>>) => (...args: readonly unknown[]) => unknown;
  const both = (own: Entry, others: Entry): Entry => {
    return (deps) => {
      const newer = own(deps);
      const named = deps["clusters"] as () => Promise<readonly string[]>;
      const made = (async () => others(translated(other.asksForClusters ? deps : { ...deps, clusters: await named() }, other.errors)))();
      return async (...args) => (isOther() ? (await made)(...args) : newer(...args));
    };
  };
  const pairs = Object.entries(ENTRIES).map(([name, own]) => [
    name,
    both(own as unknown as Entry, other.entries[name as keyof FunctionEntries] as unknown as Entry),
  ]);
  return Object.fromEntries(pairs) as unknown as FunctionEntries;
}

/** The ports of a cluster, and those of the stack, as the other version knows them: with errors of its own classes. */
function translated(deps: Readonly<Record<string, unknown>>, errors: Errors): Readonly<Record<string, unknown>> {
  const clusterDeps = deps["clusterDeps"] as (name: string) => Promise<Readonly<Record<string, unknown>> | undefined>;
  const of = (ports: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, PORTS.has(name) ? withErrors(port as object, errors) : port]));
  return {
    ...of(deps),
    clusterDeps: async (name: string) => {
      const ports = await clusterDeps(name);
      return ports && of(ports);
    },
  };
}

const PORTS: ReadonlySet<string> = new Set(["kubernetes", "store", "fleet", "inventory", "wakeUps"]);

/** The port, whose methods throw the other version's error of the same name. */
function withErrors(port: object, errors: Errors): object {
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(port, {
    get(target, property) {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== "function") return method;
      const known =
        methods.get(property) ??
        (async (...args: unknown[]) => {
          try {
            return await Reflect.apply(method, target, args);
          } catch (error) {
            const Own = error instanceof Error ? errors[error.name] : undefined;
            throw Own === undefined ? error : new Own((error as Error).message, { cause: error });
          }
        });
      methods.set(property, known);
      return known;
    },
  });
}
