import type { Gates } from "../../core/admission/gates.ts";
import type { JsonObject } from "../../core/lib/json.ts";
import type { Log } from "../../core/ports/log.ts";
import { answer, type HttpRequest, type HttpResponse, mapIn, sameText } from "../adapters/function-url.ts";
import { convertAll } from "./convert-all.ts";
import { fillIn } from "./fill-in.ts";
import { judge } from "./judge.ts";

export interface AdmissionDeps {
  readonly log: Log;
  /** Part of the path: the API server cannot sign its requests, so this is what tells it from a stranger. */
  readonly token: string;
  readonly clusters: ReadonlySet<string>;
  /** Those of the functions beside it. */
  readonly gates: Gates;
}

/** A review of the API server without its envelope: a request with a uid in, the response's other fields out. */
interface Duty {
  readonly apiVersion: string;
  readonly kind: string;
  readonly respond: (request: JsonObject, gates: Gates) => JsonObject;
}

const ADMISSION = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

const DUTIES: ReadonlyMap<string, Duty> = new Map([
  ["default", { ...ADMISSION, respond: fillIn }],
  ["validate", { ...ADMISSION, respond: judge }],
  ["convert", { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", respond: convertAll }],
]);

/**
 * Answers the API server about NodePools, EC2NodeClasses, NodeOverlays and (conversion only) NodeClaims. It holds no state and reads none: the
 * request has all that it needs. Path: /v1/CLUSTER/TOKEN/DUTY.
 */
export function admit({ path, body }: HttpRequest, { log, token, clusters, gates }: AdmissionDeps): HttpResponse {
  const [, version, cluster = "", given = "", name = ""] = path.split("/");
  const duty = DUTIES.get(name);
  if (version !== "v1" || !sameText(given, token) || duty === undefined)
    return answer(403, { message: "Not a path of this function; see the stack's AdmissionUrl output." });
  if (!clusters.has(cluster)) return answer(404, { message: `Cluster ${cluster} is not served by this stack; add it and deploy again.` });
  const { apiVersion, kind, respond } = duty;
  const request = mapIn(body)?.["request"] as JsonObject | undefined;
  const uid = request?.["uid"];
  if (request === undefined || typeof uid !== "string")
    return answer(400, {
      message: `The body is not a ${kind} of ${apiVersion} with a request; see infra/webhook for what calls this path.`,
    });
  try {
    return answer(200, { apiVersion, kind, response: { uid, ...respond(request, gates) } });
  } catch (error) {
    // The API server goes by the failure policy then: the object is taken as it is, and the catalog function judges it again.
    log.error("could not answer the API server", { controller: "admission", cluster, duty: name, error });
    return answer(500, { message: `The ${name} request could not be answered; the function's log says why.` });
  }
}
