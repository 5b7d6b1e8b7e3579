import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { type NotifyDeps, notify } from "./notify.ts";

/** Requests of the function URL that the clusters' webhooks call. */
export const notifyEntry =
  (deps: NotifyDeps) =>
  async ({ rawPath, body = "", isBase64Encoded }: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> =>
    notify({ path: rawPath, body: isBase64Encoded ? Buffer.from(body, "base64").toString("utf8") : body }, deps);
