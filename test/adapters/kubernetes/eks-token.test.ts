import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { eksToken } from "#adapters/kubernetes/eks-token.ts";

const SECRET = "secret";
const START = Date.UTC(2026, 10, 21, 12);

function source(options: { sessionToken?: string; region?: string } = {}) {
  let now = START;
  const token = eksToken({
    cluster: "c1",
    region: options.region ?? "us-west-2",
    credentials: { accessKeyId: "AKID", secretAccessKey: SECRET, ...(options.sessionToken && { sessionToken: options.sessionToken }) },
    now: () => now,
  });
  return {
    token,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

const urlOf = (token: string) => new URL(Buffer.from(token.replace("k8s-aws-v1.", ""), "base64url").toString("utf8"));
const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const escaped = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** What the signature must be, worked out as AWS's documents say and without the SDK. */
function expectedSignature(url: URL, cluster: string): string {
  const pairs = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  const headers = `host:${url.host}\nx-k8s-aws-id:${cluster}\n`;
  const canonical = ["GET", "/", pairs.sort().join("&"), headers, "host;x-k8s-aws-id", sha256("")].join("\n");
  const [, ...scope] = (url.searchParams.get("X-Amz-Credential") ?? "").split("/");
  const toSign = ["AWS4-HMAC-SHA256", url.searchParams.get("X-Amz-Date"), scope.join("/"), sha256(canonical)].join("\n");
  return mac(
    scope.reduce<string | Buffer>((key, part) => mac(key, part), `AWS4${SECRET}`),
    toSign,
  ).toString("hex");
}

describe("eksToken", () => {
  it("a token is a presigned GetCallerIdentity with the cluster's name signed in, and nothing that EKS refuses", async () => {
    const token = await source({ sessionToken: "se/ss+ion==" }).token();
    expect(token).toMatch(/^k8s-aws-v1\.[\w-]+$/);
    const url = urlOf(token);
    expect(url.origin + url.pathname).toBe("https://sts.us-west-2.amazonaws.com/");
    expect(Object.fromEntries([...url.searchParams].filter(([name]) => name !== "X-Amz-Signature"))).toEqual({
      Action: "GetCallerIdentity",
      Version: "2011-06-15",
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "AKID/20261121/us-west-2/sts/aws4_request",
      "X-Amz-Date": "20261121T120000Z",
      "X-Amz-Expires": "60",
      "X-Amz-Security-Token": "se/ss+ion==",
      "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
    });
    expect(url.searchParams.get("X-Amz-Signature")).toBe(expectedSignature(url, "c1"));
    expect(url.searchParams.get("X-Amz-Signature")).not.toBe(expectedSignature(url, "c2"));
  });

  it("a token names the STS of its partition", async () => {
    expect(urlOf(await source({ region: "cn-north-1" }).token()).host).toBe("sts.cn-north-1.amazonaws.com.cn");
  });

  it("a token is used until it is ten minutes old", async () => {
    const { token, wait } = source();
    const first = await token();
    wait(10 * 60_000 - 1);
    expect(await token()).toBe(first);
    wait(1);
    const second = await token();
    expect(second).not.toBe(first);
    expect(urlOf(second).searchParams.get("X-Amz-Date")).toBe("20261121T121000Z");
  });

  it("a token is replaced when asked, and when the clock was set back", async () => {
    const { token, wait } = source();
    const first = await token();
    wait(1_000);
    const second = await token({ renew: true });
    expect(second).not.toBe(first);
    expect(await token()).toBe(second);
    wait(-60_000);
    expect(await token()).not.toBe(second);
  });
});
