import { Readable } from "node:stream";
import { type HttpRequest, HttpResponse } from "@smithy/protocol-http";
import { describe, expect, it } from "vitest";
import { type AssumeRoleOptions, assumedRole } from "#adapters/aws/assume-role.ts";

const ROLE = "arn:aws:iam::222233334444:role/karpenter-other-lifecycle";
const NOON = Date.UTC(2026, 10, 21, 12);

/** STS that gives a new key each time, for an hour from `clock.now`. */
function sts(more: Partial<AssumeRoleOptions> = {}) {
  const clock = { now: NOON };
  const asked: { readonly url: string; readonly body: URLSearchParams; readonly authorization: string }[] = [];
  let refusal: { readonly statusCode: number; readonly xml: string } | undefined;
  const source = assumedRole({
    roleArn: ROLE,
    sessionName: "karpenter-serverless-lifecycle",
    mend: "Deploy the stack of that cluster's account, with this account and external id.",
    region: "us-west-2",
    credentials: { accessKeyId: "ASIAOWN", secretAccessKey: "secret", sessionToken: "token" },
    now: () => clock.now,
    requestHandler: {
      async handle(request: HttpRequest) {
        const { protocol, hostname, path, body, headers } = request;
        asked.push({
          url: `${protocol}//${hostname}${path}`,
          body: new URLSearchParams(String(body)),
          authorization: headers["authorization"] ?? "",
        });
        const expiration = new Date(clock.now + 3_600_000).toISOString();
        const { statusCode, xml } = refusal ?? {
          statusCode: 200,
          xml:
            `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA${asked.length}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>` +
            `<SessionToken>t+/=</SessionToken><Expiration>${expiration}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
        };
        return { response: new HttpResponse({ statusCode, headers: { "content-type": "text/xml" }, body: Readable.from([xml]) }) };
      },
    },
    ...more,
  });
  return {
    ...{ source, clock, asked },
    refuse(statusCode: number, xml: string) {
      refusal = { statusCode, xml };
    },
    relent() {
      refusal = undefined;
    },
  };
}

describe("assumedRole", () => {
  it("the region's STS gets a signed request with the external id", async () => {
    const { source, asked } = sts({ externalId: "team-a" });
    expect(await source()).toMatchObject({
      ...{ accessKeyId: "ASIA1", secretAccessKey: "s", sessionToken: "t+/=" },
      expiration: new Date(NOON + 3_600_000),
    });
    expect(asked[0]?.url).toBe("https://sts.us-west-2.amazonaws.com/");
    expect(Object.fromEntries(asked[0]?.body ?? [])).toMatchObject({
      ...{ Action: "AssumeRole", RoleArn: ROLE, RoleSessionName: "karpenter-serverless-lifecycle", ExternalId: "team-a" },
      DurationSeconds: "3600",
    });
    expect(asked[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=ASIAOWN\/\d+\/us-west-2\/sts\//);
  });

  it("concurrent callers make one request, and the next follows five minutes before the credentials expire", async () => {
    const { source, asked, clock } = sts();
    const keys = await Promise.all([source(), source(), source()]);
    expect(new Set(keys.map(({ accessKeyId }) => accessKeyId))).toEqual(new Set(["ASIA1"]));
    clock.now += 54 * 60_000;
    expect((await source()).accessKeyId).toBe("ASIA1");
    clock.now += 60_000;
    expect((await source()).accessKeyId).toBe("ASIA2");
    expect(asked).toHaveLength(2);
  });

  it("a refusal throws a sentence with the role, and the next call tries again", async () => {
    const { source, refuse, relent } = sts();
    refuse(403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>");
    await expect(source()).rejects.toThrow(`STS does not let us act as ${ROLE}: AccessDenied: no.`);
    relent();
    expect((await source()).accessKeyId).toBe("ASIA2");
  });
});
