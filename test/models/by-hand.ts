import { secretText } from "#adapters/aws/secret.ts";
import type { SignedCaller } from "#adapters/aws/signed-fetch.ts";
import { arcZonalShift } from "#adapters/aws/zonal-shift.ts";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";
import { type RawRequest, understand } from "../account/request.ts";
import type { Judged } from "./judge.ts";

const REGION = "us-west-2";
const credentials = { accessKeyId: "AKIALAB", secretAccessKey: "secret" };

/** The requests that functions make without an SDK client. */
export async function byHand(): Promise<readonly Judged[]> {
  const sent: RawRequest[] = [];
  const fetch: NonNullable<SignedCaller["fetch"]> = async (url, { method = "GET", headers, body } = {}) => {
    sent.push({
      ...{ method, url: String(url), headers: headers as Record<string, string> },
      body: Buffer.from(typeof body === "string" ? body : ""),
    });
    return Response.json({ SecretString: "token" });
  };
  const caller = { region: REGION, credentials, fetch };
  await secretText("arn:aws:secretsmanager:us-west-2:111122223333:secret:NotifyToken-a1b2c3", caller);
  await arcZonalShift(caller).awayFrom("arn:aws:eks:us-west-2:111122223333:cluster/production");
  const token = await eksToken({ cluster: "production", region: REGION, credentials })();
  const url = Buffer.from(token.replace(/^k8s-aws-v1\./, ""), "base64url").toString("utf8");
  sent.push({ method: "GET", url, headers: {}, body: Buffer.from("") });
  return sent.map(ofWire);
}

/** A request as it goes over the wire. Throws when nobody has signed it. */
export function ofWire(request: RawRequest): Judged {
  const call = understand(request);
  if (call === undefined) throw new Error(`${request.method} ${request.url} is not signed`);
  return { service: call.service, operation: call.action, input: call.input, isTyped: false };
}
