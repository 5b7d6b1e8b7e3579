import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedView, serveView } from "#console/server/serve.ts";
import type { ViewSource } from "#console/server/source.ts";
import type { PastOverview, ViewIndex } from "#core/insight/overview/types.ts";

let listener = (): void => {};
let revision = 1;
const index = (): ViewIndex => ({ version: 1, kind: "file", title: "t".repeat(3_000), revision, scenes: [{ id: "a b", name: "a" }] });
const source: ViewSource = {
  index,
  scene: async () => undefined,
  pods: async (id) => (id === "a b" ? [] : undefined),
  past: async (id, days) => (id === "a b" ? ({ days } as unknown as PastOverview) : undefined),
  story: async (_, name) => (name === "c d" ? [] : undefined),
  onChange: (given) => {
    listener = given;
    return () => {};
  },
};

let view: ServedView;
beforeAll(async () => {
  view = await serveView(source);
});
afterAll(() => view.close());

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** One request, with the headers as given: fetch would set a Host of its own. */
function get(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Got> {
  const { hostname, port } = new URL(view.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString("latin1") }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

const root = (): string => new URL(view.url).pathname;

describe("the server of the page", () => {
  it("listens on 127.0.0.1 with a long token in its URL", () => {
    expect(view.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
  });

  it("serves the page, with a policy that lets no inline script run and no other page embed it", async () => {
    const { status, headers, body } = await get(root());
    expect(status).toBe(200);
    expect(body).toContain('<script type="module" src="page.js">');
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect((await get(`${root()}page.js`)).headers["content-type"]).toMatch(/javascript/);
  });

  it("the URL that a browser is opened with leads to the page once, and does not hold the token", async () => {
    const once = new URL(view.openOnce()).pathname;
    expect(once).not.toContain(root().replaceAll("/", ""));
    expect(await get(once, {}, "POST")).toMatchObject({ status: 404 });
    const first = await get(once);
    expect([first.status, first.headers["location"], first.body]).toEqual([302, root(), ""]);
    expect(await get(once)).toMatchObject({ status: 404, body: "" });
    expect(await get("/once/")).toMatchObject({ status: 404, body: "" });
  });

  it.for(["/", "/x/", `/${"a".repeat(32)}/data/index.json`, "/page.js", "/data/index.json", "//", "/../"])(
    "without its token %s gives nothing",
    async (path) => {
      const { status, body } = await get(path);
      expect([status, body]).toEqual([404, ""]);
    },
  );

  it.for(["evil.example", "evil.example:80", "127.0.0.1", "localhost:1"])(
    "a Host header %s gives nothing, even with the token",
    async (host) => {
      expect(await get(root(), { host })).toMatchObject({ status: 421, body: "" });
    },
  );

  it("a request of another site gives nothing, even with the token", async () => {
    expect(await get(`${root()}data/index.json`, { "sec-fetch-site": "cross-site" })).toMatchObject({ status: 403, body: "" });
  });

  it.for(["POST", "PUT", "DELETE", "OPTIONS"])("%s changes nothing", async (method) => {
    expect(await get(`${root()}data/index.json`, {}, method)).toMatchObject({ status: 405, body: "" });
  });

  it("serves data by path, packed where the browser unpacks", async () => {
    expect(JSON.parse((await get(`${root()}data/index.json`)).body)).toEqual(index());
    expect((await get(`${root()}data/index.json`, { "accept-encoding": "gzip" })).headers["content-encoding"]).toBe("gzip");
    expect(await get(`${root()}data/scenes/a%20b/pods.json`)).toMatchObject({ status: 200, body: "[]" });
    expect(await get(`${root()}data/scenes/a%20b/past/30.json`)).toMatchObject({ status: 200, body: '{"days":30}' });
    expect(await get(`${root()}data/scenes/a%20b/nodeclaims/c%20d.json`)).toMatchObject({ status: 200, body: "[]" });
  });

  it.for([
    "data/scenes/a/pods.json",
    "data/scenes/%ff/pods.json",
    "data/scenes/a%20b/overview.json",
    "data/scenes/a%20b/pods/x.json",
    "data/scenes/a%20b/past.json",
    "data/scenes/a%20b/past/0.json",
    "data/scenes/a%20b/past/1e9.json",
    "data/scenes/a%20b/past/99999.json",
    "data/scenes/a%20b/nodeclaims.json",
    "data/scenes/a%20b/nodeclaims/%ff.json",
    "data/x",
    "../package.json",
    "%2e%2e/x",
  ])("%s does not exist", async (path) => {
    expect((await get(root() + path)).status).toBe(404);
  });

  it("tells a page of each change while it is open", async () => {
    const response = await fetch(`${view.url}events`);
    const reader = response.body?.getReader();
    const read = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
    expect(await read()).toBe("event: revision\ndata: 1\n\n");
    revision = 2;
    listener();
    expect(await read()).toBe("event: revision\ndata: 2\n\n");
    await reader?.cancel();
  });

  it("a port that is taken is one sentence", async () => {
    const port = Number(new URL(view.url).port);
    await expect(serveView(source, { port })).rejects.toThrow(
      `port ${port} cannot be used (EADDRINUSE); give another one with --port, or leave it out`,
    );
  });

  it("closes while a page is open", async () => {
    const other = await serveView(source);
    const response = await fetch(`${other.url}events`);
    await other.close();
    await expect(fetch(other.url)).rejects.toThrow();
    await response.body?.cancel().catch(() => {});
  });
});
