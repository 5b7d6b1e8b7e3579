import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { informer } from "#adapters/kubernetes/informer.ts";
import { type ListMemory, listMemory } from "#adapters/kubernetes/list-memory.ts";
import { type FakeOptions, type Fault, fakeApiServer } from "./fake-api-server.ts";

const FINISHED = { fieldSelector: "status.phase!=Succeeded,status.phase!=Failed" };
const pod = (name: string, phase = "Running", labels: Record<string, string> = {}) => ({
  ...{ kind: "Pod", metadata: { name, namespace: "ns", uid: `u-${name}`, labels }, spec: {}, status: { phase } },
});

type Server = ReturnType<typeof fakeApiServer>;

/** A function of one cluster that remembers lists of more than two objects, and a server with `count` pods. */
function open(
  count: number,
  options: {
    readonly memory?: ListMemory;
    readonly cluster?: string;
    readonly quietMs?: number;
    readonly caughtUpFrom?: number;
  } & FakeOptions = {},
) {
  const { memory = listMemory(1_000), cluster = "c1", quietMs = 20, caughtUpFrom, ...server } = options;
  const api = fakeApiServer(server);
  for (let i = 0; i < count; i++) api.put(pod(`p${i}`));
  const reach = { send: api.send, open: api.open, quietMs, ...(caughtUpFrom !== undefined && { caughtUpFrom }) };
  return { api, begin: informer({ memory, cluster, ...reach, longerThan: 2 }) };
}

const sorted = (items: readonly { readonly metadata: { readonly name: string; readonly resourceVersion?: string } }[]) =>
  items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
const there = (api: Server) => sorted(api.all());

describe("list", () => {
  it("a short list is read each time, without a watch", async () => {
    const { api, begin } = open(2);
    for (const want of [2, 1]) {
      expect(await begin().list("Pod")).toHaveLength(want);
      api.remove(pod("p0"));
    }
    expect(api.took()).toEqual(["list", "list"]);
  });

  it("of a long list only the changes are read", async () => {
    const { api, begin } = open(5);
    await begin().list("Pod");
    expect(api.took()).toEqual(["list"]);
    api.put(pod("new"));
    api.put(pod("p0", "Running", { a: "b" }));
    api.remove(pod("p1"));
    expect(sorted(await begin().list("Pod"))).toEqual(there(api));
    expect(api.took().sort()).toEqual(["version", "watch"]);
  });

  it("the first reading follows all pages", async () => {
    const { api, begin } = open(1_201);
    expect(await begin().list("Pod")).toHaveLength(1_201);
    expect(api.took()).toEqual(["list", "page", "page"]);
  });

  it("a reading contains everything that was written before it", async () => {
    const { api, begin } = open(5);
    const { list } = begin();
    for (let i = 0; i < 5; i++) {
      await list("Pod");
      api.put(pod(`own-${i}`));
      expect(sorted(await list("Pod"))).toEqual(there(api));
    }
  });

  it("a pod that has ended leaves the list, though it still exists", async () => {
    const { api, begin } = open(5);
    await begin().list("Pod", FINISHED);
    api.put(pod("p3", "Succeeded"));
    expect(await begin().list("Pod", FINISHED)).toHaveLength(4);
    expect(await begin().list("Pod")).toHaveLength(5);
  });

  it("a list that has become short is forgotten", async () => {
    const { api, begin } = open(3);
    await begin().list("Pod");
    for (const name of ["p0", "p1"]) api.remove(pod(name));
    expect(await begin().list("Pod")).toHaveLength(1);
    api.took();
    await begin().list("Pod");
    expect(api.took()).toEqual(["list"]);
  });

  it("two readings of one invocation each have the state of their own time", async () => {
    const { api, begin } = open(5);
    const { list } = begin();
    await list("Pod");
    api.took();
    const first = list("Pod");
    api.put(pod("between"));
    const second = list("Pod");
    await first;
    expect(sorted(await second)).toEqual(there(api));
    expect(api.took().sort()).toEqual(["version", "version", "watch", "watch"]);
  });

  it.for(["refused", "gone", "gone event", "cut"] satisfies Fault[])(
    "reads everything anew when the watch is %s, and nobody notices",
    async (fault) => {
      const { api, begin } = open(5);
      await begin().list("Pod");
      api.took();
      api.fail(fault);
      api.put(pod("one"));
      api.put(pod("two"));
      const readings = begin();
      expect(sorted(await readings.list("Pod"))).toEqual(there(api));
      await readings.prove();
      expect(api.took().sort()).toEqual(["list", "version", "watch"]);
      api.put(pod("three"));
      expect(sorted(await begin().list("Pod"))).toEqual(there(api));
      expect(api.took().sort()).toEqual(["version", "watch"]);
    },
  );

  it("everything is read again after an hour in which the server has forgotten the version", async () => {
    const { api, begin } = open(5);
    await begin().list("Pod");
    api.put(pod("missed"));
    api.compact();
    expect(sorted(await begin().list("Pod"))).toEqual(there(api));
  });

  it("of 4,000 pods the server has forgotten 100 changes: names and versions are read, and the changed pods by name", async () => {
    const { api, begin } = open(4_000);
    await begin().list("Pod");
    for (let i = 0; i < 98; i++) api.put(pod(`p${i}`, "Running", { a: "b" }));
    api.put(pod("new"));
    api.remove(pod("p3000"));
    api.compact();
    api.took();
    const readings = begin();
    expect(sorted(await readings.list("Pod"))).toEqual(there(api));
    await readings.prove();
    const took = Map.groupBy(api.took(), (name) => name);
    expect(Object.fromEntries([...took].map(([name, { length }]) => [name, length]))).toEqual({
      ...{ version: 2, watch: 2, heads: 2, get: 99 },
    });
  });

  it("a list of which more than a thousand objects have changed is read whole", async () => {
    const { api, begin } = open(2_000);
    await begin().list("Pod");
    for (let i = 0; i < 1_001; i++) api.put(pod(`p${i}`, "Running", { a: "b" }));
    api.compact();
    api.took();
    expect(sorted(await begin().list("Pod"))).toEqual(there(api));
    expect(api.took().sort()).toEqual(["heads", "list", "page", "page", "page", "version", "watch"]);
  });

  it("a pod that changes or goes while the changed ones are read by name is seen as it then is", async () => {
    for (const then of [(api: Server) => api.put(pod("p1", "Succeeded")), (api: Server) => api.remove(pod("p1"))]) {
      const { api, begin } = open(5, { caughtUpFrom: 0 });
      await begin().list("Pod", FINISHED);
      api.put(pod("p1", "Running", { a: "b" }));
      api.compact();
      api.beforeGet(() => then(api));
      expect(sorted(await begin().list("Pod", FINISHED))).toEqual(there(api).filter((name) => !name.startsWith("p1@")));
    }
  });

  it("an event that arrives twice counts once", async () => {
    const { api, begin } = open(5);
    await begin().list("Pod");
    api.fail("twice");
    api.put(pod("one"));
    api.remove(pod("p0"));
    expect(sorted(await begin().list("Pod"))).toEqual(there(api));
  });

  it("lists of two clusters are kept apart", async () => {
    const memory = listMemory(1_000);
    const [one, two] = [open(5, { memory }), open(7, { memory, cluster: "c2" })];
    for (let i = 0; i < 3; i++) {
      for (const { api, begin } of [one, two]) {
        api.put(pod(`more-${i}`));
        expect(sorted(await begin().list("Pod"))).toEqual(there(api));
      }
    }
    expect(one.api.took().filter((name) => name === "list")).toHaveLength(1);
  });

  it("the list that was not read for longest is forgotten when memory is full", async () => {
    const memory = listMemory(10);
    const [one, two, three] = [open(4, { memory }), open(4, { memory, cluster: "c2" }), open(4, { memory, cluster: "c3" })];
    for (const { begin } of [one, two, one, three, one, two]) await begin().list("Pod");
    expect(one.api.took().filter((name) => name === "list")).toHaveLength(1);
    expect(two.api.took()).toEqual(["list", "list"]);
  });
});

describe("prove", () => {
  it("prove settles at once when only short lists were read, or a change has proven the list", async () => {
    const { api, begin } = open(5, { bookmarks: false });
    const readings = begin();
    await readings.list("Pod");
    await readings.prove();
    api.put(pod("last"));
    const again = begin();
    await again.list("Pod");
    api.took();
    await again.prove();
    expect(api.took()).toEqual([]);
  });

  it("prove waits for a bookmark after silence", async () => {
    const { api, begin } = open(5, { lastsMs: 60 });
    await begin().list("Pod");
    api.pass();
    const readings = begin();
    await readings.list("Pod");
    api.took();
    await readings.prove();
    expect(api.took()).toEqual([]);
  });

  it("prove fails when a change arrives after the silence that should have been in the list", async () => {
    const { api, begin } = open(5, { lastsMs: 2_000 });
    await begin().list("Pod");
    api.put(pod("held back"));
    api.fail("held");
    const readings = begin();
    expect(await readings.list("Pod")).toHaveLength(5);
    api.release();
    await expect(readings.prove()).rejects.toMatchObject({
      name: "StaleReadingError",
      message: "pods changed while they were being read; the next run decides again",
    });
    expect(await begin().list("Pod")).toHaveLength(6);
  });

  it("prove and a later reading take turns, so that neither closes the other's watch", async () => {
    const { api, begin } = open(5, { lastsMs: 60 });
    await begin().list("Pod");
    api.pass();
    const early = begin();
    await early.list("Pod");
    api.took();
    const proof = early.prove();
    await Promise.all([proof, begin().list("Pod")]);
    expect(api.took().sort()).toEqual(["version", "watch"]);
  });

  it("prove ignores changes from after the reading", async () => {
    const { api, begin } = open(5, { lastsMs: 300 });
    await begin().list("Pod");
    api.pass();
    const readings = begin();
    await readings.list("Pod");
    api.put(pod("later"));
    await readings.prove();
  });

  it.for([
    { name: "holds when a whole list finds nothing else", late: false },
    { name: "fails when a whole list finds something else", late: true },
  ])("$name, where the server sends no bookmarks", async ({ late }) => {
    const { api, begin } = open(5, { bookmarks: false, lastsMs: 300 });
    await begin().list("Pod");
    if (late) api.put(pod("held back"));
    else api.pass();
    api.fail("held");
    const readings = begin();
    await readings.list("Pod");
    api.took();
    const proof = readings.prove();
    await (late ? expect(proof).rejects.toThrow("changed while they were being read") : proof);
    expect(api.took()).toEqual(["list"]);
  });

  it.for([
    { by: "by its watch", faults: [], options: {} },
    { by: "by the heads of the list", faults: ["gone"] satisfies Fault[], options: { caughtUpFrom: 0 } },
    { by: "by reading the list whole", faults: ["gone"] satisfies Fault[], options: {} },
  ])("prove fails when a later reading finds $by what an earlier one should have had", async ({ faults, options }) => {
    const { api, begin } = open(5, { lastsMs: 2_000, ...options });
    await begin().list("Pod");
    api.put(pod("held back"));
    api.fail("held", ...faults);
    const early = begin();
    await early.list("Pod");
    const late = begin();
    expect(await late.list("Pod")).toHaveLength(6);
    await late.prove();
    await expect(early.prove()).rejects.toThrow("changed while they were being read");
  });

  it("prove still fails for a reading whose list was forgotten since", async () => {
    const memory = listMemory(6);
    const { api, begin } = open(5, { memory, lastsMs: 2_000 });
    await begin().list("Pod");
    api.put(pod("held back"));
    api.fail("held");
    const readings = begin();
    await readings.list("Pod");
    await open(7, { memory, cluster: "c2" }).begin().list("Pod");
    api.release();
    await expect(readings.prove()).rejects.toThrow("changed while they were being read");
  });
});

type Step =
  | { readonly change: "put" | "remove" | "finish" | "pass" | "compact"; readonly index: number }
  | { readonly fault: Fault }
  | { readonly read: "all" };

const change = fc.record({ change: fc.constantFrom("put" as const, "remove", "finish", "pass"), index: fc.nat(12) });
const fault = fc.record({ fault: fc.constantFrom<Fault>("refused", "gone", "gone event", "cut", "twice", "held") });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 1, arbitrary: fc.constant({ change: "compact", index: 0 } as const) },
  { weight: 2, arbitrary: fault },
  { weight: 3, arbitrary: fc.constant({ read: "all" } as const) },
);
const isRunning = ({ status }: { readonly status?: unknown }): boolean => (status as { readonly phase: string }).phase === "Running";

function make(api: Server, what: Exclude<Step, { readonly read: "all" }>): void {
  if ("fault" in what) api.fail(what.fault);
  else if (what.change === "put") api.put(pod(`p${what.index}`));
  else if (what.change === "finish") api.put(pod(`p${what.index}`, "Succeeded"));
  else if (what.change === "remove") api.remove(pod(`p${what.index}`));
  else api[what.change]();
}

it("a reading equals a full list whatever changes or fails, or prove throws", async () => {
  const server = fc.record({ lastsMs: fc.constantFrom(1, 6), bookmarks: fc.boolean(), caughtUpFrom: fc.constantFrom(0, 1_000) });
  await fc.assert(
    fc.asyncProperty(server, fc.array(step, { maxLength: 40 }), async (options, steps) => {
      const { api, begin } = open(6, { ...options, quietMs: 2 });
      for (const what of [...steps, { read: "all" } as const]) {
        if (!("read" in what)) {
          make(api, what);
          continue;
        }
        const readings = begin();
        const items = sorted(await readings.list("Pod", FINISHED));
        const proven = await readings.prove().then(
          () => true,
          () => false,
        );
        if (proven) expect(items).toEqual(sorted(api.all().filter(isRunning)));
      }
    }),
    { numRuns: 100 },
  );
});
