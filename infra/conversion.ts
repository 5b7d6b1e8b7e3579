import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSeq, parse, parseDocument } from "yaml";

/** Where the API server finds the conversion webhook. */
interface ConversionEndpoint {
  readonly url: string;
  /** The authority of the URL's certificate, PEM in base64; absent for a publicly signed one. */
  readonly caBundle?: string;
}

/**
 * A CRD that also serves v1beta1, if its kind has such a version (infra/crds-v1beta1). v1 stays the stored version, so
 * reads and writes of v1 objects never wait for the webhook. Without a webhook v1beta1 is not served at all, because
 * the API server would only change the version's name and store fields that no version allows.
 */
export function withV1beta1(file: string, crd: string, { url, caBundle }: ConversionEndpoint): string {
  const path = join(import.meta.dirname, "crds-v1beta1", file);
  if (!existsSync(path)) return crd;
  const document = parseDocument(crd);
  const versions = document.getIn(["spec", "versions"]);
  if (!isSeq(versions)) throw new Error(`infra/crds/${file} has no list of versions.`);
  // Anchors are written out, because v1beta1's may have the names of v1's.
  versions.add(document.createNode(parse(readFileSync(path, "utf8")), { aliasDuplicateObjects: false }));
  document.setIn(
    ["spec", "conversion"],
    document.createNode({
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url, ...(caBundle !== undefined && { caBundle }) } },
    }),
  );
  return document.toString({ lineWidth: 0 });
}
