import { answer, type HttpRequest, type HttpResponse } from "#adapters/lambda/function-url.ts";
import type { PathToken } from "#adapters/lambda/path-token.ts";
import { getAt, isJsonObject, type JsonObject, parseJson } from "#core/lib/json.ts";
import type { Log } from "#core/ports/log.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { WakeUp, WakeUps } from "#core/ports/wake-ups.ts";
import { readAdmissionRequest } from "#core/signals/admission-request.ts";
import { type Signal, UNTIL_WRITTEN_MS, wakeUpsFor } from "#core/signals/signal.ts";
import { claimsByProviderId } from "../shared/claims-by-provider-id.ts";

export interface NotifyDeps {
  readonly store: Pick<NodeClaimStore, "byInstance">;
  readonly wakeUps: WakeUps;
  readonly log: Log;
  readonly isToken: PathToken;
  /** Whether the webhook is a source of the cluster's wake-ups. */
  readonly isServed: (cluster: string) => Promise<boolean>;
}

/**
 * Turns an AdmissionReview into wake-ups. It allows every request, even when it fails, because it only observes. Path:
 * /v1/CLUSTER/TOKEN.
 */
export async function notify(request: HttpRequest, deps: NotifyDeps): Promise<HttpResponse> {
  const [, version, cluster = "", token = ""] = request.path.split("/");
  if (version !== "v1" || !(await deps.isToken(token, cluster)))
    return answer(403, { message: "Not a path of this function; see the stack's NotifyUrl output." });
  if (!(await deps.isServed(cluster)))
    return answer(404, { message: `Cluster ${cluster} is not served by this stack; add it with install --cluster ${cluster}.` });
  const asked = requestIn(request.body);
  const uid = asked?.["uid"];
  if (asked === undefined || typeof uid !== "string") {
    return answer(400, { message: "The body is not an AdmissionReview with a request; register this URL as a validating webhook." });
  }
  await ring(cluster, asked, deps);
  return answer(200, { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true } });
}

async function ring(cluster: string, request: JsonObject, deps: NotifyDeps): Promise<void> {
  const signal = request["dryRun"] === true ? undefined : readAdmissionRequest(request);
  if (signal === undefined) return;
  const wake = async (): Promise<void> => {
    const wakeUps = wakeUpsFor(cluster, [signal], await claimsByProviderId([signal], deps.store)).map((wakeUp) =>
      afterTheWrite(wakeUp, request, signal),
    );
    if (wakeUps.length > 0) await deps.wakeUps.wake(wakeUps);
  };
  try {
    // Once more at once: the API server waits for a second at most, and calls once.
    await wake().catch(wake);
  } catch (error) {
    // The API server's write must succeed all the same; the sweep will see what it changed.
    deps.log.error("could not pass on a notification", {
      controller: "notify",
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

/**
 * Delays wake-ups until the write has happened. Nodes that are created or become Ready need no delay, because pods
 * wait for them, and the lifecycle checks again when it does not see the change. The queues delay wake-ups of
 * other kinds themselves.
 */
function afterTheWrite(wakeUp: WakeUp, request: JsonObject, signal: Signal): WakeUp {
  const isAwaited = signal.kind === "node-changed" && request["operation"] !== "DELETE";
  return (wakeUp.kind === "claim" && !isAwaited) || wakeUp.kind === "catalog" ? { ...wakeUp, delayMs: UNTIL_WRITTEN_MS } : wakeUp;
}

function requestIn(body: string): JsonObject | undefined {
  const request = getAt(parseJson(body), ["request"]);
  return isJsonObject(request) ? request : undefined;
}
