import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/**
 * Two esbuild plugins for facts about dependencies that esbuild cannot see. They halve a bundle, and with it the cold
 * start.
 */

/**
 * Leaves out parts of the Kubernetes client that are never called: its object model (0.35 MB) and second HTTP stack
 * (0.72 MB). Only its reading of kubeconfigs and certificates is used.
 */
export const leanKubernetesClient: Plugin = {
  name: "lean-kubernetes-client",
  setup(build) {
    build.onResolve({ filter: /^undici$|^\.\/gen\/index\.js$/ }, ({ importer }) =>
      importer.includes("@kubernetes/client-node") ? { path: "unused", namespace: "unused" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "unused" }, () => ({
      contents:
        "export class Agent {} export class ProxyAgent {} export class ServerConfiguration {} export const createConfiguration = () => {};",
    }));
  },
};

/**
 * The SDK describes each request and answer of a service by a constant with keys such as `[_eQN]`. A computed key may
 * have side effects as far as esbuild knows, so it keeps every constant of the service: 545 KB for EC2, of which 49 are
 * used. As literals the keys can be seen to have none.
 */
export const leanAwsSchemas: Plugin = {
  name: "lean-aws-schemas",
  setup(build) {
    build.onLoad({ filter: /client-[\w-]+[\\/]dist-es[\\/]schemas[\\/]schemas_\d+\.js$/ }, ({ path }) => ({
      contents: literalKeys(readFileSync(path, "utf8")),
      loader: "js",
    }));
  },
};

/** Replaces computed keys that are string constants of the same file by literals. */
export function literalKeys(source: string): string {
  const texts = new Map([...source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name = "", text = ""]) => [name, text]));
  return source.replaceAll(/([{,]\s*)\[(_\w+)\]: /g, (written, before: string, name: string) => {
    const text = texts.get(name);
    return text === undefined ? written : `${before}${text}: `;
  });
}
