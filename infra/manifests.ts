import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BadInput, endWith } from "./end-with.ts";

/**
 * Prints what a cluster needs before the functions can work in it, as one stream of YAML documents for `kubectl apply -f -`:
 * the CRDs, the RBAC of the functions, and, with a URL, the webhook that calls the notify function.
 */

export interface ManifestOptions {
  readonly cluster: string;
  /** The notify function's URL; without it there is no webhook. */
  readonly notifyUrl?: string;
  /** The secret part of its path; needed with `notifyUrl`. */
  readonly notifyToken?: string;
  /** The authority of the URL's certificate, PEM in base64; absent for a publicly signed one. */
  readonly caBundle?: string;
}

/** All manifests of a cluster as one text. Throws one sentence about what is wrong with the options. */
export function manifests(options: ManifestOptions): string {
  if (!/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/.test(options.cluster)) {
    throw new BadInput(`"${options.cluster}" is no EKS cluster name: give --cluster letters, digits, - and _, at most 100.`);
  }
  const documents = [...folder("crds"), ...folder("rbac"), ...(options.notifyUrl === undefined ? [] : [webhook(options)])];
  return documents.map((text) => `---\n${text.trimEnd()}\n`).join("");
}

function webhook({ cluster, notifyUrl = "", notifyToken = "", caBundle }: ManifestOptions): string {
  if (!notifyUrl.startsWith("https://")) {
    throw new BadInput(
      `The API server only calls https URLs, not "${notifyUrl}": give --notify-url the notify function's URL (stack output NotifyUrl).`,
    );
  }
  if (!/^[A-Za-z0-9_-]{16,}$/.test(notifyToken)) {
    throw new BadInput(
      "A --notify-token of at least 16 letters, digits, - and _ is needed with --notify-url (or in NOTIFY_TOKEN): the one that the stack was deployed with.",
    );
  }
  const template = readFileSync(join(import.meta.dirname, "webhook", "notify.yaml"), "utf8");
  const filled =
    caBundle === undefined ? template.replaceAll(/^ *caBundle: .*\n/gm, "") : template.replaceAll(/\$\{CA_BUNDLE\}/g, caBundle);
  return filled.replaceAll(/(url: )\$\{NOTIFY_URL\}/g, `$1${notifyUrl.replace(/\/$/, "")}/v1/${cluster}/${notifyToken}`);
}

function folder(name: string): readonly string[] {
  const dir = join(import.meta.dirname, name);
  return readdirSync(dir)
    .sort()
    .map((file) => readFileSync(join(dir, file), "utf8"));
}

const USAGE = "npm run -s manifests -- --cluster NAME [--notify-url URL --notify-token TOKEN [--ca-bundle BASE64]]";

function main(): void {
  const { values } = parseArgs({
    options: {
      cluster: { type: "string" },
      "notify-url": { type: "string" },
      "notify-token": { type: "string" },
      "ca-bundle": { type: "string" },
    },
  });
  if (values.cluster === undefined) {
    throw new BadInput(`--cluster is missing; usage: ${USAGE}`);
  }
  // The environment keeps the token out of the shell's history.
  const { "notify-url": notifyUrl, "notify-token": notifyToken = process.env["NOTIFY_TOKEN"], "ca-bundle": caBundle } = values;
  if (values["notify-token"] !== undefined && notifyUrl === undefined)
    throw new BadInput("A --notify-token is of no use without --notify-url: give the notify function's URL too (stack output NotifyUrl).");
  process.stdout.write(
    manifests({
      cluster: values.cluster,
      ...(notifyUrl !== undefined && { notifyUrl }),
      ...(notifyToken !== undefined && { notifyToken }),
      ...(caBundle !== undefined && { caBundle }),
    }),
  );
}

if (import.meta.main) {
  try {
    main();
  } catch (error) {
    endWith(error, USAGE);
  }
}
