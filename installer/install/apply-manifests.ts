import { parseAllDocuments } from "yaml";
import { VERSION_ANNOTATION } from "#infra/manifests.ts";
import type { ClusterApi, KubeObject } from "../account/ports.ts";

interface Applying {
  readonly api: ClusterApi;
  readonly print: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
}

/** By their text: a command reads the manifests several times, and the CRDs take a third of a second. */
const read = new Map<string, readonly KubeObject[]>();

/** The objects of a stream of YAML documents. */
export function objectsOf(yaml: string): readonly KubeObject[] {
  const known = read.get(yaml);
  if (known !== undefined) return known;
  const objects = parseAllDocuments(yaml).map((document) => document.toJS({ maxAliasCount: -1 }) as KubeObject);
  read.set(yaml, objects);
  return objects;
}

/**
 * Applies objects one after another, the definitions of kinds first, as they come. A definition of a kind that others
 * share is left alone where another product has installed it, because theirs may serve more versions.
 */
export async function applyObjects(objects: readonly KubeObject[], { api, print }: Applying): Promise<void> {
  let applied = 0;
  for (const object of objects) {
    if (await staysOthers(object, api)) {
      print(`  ${object.metadata.name} is there already, and stays as it is`);
      continue;
    }
    await api.apply(object);
    applied += 1;
  }
  print(`  ${applied} objects applied`);
}

/** Whether an object is a definition that another product has installed and that is left alone. */
export const staysOthers = async (object: KubeObject, api: Pick<ClusterApi, "find">): Promise<boolean> =>
  isShared(object) && (await isOthers(object, api));

const isShared = ({ kind, metadata }: KubeObject): boolean =>
  kind === "CustomResourceDefinition" && !/\.karpenter\.(sh|k8s\.aws)$/.test(metadata.name);

async function isOthers(object: KubeObject, api: Pick<ClusterApi, "find">): Promise<boolean> {
  const found = await api.find(object);
  return found !== undefined && found.metadata.annotations?.[VERSION_ANNOTATION] === undefined;
}

/** The webhook configurations that an installation may make. */
const WEBHOOKS: readonly KubeObject[] = [
  ["ValidatingWebhookConfiguration", "karpenter-serverless-notify"],
  ["ValidatingWebhookConfiguration", "karpenter-serverless-admission"],
  ["MutatingWebhookConfiguration", "karpenter-serverless-admission"],
].map(([kind = "", name = ""]) => ({ apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name } }));

/** Removes the webhooks that are not among the wanted objects, because no function answers at their URLs any more. */
export async function removeOutdated(wanted: readonly KubeObject[], { api, print }: Omit<Applying, "sleep">): Promise<void> {
  for (const object of WEBHOOKS) {
    const isWanted = wanted.some(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name);
    if (isWanted || (await api.find(object)) === undefined) continue;
    await api.remove(object);
    print(`  ${object.kind} ${object.metadata.name} removed`);
  }
}

const RETRY_MS = 1_000;
/** How long a kind may take from its definition until the API server serves it. */
const MAX_RETRIES = 30;

/** Makes the objects that are not there. What is there already is a person's, and stays as it is. */
export async function makeMissing(objects: readonly KubeObject[], { api, print, sleep }: Applying): Promise<void> {
  for (const object of objects) {
    const name = `${object.kind} ${object.metadata.name}`;
    if ((await api.find(object)) !== undefined) {
      print(`  ${name} is there already, and stays as it is`);
      continue;
    }
    for (let tries = 0; ; tries += 1) {
      try {
        await api.apply(object);
        print(`  ${name} made`);
        break;
      } catch (error) {
        if (tries === MAX_RETRIES || !(error instanceof Error) || error.name !== "NotFoundError") throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
