// The port Kubernetes over HTTPS: requests, lists that are remembered between calls, watches, and the identity for
// them. In: a server's address and credentials. Out: objects as the core reads them, and the port's errors. Nothing
// here knows what a NodeClaim is for.

import { randomBytes } from "node:crypto";
import type { Pod } from "#core/model/pod.ts";
import type { Kind, Kinds, Kubernetes, PublishedEvent } from "#core/ports/kubernetes.ts";
import type { Log } from "#core/ports/log.ts";
import type { Connection } from "./connection.ts";
import { failure, messageOf, unknownKind } from "./errors.ts";
import { pathOf, RESOURCES } from "./kinds.ts";
import { listPages } from "./pages.ts";
import { type ApiResponse, httpsTransport, type Transport } from "./transport.ts";

/** The API's limit of an event's message, characters. */
const MAX_MESSAGE = 1_024;

const ok = ({ status }: ApiResponse): boolean => status >= 200 && status < 300;

/** Whether the API server does not know the kind, rather than the object: it then answers in plain text. */
const isUnknownKind = ({ status, body }: ApiResponse): boolean => status === 404 && typeof body === "string";

/**
 * The port Kubernetes: one cluster's API server over HTTPS. Lists are read in pages and pruned to what the core reads
 * (pages.ts); an object that is read by name is whole except for managedFields.
 * @param now dates events, ms since the epoch
 * @param log gets the events that could not be written
 */
export function kubernetesClient(
  options: Connection & { readonly log?: Log; readonly now?: () => number; readonly transport?: Transport },
): Kubernetes {
  const send = options.transport ?? httpsTransport(options).send;
  const now = options.now ?? Date.now;

  const write = writing(send);
  return {
    get: (kind, name, namespace) => get(send, kind, name, namespace),
    list: async (kind, selectors = {}) => (await listPages(send, kind, selectors)).items,
    create: (kind, object) => write("POST", pathOf(kind, undefined, object.metadata.namespace), kind, object, "creating"),
    update: (kind, object) => write("PUT", pathOf(kind, object.metadata.name, object.metadata.namespace), kind, object, "updating"),
    updateStatus: (kind, object) =>
      write("PUT", `${pathOf(kind, object.metadata.name, object.metadata.namespace)}/status`, kind, object, "updating the status of"),
    delete: (kind, name, how = {}) => remove(send, kind, name, how),
    evict: (pod) => evict(send, pod),

    async nominate({ metadata: { name, namespace, uid, resourceVersion } }, nodeName) {
      // A patch, because lists of pods are pruned; with the resource version that was read, it meets no newer pod.
      const body = { metadata: { uid, resourceVersion }, status: { nominatedNodeName: nodeName } };
      const response = await send({ method: "PATCH", path: `${pathOf("Pod", name, namespace)}/status`, body });
      if (!ok(response)) throw failure(response, `nominating node ${nodeName} for pod ${namespace}/${name}`);
    },

    async publish(event) {
      try {
        const { path, body } = eventOf(event, now());
        const response = await send({ method: "POST", path, body });
        if (!ok(response)) throw failure(response, "publishing an event");
      } catch (error) {
        options.log?.error("could not publish an event", { reason: event.reason, object: event.about.metadata.name, error });
      }
    },

    version: () => version(send),
  };
}

type DeleteOptions = NonNullable<Parameters<Kubernetes["delete"]>[2]>;

async function get<K extends Kind>(send: Transport, kind: K, name: string, namespace?: string): Promise<Kinds[K] | undefined> {
  const response = await send({ method: "GET", path: pathOf(kind, name, namespace) });
  if (isUnknownKind(response)) throw unknownKind(kind);
  if (response.status === 404) return undefined;
  if (!ok(response)) throw failure(response, `reading ${kind} ${name}`);
  return response.body as Kinds[K];
}

/** Writes an object, without what the API server keeps for itself. */
function writing(send: Transport) {
  return async <K extends Kind>(method: "POST" | "PUT", path: string, kind: K, object: Kinds[K], doing: string): Promise<Kinds[K]> => {
    const { managedFields: _, ...metadata } = object.metadata as Kinds[K]["metadata"] & { readonly managedFields?: unknown };
    const body = { ...object, apiVersion: RESOURCES[kind].apiVersion, kind, metadata };
    const response = await send({ method, path, body });
    if (isUnknownKind(response)) throw unknownKind(kind);
    if (!ok(response)) throw failure(response, `${doing} ${kind} ${object.metadata.name}`);
    return response.body as Kinds[K];
  };
}

async function remove<K extends Kind>(send: Transport, kind: K, name: string, how: DeleteOptions): Promise<boolean | Kinds[K]> {
  const { namespace, uid, gracePeriodSeconds } = how;
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(uid !== undefined && { preconditions: { uid } }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  };
  const response = await send({ method: "DELETE", path: pathOf(kind, name, namespace), body });
  // 409 here is a failed precondition: another object has the name now.
  if (response.status === 404 || (response.status === 409 && uid !== undefined)) return false;
  if (!ok(response)) throw failure(response, `deleting ${kind} ${name}`);
  // An object that its finalizers keep; otherwise a Status, or the object as it was last.
  const left = response.body as Partial<Kinds[K]> | undefined;
  const isKept = left?.metadata?.deletionTimestamp !== undefined && (left.metadata.finalizers ?? []).length > 0;
  return isKept ? (left as Kinds[K]) : true;
}

async function evict(send: Transport, pod: Pod): ReturnType<Kubernetes["evict"]> {
  const { name, namespace, uid } = pod.metadata;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { ...(uid !== undefined && { preconditions: { uid } }) },
  };
  const response = await send({ method: "POST", path: `${pathOf("Pod", name, namespace)}/eviction`, body });
  if (ok(response)) return "evicted";
  // 409 with a UID given: the pod of that name is another one, and the wanted pod is gone.
  if (response.status === 404 || (response.status === 409 && uid !== undefined)) return "gone";
  // Several PodDisruptionBudgets over one pod are refused with 500. A user must fix that; until then it blocks like any
  // budget.
  const isOverTwoBudgets = response.status === 500 && messageOf(response).includes("more than one PodDisruptionBudget");
  if (response.status === 429 || isOverTwoBudgets) return "blocked";
  throw failure(response, `evicting pod ${namespace}/${name}`);
}

async function version(send: Transport): Promise<string> {
  const response = await send({ method: "GET", path: "/version" });
  if (!ok(response)) throw failure(response, "asking for the version");
  const { major, minor } = response.body as { readonly major: string; readonly minor: string };
  // EKS reports "36+".
  return `${major}.${minor.replace(/\D.*$/, "")}`;
}

/**
 * A core/v1 Event, which `kubectl describe` finds by the object's UID. Events of cluster-scoped objects are in the
 * namespace `default`.
 */
function eventOf({ type, reason, message, about }: PublishedEvent, now: number): { readonly path: string; readonly body: object } {
  const namespace = about.metadata.namespace ?? "default";
  const { name, uid } = about.metadata;
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
    body: {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name.slice(0, 230)}.${randomBytes(8).toString("hex")}`, namespace },
      involvedObject: {
        apiVersion: RESOURCES[about.kind].apiVersion,
        kind: about.kind,
        name,
        ...(about.metadata.namespace && { namespace }),
        uid,
      },
      type,
      reason,
      message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message,
      source: { component: "karpenter" },
      reportingComponent: "karpenter",
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    },
  };
}
