import type { ApiRequest, ApiResponse, ApiStream, OpenStream, Transport } from "#adapters/kubernetes/transport.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { parseFieldSelector, parseLabelSelector } from "#manifests/selectors.ts";

type FakeObject = KubernetesObject & { readonly status?: unknown };

interface Change {
  readonly version: number;
  readonly before: FakeObject | undefined;
  readonly after: FakeObject | undefined;
}

export interface FakeOptions {
  /** How long a watch lasts. */
  readonly lastsMs?: number;
  /** Whether it ends with one. */
  readonly bookmarks?: boolean;
}

/** How the next watch fails. */
export type Fault =
  /** It cannot be opened. */
  | "refused"
  /** HTTP 410. */
  | "gone"
  /** The stream opens and its first event is the 410. */
  | "gone event"
  /** It breaks off after its first event, or at once when there is none. */
  | "cut"
  /** Every event arrives twice. */
  | "twice"
  /** No event arrives before `release`, nor a bookmark at its end. */
  | "held";

const now = (): Promise<void> =>
  new Promise((done) => {
    setImmediate(done);
  });

/**
 * An API server of one kind of objects, in this process: consistent lists in pages, watches from a version with
 * bookmarks, versions that are forgotten. It behaves as a real one does (test/adapters/on-real-server.ts
 * compares), and fails as its options say.
 */
export function fakeApiServer({ lastsMs = 5, bookmarks = true }: FakeOptions = {}) {
  const objects = new Map<string, FakeObject>();
  const history: Change[] = [];
  const asked: ApiRequest[] = [];
  const faults: Fault[] = [];
  const pages = new Map<string, readonly FakeObject[]>();
  let version = 100;
  let forgotten = 0;
  let hold: Promise<void> = Promise.resolve();
  let release = (): void => {};
  let beforeGet = (): void => {};
  let wake: (() => void)[] = [];

  const keyOf = ({ metadata }: FakeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
  const record = (before: FakeObject | undefined, after: FakeObject | undefined): void => {
    history.push({ version, before, after });
    for (const listener of wake) listener();
  };
  const put = (object: FakeObject): FakeObject => {
    version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const before = objects.get(keyOf(stored));
    objects.set(keyOf(stored), stored);
    record(before, stored);
    return stored;
  };
  const remove = (object: FakeObject): void => {
    const before = objects.get(keyOf(object));
    if (before === undefined) return;
    version++;
    objects.delete(keyOf(before));
    record(before, undefined);
  };

  const matching = ({ path, query = {} }: ApiRequest): ((object: FakeObject) => boolean) => {
    const field = parseFieldSelector(query["fieldSelector"] ?? "");
    const label = parseLabelSelector(query["labelSelector"] ?? "");
    const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
    return (object) =>
      field(object) && label(object.metadata.labels ?? {}) && (namespace === undefined || object.metadata.namespace === namespace);
  };

  const send: Transport = async (request): Promise<ApiResponse> => {
    asked.push(request);
    await now();
    const { query = {}, accept = "" } = request;
    const name = namedBy(request);
    if (name !== undefined) {
      beforeGet();
      beforeGet = () => {};
      const named = [...objects.values()].find(({ metadata }) => metadata.name === name);
      return named === undefined ? { status: 404, body: { message: "not found" } } : { status: 200, body: named };
    }
    const token = query["continue"];
    const [read = String(version), from = "0"] = token?.split("/") ?? [];
    if (Number(read) < forgotten) return { status: 410, body: { message: "The provided continue parameter is too old" } };
    const all = pages.get(read) ?? [...objects.values()];
    pages.set(read, all);
    const found = all.filter(matching(request));
    const end = Number(from) + Number(query["limit"] ?? found.length);
    const metadata = { resourceVersion: read, ...(end < found.length && { continue: `${read}/${end}` }) };
    const items = found.slice(Number(from), end);
    return { status: 200, body: { metadata, items: isHeads(accept) ? items.map(({ metadata: head }) => ({ metadata: head })) : items } };
  };

  const open: OpenStream = async (request, onLine): Promise<ApiStream> => {
    asked.push(request);
    const fault = faults.shift();
    const matches = matching(request);
    await now();
    if (fault === "refused") throw new Error("connect ECONNREFUSED");
    let from = Number(request.query?.["resourceVersion"]);
    if (fault === "gone" || from < forgotten) return { status: 410, ended: Promise.resolve(), close: () => {} };
    if (fault === "held") {
      hold = new Promise((done) => {
        release = done;
      });
    }
    let closed = false;
    let timer: NodeJS.Timeout | undefined;
    let over = (): void => {};
    const ended = new Promise<void>((done) => {
      over = done;
    });
    const stop = (): void => {
      closed = true;
      clearTimeout(timer);
      wake = wake.filter((listener) => listener !== tell);
      over();
    };
    const say = (type: string, object: unknown): void => {
      for (let time = 0; time < (fault === "twice" ? 2 : 1) && !closed; time++) onLine(JSON.stringify({ type, object }));
    };
    const tell = (): void => {
      for (const change of history) {
        if (change.version <= from || closed) continue;
        from = change.version;
        const event = eventOf(change, matches);
        if (event === undefined) continue;
        say(...event);
        if (fault === "cut") stop();
      }
    };
    const begin = (): void => {
      if (fault === "gone event") say("ERROR", { code: 410 });
      else tell();
      if (fault === "cut" || fault === "gone event") stop();
      else wake.push(tell);
    };
    const end = (): void => {
      if (bookmarks && fault !== "held") say("BOOKMARK", { metadata: { resourceVersion: String(version) } });
      stop();
    };
    if (fault === "held") {
      timer = setTimeout(end, lastsMs);
      void hold.then(begin);
    } else {
      setImmediate(() => {
        begin();
        if (!closed) timer = setTimeout(end, lastsMs);
      });
    }
    return { status: 200, ended, close: stop };
  };

  return {
    send,
    open,
    put,
    remove,
    /** What was asked for since the last look: "list", "page", "version", "watch", "heads" or "get". */
    took: () => asked.splice(0).map(nameOf),
    /** The next watches fail so, one after the other. */
    fail: (...next: readonly Fault[]) => faults.push(...next),
    release: () => release(),
    /** Runs before the next object is read by name. */
    beforeGet: (body: () => void) => {
      beforeGet = body;
    },
    /** Versions up to now are forgotten, and so are the continuations of lists. */
    compact: () => {
      version++;
      forgotten = version;
    },
    /** Something of another kind changes. */
    pass: () => {
      version++;
    },
    all: (): readonly FakeObject[] => [...objects.values()],
  };
}

function eventOf({ version, before, after }: Change, matches: (object: FakeObject) => boolean): [string, FakeObject] | undefined {
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return [was ? "MODIFIED" : "ADDED", after];
  // The last state that was wanted, at the version of its end.
  return was ? ["DELETED", { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } }] : undefined;
}

const isHeads = (accept: string): boolean => accept.includes("as=PartialObjectMetadataList");
const namedBy = ({ path }: ApiRequest): string | undefined => {
  const [, name] = /\/pods\/([^/]+)$/.exec(path) ?? [];
  return name && decodeURIComponent(name);
};

function nameOf(request: ApiRequest): string {
  const { path, query = {}, accept = "" } = request;
  if (namedBy(request) !== undefined) return "get";
  if (isHeads(accept)) return "heads";
  if (query["watch"] !== undefined) return "watch";
  if (path.includes("nowhere") || query["fieldSelector"]?.includes("nowhere")) return "version";
  return query["continue"] === undefined ? "list" : "page";
}
