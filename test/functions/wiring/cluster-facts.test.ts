import { describe, expect, it } from "vitest";
import { clusterFacts } from "#functions/wiring/cluster-facts.ts";
import { recordingLog } from "../../support/fakes.ts";

const HOUR = 3_600_000;

/** A table that several cold starts share, and EKS. */
function world() {
  const documents = new Map<string, { readonly bytes: Uint8Array; readonly version: string }>();
  const state = { now: 0, calls: 0, endpoint: "https://a", eksFails: false, tableFails: false };
  const failing = <T>(fails: boolean, value: T): T => {
    if (fails) throw new Error("out of reach");
    return value;
  };
  const log = recordingLog();
  const coldStart = () =>
    clusterFacts({
      store: {
        getDocument: async (name) => failing(state.tableFails, documents.get(name)),
        putDocument: async (name, bytes, version) => {
          failing(state.tableFails, documents.set(name, { bytes, version }));
        },
      },
      describe: async ({ name, endpoint }) => {
        state.calls += 1;
        return failing(state.eksFails, { name, endpoint: endpoint ?? state.endpoint, caBundle: "Q0E=", serviceCidr: "10.100.0.0/16" });
      },
      log,
      now: () => state.now,
    });
  return { state, coldStart, log };
}

const c1 = { name: "c1", sources: [] };

describe("clusterFacts", () => {
  it("EKS is asked once for all cold starts of an hour", async () => {
    const { state, coldStart } = world();
    const first = await coldStart()(c1);
    state.now = HOUR - 1;
    expect(await coldStart()(c1)).toEqual(first);
    expect(state.calls).toBe(1);
    state.endpoint = "https://b";
    state.now = HOUR;
    expect((await coldStart()(c1)).endpoint).toBe("https://b");
    expect(state.calls).toBe(2);
  });

  it("clusters are kept apart, and changed settings ask EKS again", async () => {
    const { state, coldStart } = world();
    await coldStart()(c1);
    expect((await coldStart()({ ...c1, name: "c2" })).name).toBe("c2");
    expect((await coldStart()({ ...c1, endpoint: "https://given" })).endpoint).toBe("https://given");
    expect(state.calls).toBe(3);
  });

  it("the old description is used while EKS cannot be reached", async () => {
    const { state, coldStart, log } = world();
    const known = await coldStart()(c1);
    Object.assign(state, { now: 2 * HOUR, eksFails: true });
    expect(await coldStart()(c1)).toEqual(known);
    expect(log.errors).toHaveLength(1);
    await expect(coldStart()({ ...c1, name: "c2" })).rejects.toThrow("out of reach");
  });

  it("a failing table only costs a call of EKS", async () => {
    const { state, coldStart } = world();
    state.tableFails = true;
    expect((await coldStart()(c1)).endpoint).toBe("https://a");
  });
});
