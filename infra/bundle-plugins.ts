import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/** What esbuild cannot see by itself about two of our dependencies. It halves a bundle, and with it the cold start. */

/**
 * We use the Kubernetes client for what kubeconfigs and certificates mean, and send requests ourselves: its object model (0.35 MB) and second HTTP
 * stack (0.72 MB) are never called, so they are left out.
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
 * The SDK describes each request and answer of a service by a constant, with keys such as `[_eQN]`. A computed key may run code, for all that esbuild
 * knows, so it keeps every constant of the service: 545 KB of EC2's, of which we use 49. As text the keys can be seen to do nothing.
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

/** Puts texts in place of computed keys that are constants of the same file. */
export function literalKeys(source: string): string {
  const texts = new Map([...source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name = "", text = ""]) => [name, text]));
  return source.replaceAll(/([{,]\s*)\[(_\w+)\]: /g, (written, before: string, name: string) => {
    const text = texts.get(name);
    return text === undefined ? written : `${before}${text}: `;
  });
}
