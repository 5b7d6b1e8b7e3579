import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import type { CommandRecord } from "#core/model/command-record.ts";
import type { HistoryEntry } from "#core/model/history-entry.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";

/** Opens an empty store for one case. */
export type OpenStore = () => Promise<{ readonly store: NodeClaimStore; readonly close: () => Promise<void> }>;

/** One rule of every store; `run` throws when the store breaks it. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}

export const CLUSTER = "c1";
const MINUTE = 60_000;

export function record(name: string, fields: Partial<NodeClaimRecord> = {}): NodeClaimRecord {
  return {
    schema: 1,
    cluster: CLUSTER,
    name,
    version: 0,
    intentId: `intent-${name}`,
    nodePool: "default",
    manifest: {
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name, labels: { "karpenter.sh/nodepool": "default", empty: "" }, finalizers: [] },
      spec: {
        requirements: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }],
        resources: { requests: { cpu: "1", memory: "1Gi", pods: 3 } },
        nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
      },
    },
    reason: "provisioned",
    createdAt: 1_000,
    podUids: ["u1", "u2"],
    instanceTypes: ["m5.large", "m5.xlarge"],
    pricePerHour: 0.096,
    launchAttempts: 0,
    dueAt: 2_000,
    ...fields,
  };
}

export function command(id: string, fields: Partial<CommandRecord> = {}): CommandRecord {
  return {
    schema: 1,
    cluster: CLUSTER,
    id,
    version: 0,
    method: "single",
    reason: "Underutilized",
    decision: "replace",
    candidates: [],
    replacements: [],
    replacementClaims: [],
    savingsPerHour: 0.1,
    phase: "Validating",
    createdAt: 1,
    since: 1,
    dueAt: 15_001,
    ...fields,
  };
}

/** Bytes of a block cipher's stream, the same for each seed, which no compression makes smaller. */
function noise(seed: number, length: number): Uint8Array {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

const conflicts = (act: Promise<unknown>): Promise<void> => assert.rejects(act, { name: "ConflictError" });
const names = (records: readonly NodeClaimRecord[]): string[] => records.map(({ name }) => name);

/**
 * Runs an act twenty times concurrently; returns the results of those that succeeded and the errors of those that
 * threw.
 */
async function race<T>(act: (i: number) => Promise<T>): Promise<{ readonly won: readonly T[]; readonly lost: readonly unknown[] }> {
  const settled = await Promise.allSettled(Array.from({ length: 20 }, async (_, i) => act(i)));
  return {
    won: settled.flatMap((end) => (end.status === "fulfilled" ? [end.value] : [])),
    lost: settled.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
  };
}

function allConflicts(errors: readonly unknown[]): void {
  for (const error of errors) {
    assert.equal((error as Error).name, "ConflictError", String(error));
  }
}

async function lease(store: NodeClaimStore, holder = "h", now = 0) {
  const held = await store.acquireLease(CLUSTER, holder, now, MINUTE);
  assert.ok(held);
  return held;
}

const REQUEST = { clientToken: "g.1", count: 2, capacityType: "spot", launchTemplates: [], tags: { a: "b" } } as const;

const CASES: Readonly<Record<string, (store: NodeClaimStore) => Promise<void>>> = {
  "create, get and list give back the same record as version 1": async (store) => {
    const made = await store.create(record("a", { version: 7, instance: undefined as never }));
    assert.deepEqual(made.version, 1);
    const { instance: _, ...wanted } = record("a", { version: 1, instance: undefined as never });
    assert.deepEqual(await store.get(CLUSTER, "a"), wanted);
    assert.deepEqual(await store.list(CLUSTER), [wanted]);
  },
  "what is not there is undefined or an empty list": async (store) => {
    assert.equal(await store.get(CLUSTER, "nobody"), undefined);
    assert.deepEqual(await store.list(CLUSTER), []);
    assert.equal(await store.byInstance("i-0"), undefined);
    assert.deepEqual(await store.commands(CLUSTER), []);
    assert.deepEqual(await store.unavailable(CLUSTER, 0), []);
    assert.equal(await store.getDocument("d"), undefined);
    assert.equal(await store.documentVersion("d"), undefined);
  },
  "many members join a launch group at the same time, and joining twice is joining once": async (store) => {
    const { won, lost } = await race((i) => store.joinLaunch(CLUSTER, "g.1", { name: `m-${i % 10}`, alike: "x" }, MINUTE));
    assert.deepEqual([won.length, lost.length], [20, 0]);
    const group = await store.launchGroup(CLUSTER, "g.1");
    assert.deepEqual(
      group?.members,
      Array.from({ length: 10 }, (_, i) => ({ name: `m-${i}`, alike: "x" })),
    );
    assert.deepEqual([group?.cluster, group?.id, group?.expiresAt], [CLUSTER, "g.1", MINUTE]);
    assert.equal(await store.launchGroup(CLUSTER, "g.2"), undefined);
    assert.equal(await store.launchGroup("c2", "g.1"), undefined);
  },
  "one of those who close a launch group wins, and nobody joins it afterwards": async (store) => {
    const open = await store.joinLaunch(CLUSTER, "g.1", { name: "a", alike: "x" }, MINUTE);
    const launch = { request: REQUEST, members: ["a"], requestedAt: 5 };
    const { won, lost } = await race((i) => store.updateLaunchGroup({ ...open, launch: { ...launch, sender: `s-${i}` } }));
    assert.equal(won.length, 1);
    allConflicts(lost);
    assert.deepEqual(await store.joinLaunch(CLUSTER, "g.1", { name: "b", alike: "x" }, 2 * MINUTE), won[0]);
    const [closed] = won;
    assert.ok(closed);
    const instance = { id: "i-1", instanceType: "m5.large", zone: "a", capacityType: "spot", imageId: "ami" } as const;
    const answered = await store.updateLaunchGroup({ ...closed, answer: { instances: { a: instance }, unavailable: [] } });
    assert.deepEqual(await store.launchGroup(CLUSTER, "g.1"), answered);
    await conflicts(store.updateLaunchGroup({ ...closed, isDissolved: true }));
  },
  "a member that joins after the group was read keeps it from being closed as it was": async (store) => {
    const seen = await store.joinLaunch(CLUSTER, "g.1", { name: "a", alike: "x" }, MINUTE);
    await store.joinLaunch(CLUSTER, "g.1", { name: "b", alike: "x" }, MINUTE);
    await conflicts(store.updateLaunchGroup({ ...seen, isDissolved: true }));
    const now = await store.launchGroup(CLUSTER, "g.1");
    assert.ok(now);
    const left = await store.updateLaunchGroup({ ...now, members: [] });
    assert.deepEqual((await store.launchGroup(CLUSTER, "g.1"))?.members, []);
    const again = await store.joinLaunch(CLUSTER, "g.1", { name: "c", alike: "y" }, MINUTE);
    assert.deepEqual([again.members, again.version > left.version], [[{ name: "c", alike: "y" }], true]);
  },
  "create refuses a name that is taken, by whatever intent": async (store) => {
    await store.create(record("a"));
    await conflicts(store.create(record("a")));
  },
  "update grows the version by one and refuses one that is old": async (store) => {
    const first = await store.create(record("a"));
    const second = await store.update({ ...first, launchAttempts: 1 });
    assert.deepEqual([second.version, second.launchAttempts], [2, 1]);
    await conflicts(store.update({ ...first, launchAttempts: 9 }));
    assert.deepEqual(await store.get(CLUSTER, "a"), second);
    const third = await store.update(second);
    assert.equal(third.version, 3);
  },
  "update refuses what was never made or is gone": async (store) => {
    await conflicts(store.update(record("a", { version: 1 })));
    await conflicts(store.update(record("a", { version: 0 })));
    const made = await store.create(record("a"));
    await store.remove(made);
    await conflicts(store.update(made));
  },
  "remove wants the version it was given; gone already is fine": async (store) => {
    const first = await store.create(record("a"));
    const second = await store.update(first);
    await conflicts(store.remove(first));
    assert.ok(await store.get(CLUSTER, "a"));
    await store.remove(second);
    await store.remove(second);
    assert.equal(await store.get(CLUSTER, "a"), undefined);
  },
  "a field that is left out of an update is gone": async (store) => {
    const made = await store.create(record("a", { commandId: "x", uid: "u" }));
    const { commandId: _, ...rest } = made;
    await store.update(rest);
    assert.equal((await store.get(CLUSTER, "a"))?.commandId, undefined);
  },
  "clusters do not see each other, also when one's name starts with the other's": async (store) => {
    await store.create(record("a"));
    await store.create(record("a", { cluster: "c1x", pricePerHour: 5 }));
    await store.markUnavailable("c1x", [{ instanceType: "t", zone: "z", capacityType: "spot", expiresAt: 10 }]);
    assert.deepEqual((await store.list(CLUSTER)).length, 1);
    assert.equal((await store.get("c1x", "a"))?.pricePerHour, 5);
    assert.deepEqual(await store.unavailable(CLUSTER, 0), []);
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 0, 10), true);
    assert.equal(await store.isFirstWithin("c1x", "k", 0, 10), true);
    assert.ok(await store.acquireLease(CLUSTER, "h1", 0, 10));
    assert.ok(await store.acquireLease("c1x", "h2", 0, 10));
  },
  "a long list comes whole and in the order of names": async (store) => {
    const held = await lease(store);
    // More than one megabyte, which is the page size of DynamoDB; the bytes are noise, so that compression does not
    // help.
    const many = Array.from({ length: 900 }, (_, i) =>
      record(`n${String(i).padStart(4, "0")}`, { dueTags: { noise: Buffer.from(noise(i, 1_500)).toString("base64") } }),
    );
    await store.writeIntents(held, many);
    const read = await store.list(CLUSTER);
    assert.deepEqual(names(read), names(many));
    assert.deepEqual(read[899]?.dueTags, many[899]?.dueTags);
  },
  "a large record is kept": async (store) => {
    const instanceTypes = Array.from({ length: 600 }, (_, i) => `type${i}.${i}xlarge`);
    await store.create(record("a", { instanceTypes }));
    assert.deepEqual((await store.get(CLUSTER, "a"))?.instanceTypes, instanceTypes);
  },
  "byInstance finds the record of an instance, in any cluster, and forgets it with the record": async (store) => {
    const made = await store.create(record("a", { cluster: "c9" }));
    assert.equal(await eventually(() => store.byInstance("i-1"), undefined), undefined);
    const launched = await store.update({
      ...made,
      instance: { id: "i-1", instanceType: "m5.large", zone: "z", capacityType: "spot", imageId: "ami-1" },
    });
    assert.deepEqual(await eventually(() => store.byInstance("i-1"), launched), launched);
    await store.remove(launched);
    assert.equal(await eventually(() => store.byInstance("i-1"), undefined), undefined);
  },

  "writeIntents writes all, with version 1": async (store) => {
    await store.writeIntents(await lease(store), [record("a", { version: 3 }), record("b")]);
    assert.deepEqual(
      (await store.list(CLUSTER)).map(({ name, version }) => [name, version]),
      [
        ["a", 1],
        ["b", 1],
      ],
    );
  },
  "writeIntents tells of the intents of each transaction once they are written, and before the next": async (store) => {
    const many = Array.from({ length: 120 }, (_, i) => record(`n${String(i).padStart(3, "0")}`));
    const told: string[] = [];
    await store.writeIntents(await lease(store), many, undefined, [], async (written) => {
      told.push(...names(written));
      assert.deepEqual(names(await store.list(CLUSTER)), told);
      if (told.length === written.length) assert.ok(written.length < many.length);
    });
    assert.deepEqual(told, names(many));
  },
  "writeIntents tells of the same intents when it is repeated": async (store) => {
    const held = await lease(store);
    await store.writeIntents(held, [record("a")]);
    const told: string[] = [];
    await store.writeIntents(held, [record("a"), record("b")], undefined, [], async (written) => void told.push(...names(written)));
    assert.deepEqual(told, ["a", "b"]);
  },
  "writeIntents leaves alone what the same intent made before": async (store) => {
    const held = await lease(store);
    await store.writeIntents(held, [record("a")]);
    const [made] = await store.list(CLUSTER);
    assert.ok(made);
    const moved = await store.update({ ...made, launchAttempts: 4 });
    await store.writeIntents(held, [record("a"), record("b")]);
    await store.writeIntents(held, [record("a"), record("b")]);
    assert.deepEqual(names(await store.list(CLUSTER)), ["a", "b"]);
    assert.deepEqual(await store.get(CLUSTER, "a"), moved);
  },
  "writeIntents refuses a name that another intent took, and writes nothing": async (store) => {
    const held = await lease(store);
    await store.create(record("b", { intentId: "other" }));
    await conflicts(store.writeIntents(held, [record("a"), record("b"), record("c")], command("x")));
    assert.deepEqual(names(await store.list(CLUSTER)), ["b"]);
    assert.deepEqual(await store.commands(CLUSTER), []);
    await conflicts(store.writeIntents(held, [record("d"), record("d", { intentId: "other" })]));
  },
  "writeIntents takes the same intent twice for once": async (store) => {
    await store.writeIntents(await lease(store), [record("a"), record("a")]);
    assert.deepEqual(names(await store.list(CLUSTER)), ["a"]);
  },
  "writeIntents is refused once another has taken the lease": async (store) => {
    const old = await lease(store, "h1", 0);
    const late = await store.acquireLease(CLUSTER, "h2", MINUTE, MINUTE);
    assert.ok(late);
    await conflicts(store.writeIntents(old, [record("a")], command("x")));
    await conflicts(store.createCommand(old, command("x")));
    assert.deepEqual([await store.list(CLUSTER), await store.commands(CLUSTER)], [[], []]);
    await store.writeIntents(late, [record("a")]);
  },
  "writeIntents is refused under an older token of the same holder, one given back, or one never given": async (store) => {
    const first = await lease(store, "h");
    const second = await lease(store, "h");
    await conflicts(store.writeIntents(first, [record("a")]));
    await store.writeIntents(second, [record("a")]);
    await store.releaseLease(second);
    await conflicts(store.writeIntents(second, [record("b")]));
    await conflicts(
      store.writeIntents({ cluster: "nowhere", holder: "h", token: 1, expiresAt: MINUTE }, [record("c", { cluster: "nowhere" })]),
    );
  },
  "writeIntents writes a command with its intents, and once only": async (store) => {
    const held = await lease(store);
    const made = await store.createCommand(held, command("x"));
    const next = { ...made, phase: "Replacing" as const, replacementClaims: ["a"] };
    await store.writeIntents(held, [record("a", { commandId: "x" })], next);
    assert.deepEqual(await store.commands(CLUSTER), [{ ...next, version: 2 }]);
    // The same call again, as after a lost answer.
    await store.writeIntents(held, [record("a", { commandId: "x" })], next);
    assert.deepEqual(await store.commands(CLUSTER), [{ ...next, version: 2 }]);
    await conflicts(store.writeIntents(held, [record("b", { commandId: "x" })], { ...made, phase: "Deleting" }));
    assert.deepEqual(names(await store.list(CLUSTER)), ["a"]);
  },
  "writeIntents makes a command that is new, and writes one without intents": async (store) => {
    const held = await lease(store);
    await store.writeIntents(held, [], command("x"));
    assert.deepEqual(await store.commands(CLUSTER), [command("x", { version: 1 })]);
    await conflicts(store.writeIntents(held, [], command("y", { version: 3 })));
  },
  "writeIntents of nothing still tells that the lease is lost": async (store) => {
    const held = await lease(store);
    await store.writeIntents(held, []);
    await store.releaseLease(held);
    await conflicts(store.writeIntents(held, []));
  },
  "writeIntents takes more than a transaction holds, in order": async (store) => {
    const held = await lease(store);
    const many = Array.from({ length: 205 }, (_, i) => record(`n${String(i).padStart(3, "0")}`));
    await store.create(record("n150", { intentId: "other" }));
    await conflicts(store.writeIntents(held, many, command("x")));
    // The first transaction contains the command and 98 intents; nothing of the conflicting transaction is stored.
    assert.deepEqual(names(await store.list(CLUSTER)), [...names(many.slice(0, 98)), "n150"]);
    assert.equal((await store.commands(CLUSTER)).length, 1);
    await store.remove({ ...record("n150"), version: 1 });
    await store.writeIntents(held, many, command("x"));
    assert.deepEqual(names(await store.list(CLUSTER)), names(many));
  },
  "writeIntents takes more bytes than a transaction holds": async (store) => {
    const held = await lease(store);
    const bulky = (i: number) => record(`n${String(i).padStart(2, "0")}`, { podUids: [Buffer.from(noise(i, 150_000)).toString("base64")] });
    const many = Array.from({ length: 40 }, (_, i) => bulky(i));
    await store.writeIntents(held, many, command("x"));
    assert.deepEqual(names(await store.list(CLUSTER)), names(many));
  },

  "a lease is held until it expires, and its token grows with each holder": async (store) => {
    const first = await store.acquireLease(CLUSTER, "h1", 100, 50);
    assert.deepEqual(first, { cluster: CLUSTER, holder: "h1", token: 1, expiresAt: 150 });
    assert.equal(await store.acquireLease(CLUSTER, "h2", 149, 50), undefined);
    const second = await store.acquireLease(CLUSTER, "h2", 150, 50);
    assert.deepEqual(second, { cluster: CLUSTER, holder: "h2", token: 2, expiresAt: 200 });
    const again = await store.acquireLease(CLUSTER, "h2", 160, 50);
    assert.deepEqual(again, { cluster: CLUSTER, holder: "h2", token: 3, expiresAt: 210 });
  },
  "a renewed lease keeps its token and is held until its new end": async (store) => {
    const first = await store.acquireLease(CLUSTER, "h1", 100, 50);
    assert.ok(first);
    assert.deepEqual(await store.renewLease(first, 120, 50), { ...first, expiresAt: 170 });
    assert.equal(await store.acquireLease(CLUSTER, "h2", 169, 50), undefined);
    // One that has expired is renewed as long as nobody has taken it.
    assert.deepEqual(await store.renewLease(first, 200, 50), { ...first, expiresAt: 250 });
    assert.ok(await store.acquireLease(CLUSTER, "h2", 250, 50));
    assert.equal(await store.renewLease(first, 251, 50), undefined);
    assert.equal(await store.acquireLease(CLUSTER, "h3", 299, 50), undefined);
  },
  "a lease that was given back is not renewed": async (store) => {
    const first = await lease(store, "h1");
    await store.releaseLease(first);
    assert.equal(await store.renewLease(first, 1, 50), undefined);
  },
  "a lease given back is free at once, and the token does not start anew": async (store) => {
    const first = await lease(store, "h1");
    await store.releaseLease(first);
    const second = await store.acquireLease(CLUSTER, "h2", 1, 50);
    assert.equal(second?.token, 2);
    // The lease belongs to another holder: releasing it has no effect.
    await store.releaseLease(first);
    assert.equal(await store.acquireLease(CLUSTER, "h3", 2, 50), undefined);
  },

  "an unavailable offering is one until its time, whatever was deleted by then": async (store) => {
    const spot = { instanceType: "m5.large", zone: "us-west-2a", capacityType: "spot", expiresAt: 200 } as const;
    const cause = { code: "VcpuLimitExceeded", message: "your current vCPU limit of 5" };
    const other = { ...spot, capacityType: "on-demand", expiresAt: 300, cause } as const;
    await store.markUnavailable(CLUSTER, [spot, other]);
    assert.deepEqual(await store.unavailable(CLUSTER, 199), [other, spot]);
    assert.deepEqual(await store.unavailable(CLUSTER, 200), [other]);
    await store.markUnavailable(CLUSTER, [{ ...spot, expiresAt: 400 }]);
    assert.deepEqual(await store.unavailable(CLUSTER, 300), [{ ...spot, expiresAt: 400 }]);
    assert.deepEqual(await store.unavailable(CLUSTER, 400), []);
  },
  "many offerings at once, one of them twice: the last counts": async (store) => {
    const offerings = Array.from({ length: 61 }, (_, i) => ({
      ...{ instanceType: `t${String(i).padStart(2, "0")}`, zone: "z", capacityType: "spot" as const, expiresAt: 200 },
    }));
    await store.markUnavailable(CLUSTER, [
      ...offerings,
      { ...offerings[0], instanceType: "t00", zone: "z", capacityType: "spot", expiresAt: 500 },
    ]);
    assert.equal((await store.unavailable(CLUSTER, 100)).length, 61);
    assert.deepEqual(
      (await store.unavailable(CLUSTER, 200)).map(({ instanceType }) => instanceType),
      ["t00"],
    );
    await store.markUnavailable(CLUSTER, []);
  },

  "commands are versioned as claims are": async (store) => {
    const held = await lease(store);
    const first = await store.createCommand(held, command("x", { version: 9 }));
    assert.deepEqual(first, command("x", { version: 1 }));
    await conflicts(store.createCommand(held, command("x")));
    const second = await store.updateCommand({ ...first, phase: "Replacing" });
    assert.equal(second.version, 2);
    await conflicts(store.updateCommand({ ...first, phase: "Deleting" }));
    assert.deepEqual(await store.commands(CLUSTER), [second]);
    await conflicts(store.removeCommand(first));
    await store.removeCommand(second);
    await store.removeCommand(second);
    assert.deepEqual(await store.commands(CLUSTER), []);
    await conflicts(store.updateCommand(second));
  },

  "a key is seen for the first time once, until it expires": async (store) => {
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 100, 50), true);
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 149, 50), false);
    assert.equal(await store.isFirstWithin(CLUSTER, "other", 149, 50), true);
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 150, 50), true);
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 199, 50), false);
  },

  "a key that was seen is known, until it expires, and asking does not make it seen": async (store) => {
    assert.equal(await store.wasSeen(CLUSTER, "k", 100), false);
    assert.equal(await store.isFirstWithin(CLUSTER, "k", 100, 50), true);
    assert.equal(await store.wasSeen(CLUSTER, "k", 149), true);
    assert.equal(await store.wasSeen("c1x", "k", 149), false);
    assert.equal(await store.wasSeen(CLUSTER, "k", 150), false);
  },

  "a document comes back whole, with its version": async (store) => {
    await store.putDocument("d", new Uint8Array([1, 2, 3]), "v1");
    assert.deepEqual(plain(await store.getDocument("d")), { bytes: [1, 2, 3], version: "v1" });
    assert.equal(await store.documentVersion("d"), "v1");
    await store.putDocument("d", new Uint8Array(0), "v2");
    assert.deepEqual(plain(await store.getDocument("d")), { bytes: [], version: "v2" });
    await store.putDocument("other", new Uint8Array([9]), "w");
    assert.equal(await store.documentVersion("d"), "v2");
  },
  "a document of megabytes, replaced by another, by a small one, and back": async (store) => {
    for (const [version, bytes] of [
      ["v1", noise(1, 1_500_000)],
      ["v2", noise(2, 900_000)],
      ["v3", new Uint8Array([7])],
      ["v4", noise(4, 400_000)],
    ] as const) {
      await store.putDocument("d", bytes, version);
      const read = await store.getDocument("d");
      assert.equal(read?.version, version);
      assert.equal(Buffer.compare(read.bytes, bytes), 0);
    }
  },

  "race: twenty ask for the lease, one gets it": async (store) => {
    const { won } = await race((i) => store.acquireLease(CLUSTER, `h${i}`, 0, MINUTE));
    assert.equal(won.filter((held) => held !== undefined).length, 1);
  },
  "race: twenty update one version, one succeeds": async (store) => {
    const made = await store.create(record("a"));
    // Equal content is no excuse: only one of two writers of the same version may succeed.
    const { won, lost } = await race(() => store.update({ ...made, launchAttempts: 1 }));
    assert.equal(won.length, 1);
    allConflicts(lost);
    assert.equal((await store.get(CLUSTER, "a"))?.version, 2);
  },
  "race: twenty make one name, one succeeds": async (store) => {
    const { won, lost } = await race((i) => store.create(record("a", { intentId: `i${i}` })));
    assert.equal(won.length, 1);
    allConflicts(lost);
  },
  "race: twenty see a key, one is the first": async (store) => {
    const { won } = await race(() => store.isFirstWithin(CLUSTER, "k", 0, 10));
    assert.equal(won.filter((first) => first).length, 1);
  },
  "race: twenty write intents for one name under one lease, one succeeds": async (store) => {
    const held = await lease(store);
    const { won, lost } = await race((i) => store.writeIntents(held, [record("a", { intentId: `i${i}` }), record(`own-${i}`)]));
    assert.equal(won.length, 1);
    allConflicts(lost);
    assert.equal((await store.list(CLUSTER)).length, 2);
  },
  "race: the lease changes hands while twenty write, and no late writer gets through": async (store) => {
    const held = await lease(store, "h1");
    let taken = false;
    const { lost } = await race(async (i) => {
      if (i === 10) {
        await store.acquireLease(CLUSTER, "h2", MINUTE, MINUTE);
        taken = true;
        return;
      }
      const late = taken;
      await store.writeIntents(held, [record(`n${i}`)]);
      assert.equal(late, false, "a writer that began after the change got through");
    });
    allConflicts(lost);
    await conflicts(store.writeIntents(held, [record("z")]));
    assert.equal(await store.get(CLUSTER, "z"), undefined);
  },
  "race: two hundred increments by read, write and try again all count": async (store) => {
    await store.create(record("a"));
    await race(async () => {
      for (let done = 0; done < 10; ) {
        const read = await store.get(CLUSTER, "a");
        assert.ok(read);
        try {
          await store.update({ ...read, launchAttempts: read.launchAttempts + 1 });
          done++;
        } catch (error) {
          allConflicts([error]);
        }
      }
    });
    assert.deepEqual(await store.get(CLUSTER, "a").then((read) => [read?.version, read?.launchAttempts]), [201, 200]);
  },
  "race: readers of a document see one version whole while it is replaced": async (store) => {
    const bytes = (i: number) => noise(i, 450_000);
    await store.putDocument("d", bytes(1), "1");
    const reads = race(async () => {
      const read = await store.getDocument("d");
      assert.ok(read);
      assert.equal(Buffer.compare(read.bytes, bytes(Number(read.version))), 0, `version ${read.version} is torn`);
    });
    for (let i = 2; i < 6; i++) {
      await store.putDocument("d", bytes(i), String(i));
    }
    assert.deepEqual((await reads).lost, []);
  },

  "history comes with each write, in the order of time, and only of its cluster": async (store) => {
    const held = await lease(store);
    await store.writeIntents(held, [record("a"), record("b")], undefined, [gone("a", 10), gone("b", 10)]);
    const made = await store.get(CLUSTER, "a");
    assert.ok(made);
    await store.update(made, [joined("a", "n1", 40)]);
    await store.addHistory([joined("b", "n2", 30), { ...joined("b", "n2", 30), cluster: "c1x" }]);
    const found = await eventually(
      () => store.history(CLUSTER, ALL),
      [gone("a", 10), gone("b", 10), joined("b", "n2", 30), joined("a", "n1", 40)],
    );
    assert.deepEqual(found, [gone("a", 10), gone("b", 10), joined("b", "n2", 30), joined("a", "n1", 40)]);
    assert.deepEqual(names(await store.list(CLUSTER)), ["a", "b"]);
  },
  "history of a range and a subject is narrowed to it, over the end of a day": async (store) => {
    const midnight = Date.parse("2026-03-01T00:00:00Z");
    const entries = [gone("a", midnight - 1), joined("a", "n1", midnight), gone("ab", midnight + 5), joined("ab", "n10", midnight + 6)];
    await store.addHistory(entries);
    const of = async (since: number, until: number, about?: string) =>
      (await store.history(CLUSTER, { since, until, ...(about !== undefined && { about }) })).map(({ at }) => at - midnight);
    await eventually(() => of(midnight - MINUTE, midnight + MINUTE), [-1, 0, 5, 6]);
    assert.deepEqual(await of(midnight - 1, midnight + 6), [-1, 0, 5]);
    assert.deepEqual(await of(midnight, midnight), []);
    assert.deepEqual(await of(midnight - MINUTE, midnight + MINUTE, "nodeclaim/a"), [-1]);
    assert.deepEqual(await of(midnight - MINUTE, midnight + MINUTE, "node/"), [0, 6]);
    assert.deepEqual(await of(midnight - MINUTE, midnight + MINUTE, "node/n1"), [0]);
  },
  "a write that is refused leaves no history": async (store) => {
    const held = await lease(store);
    const first = await store.create(record("a"), [gone("a", 10)]);
    await conflicts(store.create(record("a"), [joined("a", "n1", 20)]));
    const second = await store.update(first);
    await conflicts(store.update(first, [joined("a", "n2", 30)]));
    await conflicts(store.remove(first, [joined("a", "n3", 40)]));
    await store.createCommand(held, command("x"));
    await conflicts(store.updateCommand(command("x", { version: 7 }), [joined("a", "n4", 50)]));
    await conflicts(store.removeCommand(command("x", { version: 7 }), [joined("a", "n5", 60)]));
    await store.acquireLease(CLUSTER, "h2", 2 * MINUTE, MINUTE);
    await conflicts(store.writeIntents(held, [record("b")], undefined, [gone("b", 70), joined("c", "n6", 70)]));
    assert.deepEqual(await eventually(() => store.history(CLUSTER, ALL), [gone("a", 10)]), [gone("a", 10)]);
    assert.deepEqual(second.version, 2);
  },
  "the removal of what is gone already leaves no history": async (store) => {
    const made = await store.create(record("a"));
    await store.remove(made, [gone("a", 10)]);
    await store.remove(made, [gone("a", 20)]);
    assert.equal(await store.get(CLUSTER, "a"), undefined);
    const held = await lease(store);
    const ended = await store.createCommand(held, command("x"));
    await store.removeCommand(ended, [joined("x", "n1", 30)]);
    await store.removeCommand(ended, [joined("x", "n2", 40)]);
    assert.deepEqual(await eventually(() => store.history(CLUSTER, ALL), [gone("a", 10), joined("x", "n1", 30)]), [
      gone("a", 10),
      joined("x", "n1", 30),
    ]);
  },
  "intents that are written again leave the history of the first time": async (store) => {
    const held = await lease(store);
    const made = await store.createCommand(held, command("x"));
    const next = { ...made, phase: "Replacing" as const, replacementClaims: ["a", "b"] };
    await store.writeIntents(held, [record("a")], next, [joined("x", "n0", 10), gone("a", 10)]);
    // The second run of a decision, later: what exists stays as it is, and what is missing is written.
    await store.writeIntents(held, [record("a"), record("b")], next, [joined("x", "n0", 90), gone("a", 90), gone("b", 90)]);
    const wanted = [joined("x", "n0", 10), gone("a", 10), gone("b", 90)];
    const sorted = async () => (await store.history(CLUSTER, ALL)).toSorted((a, b) => a.at - b.at || (a.type > b.type ? -1 : 1));
    const inOrder = wanted.toSorted((a, b) => a.at - b.at || (a.type > b.type ? -1 : 1));
    assert.deepEqual(await eventually(sorted, inOrder), inOrder);
  },
  "a hundred intents with their history are written": async (store) => {
    const many = Array.from({ length: 100 }, (_, i) => record(`n${i}`));
    await store.writeIntents(
      await lease(store),
      many,
      undefined,
      many.map(({ name }, i) => gone(name, i)),
    );
    assert.equal((await store.list(CLUSTER)).length, 100);
    const count = async () => (await store.history(CLUSTER, ALL)).length;
    assert.equal(await eventually(count, 100), 100);
  },
  "of several draws from a bucket of requests that saw the same state, one is written": async (store) => {
    const first = { version: 0, tokens: 44.5, countedAt: 1_790_000_000_123, share: 0.9, sharedAt: 0, toldUntil: 0 };
    assert.deepEqual(await store.swapPace("own/us-west-2/CreateFleet", { ...first, version: 3 }), "nothing");
    assert.equal(await store.swapPace("own/us-west-2/CreateFleet", first), undefined);
    assert.deepEqual(await store.swapPace("own/us-west-2/CreateFleet", first), { ...first, version: 1 });
    const answers = await Promise.all(
      [41, 42, 43].map((tokens) => store.swapPace("own/us-west-2/CreateFleet", { ...first, version: 1, tokens })),
    );
    assert.equal(answers.filter((answer) => answer === undefined).length, 1);
    const [winner] = answers.flatMap((answer, i) => (answer === undefined ? [[41, 42, 43][i]] : []));
    for (const answer of answers) if (answer !== undefined) assert.deepEqual(answer, { ...first, version: 2, tokens: winner });
    assert.equal(await store.swapPace("own/us-west-2/DescribeInstances", first), undefined);
    assert.equal(await store.swapPace("123456789012/us-west-2/CreateFleet", { ...first, tokens: -3.25 }), undefined);
  },
  "an entry of the same key replaces the first": async (store) => {
    await store.addHistory([gone("a", 10)]);
    await store.addHistory([gone("a", 20)]);
    assert.deepEqual(await eventually(() => store.history(CLUSTER, ALL), [gone("a", 20)]), [gone("a", 20)]);
  },
};

const ALL = { since: 0, until: 1_000 };

/** The end of a NodeClaim. */
const gone = (nodeClaim: string, at: number): HistoryEntry => ({
  ...{ type: "Removed", cluster: CLUSTER, at, nodeClaim, intent: "1", nodePool: "default", reason: "expired", terminatingAt: 1 },
});

const joined = (nodeClaim: string, node: string, at: number): HistoryEntry => ({
  ...{ type: "Registered", cluster: CLUSTER, at, nodeClaim, intent: "1", nodePool: "default", node },
});

/**
 * The contract of every NodeClaimStore. It uses no test runner: vitest makes each case a test, and a script runs them
 * in turn.
 */
export function nodeClaimStoreContract(name: string, open: OpenStore): readonly ContractCase[] {
  return casesOnTables(name, CASES, open);
}

/** Cases, each with a table of its own, which is closed behind it. */
export function casesOnTables<S>(
  name: string,
  cases: Readonly<Record<string, (store: S) => Promise<void>>>,
  open: () => Promise<{ readonly store: S; readonly close: () => Promise<void> }>,
): readonly ContractCase[] {
  return Object.entries(cases).map(([title, run]) => ({
    name: `${name}: ${title}`,
    run: async () => {
      const { store, close } = await open();
      try {
        await run(store);
      } finally {
        await close();
      }
    },
  }));
}

const plain = (document: { readonly bytes: Uint8Array; readonly version: string } | undefined) =>
  document && { ...document, bytes: [...document.bytes] };

/** Reads again for up to two seconds until the answer is the expected one, because an index may lag. */
async function eventually<T>(read: () => Promise<T>, wanted: T): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const got = await read();
    if (JSON.stringify(got) === JSON.stringify(wanted) || attempt === 40) {
      return got;
    }
    await new Promise((done) => {
      setTimeout(done, 50);
    });
  }
}
