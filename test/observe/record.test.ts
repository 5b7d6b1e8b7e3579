import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { onlyGet } from "#adapters/kubernetes/read-only.ts";
import { observeCommand } from "#cli/observe/command.ts";
import { reportHtml } from "#cli/observe/html.ts";
import { type Observed, record } from "#cli/observe/record.ts";
import { compared } from "#cli/observe/replay.ts";
import { readTrace } from "#cli/observe/trace-file.ts";
import type { TracedKind } from "#core/insight/observed/trace.ts";
import type { KubernetesObject } from "#core/model/kubernetes.ts";
import { RefusedError } from "#core/ports/errors.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("observe");
const START = Date.parse("2026-11-23T08:00:00Z");

const pod = (name: string, more: object = {}): KubernetesObject =>
  ({
    metadata: { name, namespace: "shop", uid: name, creationTimestamp: "2026-11-23T08:00:00Z", annotations: { password: "hunter2" } },
    spec: {
      containers: [{ name: "c", image: "secret-image", env: [{ name: "TOKEN", value: "hunter2" }], args: ["--token=hunter2"] }],
      ...more,
    },
    status: { phase: "Running" },
  }) as unknown as KubernetesObject;

/** A cluster whose lists are those of a function of the number of looks, on a clock that passes while it sleeps. */
function observed(list: (kind: TracedKind, look: number) => readonly KubernetesObject[], from = START) {
  let [now, looks] = [from, 0];
  const lines: string[] = [];
  const cluster: Observed = {
    ...{ cluster: "prod", regionOf: () => "us-west-2", priceOf: () => () => 0.1, now: () => now, isEnded: () => false },
    list: async (kind) => list(kind, kind === "Pod" ? looks++ : looks),
    sleep: async (ms) => {
      now += ms;
    },
    print: (line) => void lines.push(line),
  };
  return { cluster, lines };
}

const options = (path: string, more: Partial<Parameters<typeof record>[1]> = {}) => ({
  ...{ path, earlier: undefined, everyMs: 15_000, forMs: 60_000 },
  ...more,
});

describe("a recording", () => {
  it("writes what has changed, for its owner alone, and nothing that scheduling does not read", async () => {
    const path = join(folder, "changes.gz");
    const { cluster, lines } = observed((kind, look) => (kind === "Pod" ? [pod("a"), ...(look >= 2 ? [pod("b")] : [])] : []));
    await record(cluster, options(path));
    const { header, entries } = readTrace(path);
    expect([header.cluster, header.region, header.autoscaler]).toEqual(["prod", "us-west-2", "no autoscaler"]);
    expect(entries.map(({ at, put }) => [(at - START) / 1_000, put?.Pod?.map(({ metadata }) => metadata.name)])).toEqual([
      [0, ["a"]],
      [15, undefined],
      [30, ["b"]],
      [45, undefined],
      [60, undefined],
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(gunzipSync(readFileSync(path)).toString()).not.toMatch(/hunter2|secret-image/);
    expect(lines.join("\n")).toContain("nothing is written to the cluster");
  });

  it("says what the report loses by kinds that may not be read", async () => {
    const path = join(folder, "refused.gz");
    const { cluster, lines } = observed((kind) => {
      if (kind === "ReplicaSet") throw new RefusedError("forbidden");
      return [];
    });
    await record(cluster, options(path));
    expect(lines.join("\n")).toMatch(/Not read.*ReplicaSet \(pods of Deployments count one by one/);
    expect(readTrace(path).header.unread).toEqual(["ReplicaSet"]);
  });

  it("goes on when the API server does not answer, and says so once", async () => {
    const path = join(folder, "away.gz");
    const { cluster, lines } = observed((kind, look) => {
      if (kind === "Pod" && (look === 1 || look === 2)) throw new Error("connect ETIMEDOUT");
      return [];
    });
    await record(cluster, options(path));
    expect(readTrace(path).entries.map(({ at }) => (at - START) / 1_000)).toEqual([0, 45, 60]);
    expect(lines.filter((line) => /ETIMEDOUT|answers again/.test(line))).toHaveLength(2);
  });

  it("that was killed is read and gone on with; nothing is counted twice", async () => {
    const path = join(folder, "killed.gz");
    await record(observed((kind) => (kind === "Pod" ? [pod("a")] : [])).cluster, options(path));
    appendFileSync(path, readFileSync(path).subarray(0, 40));
    const earlier = readTrace(path);
    expect(earlier.entries).toHaveLength(5);
    await record(observed((kind) => (kind === "Pod" ? [pod("a"), pod("b")] : []), START + 3_600_000).cluster, options(path, { earlier }));
    const { entries } = readTrace(path);
    expect(entries).toHaveLength(10);
    expect(entries.flatMap(({ put }) => put?.Pod ?? []).map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  });

  it("of a later format, and another file, are refused in a sentence", () => {
    const later = join(folder, "later");
    writeFileSync(later, '{"trace":2}\n{"at":1}\n');
    expect(() => readTrace(later)).toThrow(/format 2, which a later version wrote/);
    const other = join(folder, "other");
    writeFileSync(other, "kind: Pod\n");
    expect(() => readTrace(other)).toThrow(/is no trace/);
    expect(() => readTrace(join(folder, "none"))).toThrow(/there is no trace/);
  });
});

it("an object that cannot be read is left out of the replay and named; the rest is played", async () => {
  const path = join(folder, "odd.trace");
  const odd = {
    metadata: { name: "odd", namespace: "shop", uid: "odd" },
    spec: { containers: [{ resources: { requests: { cpu: "1e1.5" } } }] },
  };
  const header = { trace: 1, cluster: "prod", region: "us-west-2", everyMs: 15_000 };
  const sets = [{ metadata: { name: "r" } }, { metadata: { name: "s" }, spec: { replicas: 2 } }];
  const put = { Pod: [pod("a"), odd, { spec: {} }], ReplicaSet: sets, Else: [{}] };
  writeFileSync(path, [header, { at: START, put }, { at: START + 60_000 }].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const trace = readTrace(path);
  expect(trace.entries[0]?.put?.Pod?.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(trace.leftOut).toEqual([
    "ReplicaSet r: it has no spec",
    "ReplicaSet s: it has no template",
    expect.stringMatching(/^Pod odd: .*"1e1\.5" is not valid/),
    "Pod without a name: it has no name",
  ]);
  const { assumed } = await compared(trace, { settings: {}, apply: [], seed: 1 });
  expect(assumed.join("\n")).toContain("Left out of the trace: ReplicaSet r: it has no spec");
  writeFileSync(path, `${JSON.stringify(header)}\n[1]\n`);
  expect(() => readTrace(path)).toThrow(/line 2: a line has no time/);
});

it("the client of a recording passes on nothing but GET", () => {
  const { send, open } = onlyGet({
    send: async () => ({ status: 200, body: {} }),
    open: async () => ({ status: 200, ended: Promise.resolve(), close: () => {} }),
  });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    expect(() => send({ method, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" })).toThrow(/only reads/);
    expect(() => open({ method, path: "/api/v1/pods" }, () => {}, 1)).toThrow(/only reads/);
  }
  expect(() => send({ method: "GET", path: "/api/v1/pods" })).not.toThrow();
});

it("prints the rights that it needs, all of them reading", async () => {
  const { output } = await observeCommand.run(["--rights"], () => {});
  expect(output).toContain("kind: ClusterRole");
  expect(new Set(output.match(/^ {6}- (get|list|watch|create|update|patch|delete)$/gm))).toEqual(
    new Set(["      - get", "      - list", "      - watch"]),
  );
});

it("options of the other half are refused", async () => {
  await expect(observeCommand.run(["--replay", "x.gz", "--record", "y.gz"], () => {})).rejects.toThrow(/--record is for a recording/);
  await expect(observeCommand.run(["--seed", "2"], () => {})).rejects.toThrow(/--seed is for a replay/);
  await expect(observeCommand.run(["--every", "fast"], () => {})).rejects.toThrow(/--every takes a time/);
});

it("the HTML report is one file that shows any name as text", () => {
  const figures = {
    ...{ span: 3_600_000, dollars: 2, byNodePool: new Map([["<b>spot</b>", 2]]), unpriced: [], moves: 1, unbound: [] },
    ...{
      machines: { mean: 3, most: 4, bought: 2 },
      waits: { pods: 4, p50: 20, p95: 40, most: 50, sum: 100 },
      asked: { cpu: 0.8, memory: 0.5 },
    },
  };
  const header = {
    trace: 1,
    cluster: "<script>alert(1)</script>",
    region: "us-west-2",
    everyMs: 15_000,
    autoscaler: "Karpenter",
    unread: [],
  } as const;
  const observed = { ...figures, dollars: 3, waits: { ...figures.waits, p95: 30 } };
  const html = reportHtml({
    header,
    from: START,
    to: START + 3_600_000,
    looks: 241,
    observed,
    replayed: figures,
    assumed: ["prices & more"],
  });
  expect(html).not.toMatch(/<script|<b>|https?:/);
  expect(html).toContain("&lt;b&gt;spot&lt;/b&gt;");
  expect(html).toContain("What would have been worse: one new pod in twenty waited 10 s longer.");
  expect(html).toContain('<td class="less">−33.3 %</td>');
});
