import { answer, type HttpRequest, type HttpResponse, mapIn } from "#adapters/lambda/function-url.ts";
import type { PathToken } from "#adapters/lambda/path-token.ts";
import type { Gates } from "#core/admission/gates.ts";
import type { JsonObject } from "#core/lib/json.ts";
import type { Log } from "#core/ports/log.ts";
import { convertAll } from "./convert-all.ts";
import { fillIn } from "./fill-in.ts";
import { judge } from "./judge.ts";

export interface AdmissionDeps {
  readonly log: Log;
  readonly isToken: PathToken;
  readonly isServed: (cluster: string) => Promise<boolean>;
  /** The feature gates that the stack's other functions run with. */
  readonly gates: Gates;
}

/**
 * One endpoint: the kind of review that it answers, and how. `respond` gets the review's request and returns the fields
 * of its response apart from the uid; `unread` is the response to a request that `respond` cannot read.
 */
interface Duty {
  readonly apiVersion: string;
  readonly kind: string;
  readonly respond: (request: JsonObject, gates: Gates) => JsonObject;
  readonly unread: JsonObject;
}

const ADMISSION = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

const UNREAD = "The object cannot be read, so the function has not checked it; compare it with the schema of its CRD (kubectl explain)";
/** As with failurePolicy Ignore: the schema holds, and the catalog function validates the object again. */
const ALLOWED = { allowed: true, warnings: [UNREAD] };

const DUTIES: ReadonlyMap<string, Duty> = new Map([
  ["default", { ...ADMISSION, respond: fillIn, unread: ALLOWED }],
  ["validate", { ...ADMISSION, respond: judge, unread: ALLOWED }],
  [
    "convert",
    {
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", respond: convertAll },
      unread: { result: { status: "Failure", message: UNREAD } },
    },
  ],
]);

/**
 * Answers a review of NodePools, EC2NodeClasses, NodeOverlays or (conversion only) NodeClaims from the request alone.
 * Path: /v1/CLUSTER/TOKEN/DUTY.
 */
export async function admit({ path, body }: HttpRequest, { log, isToken, isServed, gates }: AdmissionDeps): Promise<HttpResponse> {
  const [, version, cluster = "", given = "", name = ""] = path.split("/");
  const duty = DUTIES.get(name);
  if (version !== "v1" || duty === undefined || !(await isToken(given, cluster)))
    return answer(403, { message: "Not a path of this function; see the stack's AdmissionUrl output." });
  if (!(await isServed(cluster)))
    return answer(404, { message: `Cluster ${cluster} is not served by this stack; add it with install --cluster ${cluster}.` });
  const { apiVersion, kind, respond, unread } = duty;
  const request = mapIn(body)?.["request"] as JsonObject | undefined;
  const uid = request?.["uid"];
  if (request === undefined || typeof uid !== "string")
    return answer(400, {
      message: `The body is not a ${kind} of ${apiVersion} with a request; see infra/webhook for what calls this path.`,
    });
  try {
    return answer(200, { apiVersion, kind, response: { uid, ...respond(request, gates) } });
  } catch (error) {
    log.error("could not read what the API server asks about", { controller: "admission", cluster, duty: name, error });
    return answer(200, { apiVersion, kind, response: { uid, ...unread } });
  }
}
