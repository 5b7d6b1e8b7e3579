import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Exchange, httpsTransport, StaleConnectionError } from "#adapters/kubernetes/transport.ts";

type Answer = Awaited<ReturnType<Exchange>> | Error;
type Seen = {
  readonly url: string;
  readonly method: unknown;
  readonly authorization: string | undefined;
  readonly body: string | undefined;
};

const answer = (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: pieces(Buffer.from(typeof body === "string" ? body : JSON.stringify(body))),
});

async function* pieces(...given: readonly (Buffer | Error)[]): AsyncGenerator<Buffer> {
  for (const piece of given) {
    if (piece instanceof Error) {
      throw piece;
    }
    yield piece;
  }
}

/** A transport whose server gives these answers in turn. */
function talking(...answers: readonly Answer[]) {
  const seen: Seen[] = [];
  const tokens: boolean[] = [];
  const exchange: Exchange = async (url, options, body) => {
    const headers = options.headers as Record<string, string>;
    seen.push({ url, method: options.method, authorization: headers["Authorization"], body: body?.toString() });
    const next = answers[seen.length - 1];
    if (next === undefined) {
      throw new Error("one call too many");
    }
    if (next instanceof Error) {
      throw next;
    }
    return next;
  };
  const token = async ({ renew = false } = {}): Promise<string> => {
    tokens.push(renew);
    return renew ? "new" : "old";
  };
  return { ...httpsTransport({ server: "https://k8s.example/", caData: "", token }, exchange), seen, tokens };
}

const broken = (code: string) => Object.assign(new Error("broken"), { code });

describe("httpsTransport", () => {
  it("a request has its token, query and body", async () => {
    const { send, seen } = talking(answer(201, { a: 1 }));
    const response = await send({
      method: "POST",
      path: "/api/v1/x",
      query: { limit: "5", continue: undefined, fieldSelector: "a!=b" },
      body: { b: 2 },
    });
    expect(response).toMatchObject({ status: 201, body: { a: 1 } });
    expect(seen).toEqual([
      { url: "https://k8s.example/api/v1/x?limit=5&fieldSelector=a%21%3Db", method: "POST", authorization: "Bearer old", body: '{"b":2}' },
    ]);
  });

  it("compressed answers are unpacked, and text that is not JSON stays text", async () => {
    const zipped: Answer = { status: 200, headers: { "content-encoding": "gzip" }, body: pieces(gzipSync('{"z":1}')) };
    const { send } = talking(zipped, answer(404, "404 page not found\n"));
    expect((await send({ method: "GET", path: "/a" })).body).toEqual({ z: 1 });
    expect((await send({ method: "GET", path: "/b" })).body).toBe("404 page not found\n");
  });

  it("the token is renewed once when the server refuses it", async () => {
    const { send, seen, tokens } = talking(answer(401), answer(200), answer(401), answer(401));
    expect((await send({ method: "GET", path: "/a" })).status).toBe(200);
    expect(seen.map(({ authorization }) => authorization)).toEqual(["Bearer old", "Bearer new"]);
    expect((await send({ method: "POST", path: "/a" })).status).toBe(401);
    expect(tokens).toEqual([false, true, false, true]);
  });

  it.for([
    { name: "429", first: answer(429) },
    { name: "503", first: answer(503) },
    { name: "a broken connection", first: broken("ECONNRESET") },
  ])("a read is tried again after $name", async ({ first }) => {
    const { send, seen } = talking(first, answer(200));
    expect((await send({ method: "GET", path: "/a" })).status).toBe(200);
    expect(seen).toHaveLength(2);
  });

  it("a read fails after four attempts with the server's last answer", async () => {
    const { send, seen } = talking(answer(503), answer(503), answer(503), answer(429, { message: "busy" }));
    expect(await send({ method: "GET", path: "/a" })).toMatchObject({ status: 429, body: { message: "busy" } });
    expect(seen).toHaveLength(4);
  });

  it.for(["POST", "PUT", "DELETE"] as const)("a %s that may have been done is not repeated", async (method) => {
    const slow = talking(answer(503), answer(200));
    expect((await slow.send({ method, path: "/a" })).status).toBe(503);
    const cut = talking(broken("ECONNRESET"), answer(200));
    await expect(cut.send({ method, path: "/a" })).rejects.toThrow(`${method} https://k8s.example/a: no answer`);
  });

  it("a POST on a connection that had died before is repeated", async () => {
    const { send, seen } = talking(new StaleConnectionError("closed"), answer(201));
    expect((await send({ method: "POST", path: "/a" })).status).toBe(201);
    expect(seen).toHaveLength(2);
  });

  it("a call that timed out throws a sentence with the seconds", async () => {
    const { send } = talking(Object.assign(new Error("aborted"), { name: "AbortError" }));
    await expect(send({ method: "PUT", path: "/a" })).rejects.toThrow("PUT https://k8s.example/a: no answer within 10 s");
  });

  it("a read that is not answered in time is tried once more", async () => {
    const silent = Object.assign(new Error("aborted"), { name: "AbortError" });
    const once = talking(silent, answer(200));
    expect((await once.send({ method: "GET", path: "/a" })).status).toBe(200);
    const { send, seen } = talking(silent, answer(503), silent, answer(200));
    await expect(send({ method: "GET", path: "/a" })).rejects.toThrow("GET https://k8s.example/a: no answer within 10 s");
    expect(seen).toHaveLength(3);
  });
});

describe("open", () => {
  const stream = (status: number, ...given: readonly (Buffer | Error)[]): Answer => ({ status, headers: {}, body: pieces(...given) });
  const request = { method: "GET", path: "/api/v1/pods", query: { watch: "1" } } as const;

  it("a stream delivers each line as it arrives, and its end", async () => {
    const { open, seen } = talking(stream(200, Buffer.from('{"a":1}\n{"b"'), Buffer.from(":2}\n")));
    const lines: string[] = [];
    const { status, ended } = await open(request, (line) => lines.push(line), 1_000);
    await ended;
    expect([status, lines]).toEqual([200, ['{"a":1}', '{"b":2}']]);
    expect(seen[0]?.url).toBe("https://k8s.example/api/v1/pods?watch=1");
  });

  it("a stream that is cut ends without an error and without the half line", async () => {
    const { open } = talking(stream(200, Buffer.from("one\ntw"), broken("ECONNRESET")));
    const lines: string[] = [];
    await (await open(request, (line) => lines.push(line), 1_000)).ended;
    expect(lines).toEqual(["one"]);
  });

  it("a stream delivers nothing after it was closed", async () => {
    const { open } = talking(stream(200, Buffer.from("one\n")));
    const lines: string[] = [];
    const { close, ended } = await open(request, (line) => lines.push(line), 1_000);
    close();
    await ended;
    expect(lines).toEqual([]);
  });

  it("a refused stream has no lines, and renews the token once", async () => {
    const { open, tokens } = talking(stream(401), stream(410, Buffer.from("{}\n")));
    const lines: string[] = [];
    const { status, ended } = await open(request, (line) => lines.push(line), 1_000);
    await ended;
    expect([status, lines, tokens]).toEqual([410, [], [false, true]]);
  });

  it("a stream is tried once", async () => {
    await expect(talking(broken("ECONNRESET"), answer(200)).open(request, () => {}, 1_000)).rejects.toThrow("broken");
  });
});
