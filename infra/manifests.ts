import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { VERSION } from "#settings/version.ts";
import { withV1beta1 } from "./conversion.ts";
import { BadInput } from "./end-with.ts";

/**
 * What a cluster needs before the functions can work in it, as one stream of YAML documents for `kubectl apply
 * -f -`: the CRDs, the RBAC of the functions, their priority at the API server and, with their URLs, the webhooks that
 * call the notify and the admission function. With the admission webhook the CRDs also serve v1beta1, which it
 * converts.
 */

/** Of a CRD: the version of the release that wrote it. */
export const VERSION_ANNOTATION = "karpenter-serverless/version";

export interface ManifestOptions {
  readonly cluster: string;
  /** The notify function's URL; without it there is no notify webhook. */
  readonly notifyUrl?: string;
  /** The stack's secret, of which the cluster's token in its path is made; needed with `notifyUrl`. */
  readonly notifyToken?: string;
  /**
   * The admission function's URL; without it objects are validated by their schemas only, and v1beta1 is not served.
   */
  readonly admissionUrl?: string;
  /** The stack's secret, of which the cluster's token in its path is made; needed with `admissionUrl`. */
  readonly admissionToken?: string;
  /** The authority of the URLs' certificates, PEM in base64; absent for publicly signed ones. */
  readonly caBundle?: string;
}

/** All manifests of a cluster as one text. Throws one sentence about what is wrong with the options. */
export function manifests(options: ManifestOptions): string {
  if (!/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/.test(options.cluster)) {
    throw new BadInput(`"${options.cluster}" is no EKS cluster name: give --cluster letters, digits, - and _, at most 100.`);
  }
  const notify = pathOf("notify", options);
  const admission = pathOf("admission", options);
  const { caBundle } = options;
  const crds = folder("crds").map(({ file, text: plain }) => {
    const text = plain.replace(/^metadata:\n/m, `metadata:\n  annotations:\n    ${VERSION_ANNOTATION}: ${JSON.stringify(VERSION)}\n`);
    return admission === undefined
      ? text
      : withV1beta1(file, text, { url: `${admission}/convert`, ...(caBundle !== undefined && { caBundle }) });
  });
  const documents = [
    ...crds,
    ...["rbac", "flow-control"].flatMap((name) => folder(name).map(({ text }) => text)),
    ...(notify === undefined ? [] : [webhook("notify", notify, caBundle)]),
    ...(admission === undefined ? [] : [webhook("admission", admission, caBundle)]),
  ];
  return documents.map((text) => `---\n${text.trimEnd()}\n`).join("");
}

type Called = "notify" | "admission";

/** The URL by which a cluster calls a function; undefined without the function's own URL. */
function pathOf(name: Called, options: ManifestOptions): string | undefined {
  const url = options[`${name}Url`];
  const token = options[`${name}Token`] ?? "";
  if (url === undefined) return undefined;
  if (!url.startsWith("https://")) {
    throw new BadInput(
      `The API server only calls https URLs, not "${url}": give --${name}-url the ${name} function's URL (stack output ${outputOf(name)}).`,
    );
  }
  if (!/^[A-Za-z0-9_-]{16,}$/.test(token)) {
    throw new BadInput(
      `A --${name}-token of at least 16 letters, digits, - and _ is needed with --${name}-url (or in ${name.toUpperCase()}_TOKEN): what the secret of the stack's output ${capital(name)}TokenArn holds. --stack NAME reads both.`,
    );
  }
  return `${url.replace(/\/$/, "")}/v1/${options.cluster}/${clusterToken(token, options.cluster)}`;
}

function webhook(name: Called, url: string, caBundle: string | undefined): string {
  const template = readFileSync(join(import.meta.dirname, "webhook", `${name}.yaml`), "utf8");
  const filled =
    caBundle === undefined ? template.replaceAll(/^ *caBundle: .*\n/gm, "") : template.replaceAll(/\$\{CA_BUNDLE\}/g, caBundle);
  return filled.replaceAll(/(url: )\$\{[A-Z]+_URL\}/g, `$1${url}`);
}

function folder(name: string): readonly { readonly file: string; readonly text: string }[] {
  const dir = join(import.meta.dirname, name);
  return readdirSync(dir)
    .sort()
    .map((file) => ({ file, text: readFileSync(join(dir, file), "utf8") }));
}

/** Throws one sentence when a token is given without the URL that it is for. */
export function checkTokens(given: Readonly<Partial<Record<`${Called}-token` | `${Called}-url`, string | undefined>>>): void {
  for (const name of ["notify", "admission"] as const) {
    if (given[`${name}-token`] !== undefined && given[`${name}-url`] === undefined)
      throw new BadInput(
        `A --${name}-token is of no use without --${name}-url: give the ${name} function's URL too (stack output ${outputOf(name)}).`,
      );
  }
}

/** Not of lambda.ts, whose CDK takes a second to load. */
const capital = (name: Called): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function outputOf(name: Called): string {
  return `${capital(name)}Url`;
}
