import { afterEach, describe, expect, it } from "vitest";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import { embeddedTable } from "#adapters/store/table-embedded.ts";
import { advanceCommand } from "#core/disruption/command/advance-command.ts";
import { orphanInstances } from "#core/lifecycle/garbage-collection.ts";
import type { Instance } from "#core/model/instance.ts";
import { claimRecordProblem, readCommand } from "#core/model/read-record.ts";
import { claimsByProviderId } from "#functions/shared/claims-by-provider-id.ts";
import type { Lab } from "#lab/host.ts";
import { command, record } from "../contracts/node-claim-store/contract.ts";
import { NODE_CLASS } from "../simulation/story.ts";
import { alive, INFLATE, ids, MINUTE, POOL, pass, ready, records, runningPods, scale } from "../support/lab-story.ts";

describe("records of another version", () => {
  it.for([
    { name: "a record of this version", stored: record("a"), problem: undefined },
    { name: "a record with fields that are not known yet", stored: { ...record("a"), later: { x: 1 } }, problem: undefined },
    { name: "a record of a newer schema", stored: { ...record("a"), schema: 3 }, problem: /newer version wrote it \(schema 3/ },
    { name: "a record without its pods", stored: { ...record("a"), podUids: undefined }, problem: /podUids is missing/ },
    { name: "a record without its NodeClaim", stored: { ...record("a"), manifest: {} }, problem: /manifest.metadata is missing/ },
    { name: "a record whose instance is a text", stored: { ...record("a"), instance: "i-1" }, problem: /instance is missing or is no obj/ },
    { name: "a record with a time beyond all dates", stored: { ...record("a"), launchedAt: 1e300 }, problem: /launchedAt is/ },
    { name: "a record of another NodeClaim", stored: record("b"), problem: /names another NodeClaim/ },
    { name: "a record of another cluster", stored: { ...record("a"), cluster: "c2" }, problem: /names another NodeClaim/ },
    { name: "no object", stored: [], problem: /no object/ },
  ])("$name", ({ stored, problem }) => {
    expect(claimRecordProblem(stored, { cluster: "c1", name: "a" })).toEqual(
      problem === undefined ? undefined : expect.stringMatching(problem),
    );
  });

  it("fields that are not known survive a write", async () => {
    const store = embeddedNodeClaimStore();
    const made = await store.create({ ...record("a"), ...{ later: { x: 1 } } });
    await store.update({ ...made, dueAt: 5 });
    expect(await store.get("c1", "a")).toMatchObject({ later: { x: 1 }, dueAt: 5, schema: 1 });
    store.close();
  });

  it.for([
    { name: "an unknown phase", stored: { ...command("k"), phase: "Pausing" } },
    { name: "a newer schema", stored: { ...command("k"), schema: 3 } },
    { name: "a replacement without requirements", stored: { ...command("k"), replacements: [{ nodePool: "default" }] } },
    { name: "the name of another command", stored: command("j") },
  ])("a command with $name is neither advanced nor removed, and keeps its candidates", ({ stored }) => {
    const candidate = { nodeClaim: "c", node: "n", pods: [] };
    const read = readCommand({ ...stored, candidates: [candidate, 7] }, { cluster: "c1", id: "k" });
    expect(read).toMatchObject({ phase: "SetAside", id: "k", candidates: [candidate] });
    expect(
      advanceCommand(read, {
        commands: [read],
        records: [],
        snapshot: { pods: [], nodes: [], nodeClaims: [], nodePools: [], podDisruptionBudgets: [] },
      } as never),
    ).toEqual({ actions: [] });
  });

  it("the instance of a NodeClaim whose record cannot be read is no garbage", () => {
    const instance = { id: "i-1", state: "running", launchedAt: 0, tags: { "karpenter.sh/nodeclaim": "a" } } as unknown as Instance;
    const inventory = { records: [], claims: [], nodes: [], instances: [instance], now: 60 * MINUTE };
    expect(orphanInstances(inventory).ended).toHaveLength(1);
    expect(orphanInstances({ ...inventory, unreadable: new Set(["a"]) }).ended).toEqual([]);
  });
});

describe("one record that cannot be read", () => {
  let lab: Lab | undefined;
  afterEach(() => lab?.close());

  it.for([
    { name: "without a field", damage: { podUids: undefined } },
    { name: "of a newer version", damage: { schema: 3 } },
  ])("$name stops neither provisioning nor disruption, keeps its machine, and is told", async ({ damage }) => {
    lab = await ready([NODE_CLASS, POOL, INFLATE]);
    scale(lab, 3);
    await pass(lab, 3 * MINUTE);
    const [first] = await records(lab);
    if (first) await lab.deps.store.update({ ...first, ...damage } as never);
    const before = ids(lab);
    scale(lab, 40);
    await pass(lab, 3 * MINUTE);
    expect(runningPods(lab)).toBe(40);
    scale(lab, 0);
    await pass(lab, 20 * MINUTE);
    expect(alive(lab).map(({ instance }) => instance.id)).toEqual(before);
    expect(lab.world.events.filter(({ reason }) => reason === "Unreadable").map(({ about }) => about.metadata.name)).toContain(first?.name);
  });
});

it("a record that has lost its instance, as an older copy of the table has, launches no second machine", async () => {
  const lab = await ready([NODE_CLASS, POOL, INFLATE]);
  scale(lab, 3);
  await pass(lab, 3 * MINUTE);
  const before = ids(lab);
  for (const { instance: _, launchedAt: __, initializedAt: ___, ...older } of await records(lab)) await lab.deps.store.update(older);
  await pass(lab, 5 * MINUTE);
  expect(ids(lab)).toEqual(before);
  expect((await records(lab)).map(({ instance }) => instance?.id)).toEqual(before);
  scale(lab, 6);
  await pass(lab, 5 * MINUTE);
  expect(runningPods(lab)).toBe(6);
  lab.close();
});

describe("the limits of DynamoDB, which the embedded store keeps", () => {
  const store = embeddedNodeClaimStore();
  const noise = Array.from({ length: 160_000 }, (_, i) => ((i * 2_654_435_761) % 4_294_967_296).toString(36)).join("");
  it.for([
    { name: "a sort key of more than 1,024 bytes", act: () => store.isFirstWithin("c1", "ü".repeat(513), 0, 1) },
    { name: "an empty sort key", act: () => store.isFirstWithin("c1", "", 0, 1) },
    { name: "a partition key of more than 2,048 bytes", act: () => store.isFirstWithin("c".repeat(2_050), "k", 0, 1) },
    { name: "an empty index key", act: () => store.byInstance("") },
    { name: "a name of more than 1,024 bytes", act: () => store.create(record("n".repeat(1_025))) },
    { name: "a due time that is no number", act: () => store.create(record("never", { dueAt: Number.POSITIVE_INFINITY })) },
    {
      name: "an offering without an end",
      act: () => store.markUnavailable("c1", [{ capacityType: "spot", instanceType: "m5.large", zone: "z", expiresAt: Number.NaN }]),
    },
    { name: "a document whose name has more than 2,048 bytes", act: () => store.putDocument("n".repeat(2_050), new Uint8Array(), "1") },
    { name: "an item of more than 400 KB", act: () => store.create(record("big", { podUids: [noise] })) },
  ])("refused: $name", async ({ act }) => {
    await expect(act()).rejects.toThrow(/ValidationException/);
  });

  it("refused: a transaction of more than 100 items or 4 MB", async () => {
    const table = embeddedTable();
    const writes = (count: number, of: string) =>
      Array.from({ length: count }, (_, i) => ({ put: { pk: "p", sk: `s${i}`, record: table.pack(of) } }));
    expect(await table.transact(writes(100, "x"))).toBeUndefined();
    await expect(table.transact(writes(101, "x"))).rejects.toThrow(/ValidationException: a transaction of 101 items/);
    const most = noise.slice(0, 400_000);
    expect(await table.transact(writes(2, most))).toBeUndefined();
    await expect(table.transact(writes(19, most))).rejects.toThrow(/ValidationException: the items of a transaction have/);
  });

  it("refused: a transaction or a batch that names one item twice", async () => {
    const table = embeddedTable();
    const twice = [{ put: { pk: "p", sk: "s" } }, { put: { pk: "p", sk: "s" } }];
    await expect(table.transact(twice)).rejects.toThrow(/ValidationException: a transaction names one item twice/);
    await expect(table.batchWrite(twice)).rejects.toThrow(/ValidationException: a batch names one item twice/);
  });

  it.for(["aws:///us-west-2a/", "", `aws:///us-west-2a/${"i".repeat(3_000)}`])(
    "a node of providerID %s fails no delivery of signals",
    async (providerId) => {
      const signals = [{ kind: "node-changed", cluster: "c1", providerId }] as never;
      expect([...(await claimsByProviderId(signals, store))]).toEqual([]);
    },
  );
});
