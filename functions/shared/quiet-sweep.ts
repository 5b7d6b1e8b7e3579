import { createHash } from "node:crypto";
import { readDocument } from "#adapters/store/read-document.ts";
import type { Kubernetes } from "#core/ports/kubernetes.ts";
import { VERSION } from "#settings/version.ts";
import { lastActivity } from "./active-store.ts";
import type { ClusterDeps } from "./cluster-deps.ts";

/**
 * A sweep that would decide what the last one has decided ends at once (docs/decisions/0024-quiet-sweeps.md).
 *
 * The last sweep that found nothing to do has left in the table what it asked the API server and EC2, and a digest of
 * each answer. The next one asks the same, and ends when the answers, the records and the settings are the same and no
 * time has come that the last one waited for. It writes nothing, so a wrong end costs a minute, and at most
 * MAX_QUIET_MS when the table has changed unseen.
 */

/** After this time a sweep looks at everything, whatever it remembers, ms: time alone may have changed something. */
const MAX_QUIET_MS = 10 * 60_000;

/**
 * How long before a sweep the table's last change must be, ms. A process marks the cluster as active at most 20 s
 * before a write, and the write takes seconds.
 */
const SETTLED_MS = 60_000;

/** Something that a sweep asked, and what the answer was. */
interface Seen {
  readonly port: "kubernetes" | "fleet";
  readonly method: string;
  readonly args: readonly unknown[];
  readonly digest: string;
}

interface Memory {
  readonly version: string;
  readonly settings: string;
  /** The mark of the table's last change, ms since the epoch. */
  readonly activity: number;
  /** When it was written, and until when it holds, ms since the epoch. */
  readonly at: number;
  readonly until: number;
  readonly seen: readonly Seen[];
}

/** The ports that a sweep asks, and is remembered by. */
interface AskedPorts {
  readonly kubernetes: object;
  readonly fleet?: object;
}

type SweepDeps = ClusterDeps & AskedPorts;

/** What a sweep that has nothing to do waits for. */
export interface Quiet {
  /** When time alone changes what is decided, ms since the epoch. */
  readonly until: number;
  /** What its outcome depends on, where that is less than what it asked: lists, and what they hold. */
  readonly dependsOn?: readonly { readonly list: Parameters<Kubernetes["list"]>; readonly items: readonly object[] }[];
}

/**
 * Runs a sweep unless it would decide what the last one has decided.
 * @param fn name of the function
 * @param whole the sweep; undefined when it has decided something, or cannot say what it waits for
 */
export async function unlessQuiet<D extends SweepDeps>(fn: string, deps: D, whole: (deps: D) => Promise<Quiet | undefined>): Promise<void> {
  const { cluster, store, log, now, settings } = deps;
  if (!settings.quietSweeps) return void (await whole(deps));
  const [memory, activity] = await Promise.all([readMemory(fn, deps), lastActivity(cluster.name, store)]);
  const identity = { version: VERSION, settings: digestOf(settings), activity };
  if (memory !== undefined && isUsable(memory, identity, now()) && (await isAsBefore(memory.seen, deps))) {
    log.debug("nothing has changed since the last sweep", {
      controller: fn,
      cluster: cluster.name,
      seconds: Math.round((now() - memory.at) / 1_000),
    });
    return;
  }
  const at = now();
  const recorder = recording(deps);
  const quiet = await whole(recorder.deps);
  if (quiet === undefined || recorder.hasWritten() || at - activity < SETTLED_MS) return;
  if ((await lastActivity(cluster.name, store)) !== activity) return;
  const until = Math.min(quiet.until, recorder.until(), at + MAX_QUIET_MS);
  if (until <= now()) return;
  const seen = quiet.dependsOn?.map(seenList) ?? recorder.seen();
  if (seen.length === 0) return;
  const remembered: Memory = { ...identity, at, until, seen };
  await store.putDocument(documentOf(fn, cluster.name), new TextEncoder().encode(JSON.stringify(remembered)), String(at));
}

const documentOf = (fn: string, cluster: string): string => `quiet/${fn}/${cluster}`;

async function readMemory(fn: string, deps: ClusterDeps): Promise<Memory | undefined> {
  const reading = { name: documentOf(fn, deps.cluster.name), what: "What the last sweep saw", parse: parsed };
  return (await readDocument(deps, reading))?.value;
}

function parsed(bytes: Uint8Array): Memory | undefined {
  const read = JSON.parse(new TextDecoder().decode(bytes)) as Memory;
  return Number.isFinite(read.at) && Number.isFinite(read.until) && Array.isArray(read.seen) ? read : undefined;
}

function isUsable(
  memory: Memory,
  { version, settings, activity }: Pick<Memory, "version" | "settings" | "activity">,
  now: number,
): boolean {
  const isSame = memory.version === version && memory.settings === settings && memory.activity === activity;
  // A clock that was wrong when it was written, or is wrong now, makes it unusable.
  return isSame && memory.at <= now && now < memory.until && memory.until <= memory.at + MAX_QUIET_MS;
}

async function isAsBefore(seen: readonly Seen[], deps: SweepDeps): Promise<boolean> {
  const same = await Promise.all(
    seen.map(async ({ port, method, args, digest }) => {
      const ask = (deps[port] as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>> | undefined)?.[method];
      return ask !== undefined && digestOf(await ask(...args)) === digest;
    }),
  );
  return same.every(Boolean);
}

const seenList = ({ list, items }: NonNullable<Quiet["dependsOn"]>[number]): Seen => ({
  ...{ port: "kubernetes", method: "list", args: list },
  digest: digestOf(items),
});

const KUBERNETES_READS = new Set(["get", "list", "version"]);
const KUBERNETES_REPORTS = new Set(["publish"]);
const FLEET_READS = new Set(["list", "describe", "impaired"]);
const FLEET_CLEANUPS = new Set(["removeLaunchTemplates"]);
/** Neither of them changes what a sweep decides. */
const STORE_REPORTS = new Set(["isFirstWithin", "acquireLease", "renewLease", "releaseLease", "addHistory"]);
const STORE_READS = new Set(["get", "list", "byInstance", "unavailable", "commands", "documentVersion", "getDocument", "history"]);

/** Documents that only tell why nodes stay (the history), or when the next pass is due. */
const TOLD = ["stays/", "disruption-next/"];

/** The ports, which note what is asked and whether anything is written or anybody is woken. */
function recording<D extends SweepDeps>(deps: D) {
  const seen = new Map<string, Seen>();
  let until = Number.POSITIVE_INFINITY;
  let hasWritten = false;
  const asked =
    (port: Seen["port"], reads: ReadonlySet<string>, reports: ReadonlySet<string>) =>
    (method: string, args: readonly unknown[], answer: unknown): void => {
      if (reads.has(method)) seen.set(JSON.stringify([port, method, args]), { port, method, args, digest: digestOf(answer) });
      else if (!reports.has(method)) hasWritten = true;
    };
  const ofStore = (method: string, args: readonly unknown[], answer: unknown): void => {
    if (method === "putDocument" && TOLD.some((name) => String(args[0]).startsWith(name))) return;
    if (method === "unavailable")
      for (const { expiresAt } of answer as readonly { readonly expiresAt: number }[]) until = Math.min(until, expiresAt);
    if (!STORE_READS.has(method) && !STORE_REPORTS.has(method)) hasWritten = true;
  };
  const ofQueues = (_method: string, [wakeUps]: readonly unknown[]): void => {
    // The time that a pass waits for is told by the pass, too.
    const isOther = ({ kind, cause }: { readonly kind: string; readonly cause?: string }): boolean =>
      kind !== "disruption" || cause !== "Due";
    if ((wakeUps as readonly { readonly kind: string }[]).some(isOther)) hasWritten = true;
  };
  return {
    deps: {
      ...deps,
      kubernetes: heard(deps.kubernetes, asked("kubernetes", KUBERNETES_READS, KUBERNETES_REPORTS)),
      ...(deps.fleet && { fleet: heard(deps.fleet, asked("fleet", FLEET_READS, FLEET_CLEANUPS)) }),
      store: heard(deps.store, ofStore),
      wakeUps: heard(deps.wakeUps, ofQueues),
    } as D,
    seen: (): readonly Seen[] => [...seen.values()],
    until: () => until,
    hasWritten: () => hasWritten,
  };
}

/** The same port; `hear` is told each call and its answer. A call that fails is told without one. */
function heard<T extends object>(port: T, hear: (method: string, args: readonly unknown[], answer: unknown) => void): T {
  const methods = Object.entries(port).filter(([, method]) => typeof method === "function") as readonly [
    string,
    (...args: unknown[]) => Promise<unknown>,
  ][];
  const wrapped = methods.map(([name, method]) => {
    const call = async (...args: unknown[]): Promise<unknown> => {
      const answer = await method(...args).catch((error: unknown) => {
        hear(name, args, error);
        throw error;
      });
      hear(name, args, answer);
      return answer;
    };
    return [name, call] as const;
  });
  return { ...port, ...Object.fromEntries(wrapped) };
}

/**
 * Digests of single objects. A list that is remembered while the function is warm has the same objects in each reading,
 * so that only those that have changed are looked at.
 */
const known = new WeakMap<object, number>();

/** A name of an answer by its content: of a list by its items, in whatever order. */
function digestOf(answer: unknown): string {
  if (!Array.isArray(answer)) return answer === undefined ? "none" : digestOfOne(answer).toString(36);
  let sum = 0;
  for (const item of answer) sum = (sum + digestOfOne(item)) % MODULUS;
  return `${answer.length}/${sum.toString(36)}`;
}

const DIGEST_BYTES = 6;
const MODULUS = 2 ** (8 * DIGEST_BYTES);

function digestOfOne(value: unknown): number {
  if (typeof value !== "object" || value === null) return hash(JSON.stringify(value));
  const found = known.get(value);
  if (found !== undefined) return found;
  const digest = hash(JSON.stringify(value, withoutVersions));
  known.set(value, digest);
  return digest;
}

const hash = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, DIGEST_BYTES);

/** What changes without a change: versions of objects, who wrote which field, and the heartbeats of nodes. */
const IGNORED = new Set(["resourceVersion", "managedFields", "lastHeartbeatTime", "lastProbeTime"]);
const withoutVersions = (key: string, value: unknown): unknown => (IGNORED.has(key) ? undefined : value);
