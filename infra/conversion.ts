import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSeq, parse, parseDocument } from "yaml";

/** Where the API server finds what converts. */
export interface ConversionEndpoint {
  readonly url: string;
  /** The authority of the URL's certificate, PEM in base64; absent for a publicly signed one. */
  readonly caBundle?: string;
}

/**
 * A CRD that also serves v1beta1, if there is such a version of its kind (infra/crds-v1beta1). v1 stays what is stored: reads and writes of v1 objects never
 * wait for the endpoint. Without one there is no v1beta1 at all, since the API server would only exchange the version's name and store what is in no
 * version right.
 */
export function withV1beta1(file: string, crd: string, { url, caBundle }: ConversionEndpoint): string {
  const path = join(import.meta.dirname, "crds-v1beta1", file);
  if (!existsSync(path)) return crd;
  const document = parseDocument(crd);
  const versions = document.getIn(["spec", "versions"]);
  if (!isSeq(versions)) throw new Error(`infra/crds/${file} has no list of versions.`);
  // Written out: its own anchors may have the names of v1's.
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
