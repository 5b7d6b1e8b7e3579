import { setTimeout as sleep } from "node:timers/promises";
import { type Random, random } from "../../conformance/generate/random.ts";
import { apply, applyPool, deployment, manifest, pdb, quickly, reset, scale, unlimited } from "../arrange.ts";
import { STACK } from "../deployment.ts";
import { type AskHistory, askHistory, expectReasons, toldCost } from "../history.ts";
import { alive, gone, LONG, list, MINUTE, type Thing } from "../observe.ts";
import { check, count, expect, figure } from "../report.ts";
import { invokeFunction } from "../support/deploy.ts";
import { killInvocations } from "../support/killer.ts";
import { eventually } from "../support/wait.ts";
import type { E2eWorld } from "../world.ts";

/** How long the trouble lasts: TROUBLE_MINUTES. */
const MINUTES = Number(process.env["TROUBLE_MINUTES"] ?? 15);
/** Between two troubles, ms. */
const STEP_MS = 15_000;
const SWEEP_EVERY_MS = 10_000;
/** One process in so many minutes dies. */
const KILLS_A_MINUTE = 1;
/** A pod that waits so long has been seen by a pass. */
const SEEN_AFTER_MS = 90_000;

const APPS = ["web", "api", "batch"] as const;

/**
 * Trouble for a quarter of an hour or as long as TROUBLE_MINUTES says: pods come and go, spot notices, crashes,
 * launches that fail, deleted NodeClaims, killed functions and a pod that fits nowhere. Afterwards `why`, `history`
 * and `report` are asked about each machine that ended and each pod that waited.
 */
export async function troubleStory(world: E2eWorld): Promise<void> {
  const source = random("an hour of trouble");
  const from = Date.now();
  const before = new Set(world.fake.state.instances.keys());
  await world.registerWebhook();
  await check("a NodePool on demand becomes Ready, and one of spot for two of three Deployments", async () => {
    await applyPool(world, "default", quickly, unlimited);
    const spot = manifest("spot").split("\n---\n")[0] ?? "";
    const named = unlimited(quickly(spot)).replace("name: default\nspec:", "name: spot\nspec:\n  weight: 10");
    await apply(world, named);
    await world.cluster.kubectl("wait", "--for=condition=Ready", "nodepool/spot", `--timeout=${LONG / 1_000}s`);
    for (const app of APPS) await apply(world, onPool(deployment(app, 0), app === "api" ? "default" : "spot"));
    await apply(world, pdb("web", { maxUnavailable: 1 }));
    await apply(world, onPool(deployment("stuck", 2), undefined, { team: "blue" }));
  });
  const waited = new Map<string, number>();
  await check(`${MINUTES} minutes of trouble`, async () => {
    let isOver = false;
    const enough = (): boolean => isOver;
    const sweeping = ["provision", "lifecycle", "disruption"].map((name) => sweepOften(world, name, enough));
    const watching = watchPods(world, waited, enough);
    const killing = killInvocations(world.ministack, {
      random: source,
      most: Math.ceil(MINUTES * KILLS_A_MINUTE),
      enough,
      mayDie: (_, dead) => dead.length < ((Date.now() - from) / MINUTE) * KILLS_A_MINUTE,
    });
    killing.catch(() => {});
    const done = new Map<string, number>();
    try {
      while (Date.now() - from < MINUTES * MINUTE) {
        const what = await disturb(world, source);
        done.set(what, (done.get(what) ?? 0) + 1);
        await sleep(STEP_MS);
      }
    } finally {
      isOver = true;
      await Promise.all([...sweeping, watching]);
    }
    for (const [what, times] of done) count(what, times);
    count("functions killed", (await killing).length);
  });
  await check("the end: two pods of each Deployment run, the two that fit nowhere wait", async () => {
    world.fake.faults.clear();
    for (const app of APPS) await scale(world, app, 2);
    await eventually(
      "six pods run",
      async () => {
        const { items } = await world.cluster.get<{ items: readonly Thing[] }>("/api/v1/namespaces/default/pods");
        const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        return living.length === 8 && living.filter(({ status }) => status?.phase === "Running").length === 6;
      },
      { timeoutMs: LONG, everyMs: 1_000 },
    );
  });
  const ask = askHistory(world);
  await check("each machine that ended has one end with its reason, by history and by why", async () => {
    const ended = await expectReasons(world, ask, { before, since: from, whys: Number.POSITIVE_INFINITY });
    count("machines that ended", ended);
  });
  await check("each pod that waited for long has its sentence", () => expectWaits(ask, waited));
  await check("each node that runs says why it stays, and what would free it", async () => {
    // Why nodes stay is written every five minutes at most, and a node may still be on its way out.
    await eventually(
      "each node has its reason",
      async () => {
        for (const { metadata } of await list(world, "nodes")) {
          const text = await ask("why", `node/${metadata.name}`);
          if (!/stays \(as of [^)]*\): \S.*what would free it: \S/.test(text)) throw new Error(`${metadata.name}: ${text.slice(-300)}`);
        }
        return true;
      },
      { timeoutMs: LONG, everyMs: 5_000 },
    );
  });
  await check("what the history costs in the table", async () => {
    const { entries, bytes, writes } = await toldCost(world);
    const machines = [...world.fake.state.instances.keys()].filter((id) => !before.has(id)).length;
    count("machines launched", machines);
    count("entries of the history", entries);
    count("bytes of an entry, on average", Math.round(bytes / entries));
    count("write units of an entry, at most (transaction)", Math.round((100 * writes) / entries) / 100);
    count("entries of a machine that came", Math.round((10 * entries) / machines) / 10);
  });
  await hold();
  await check("all pods gone, all machines gone", async () => {
    await reset(world);
    await gone(world);
    await world.removeWebhook();
  });
  figure("trouble: all of it", Date.now() - from);
}

/** TROUBLE_HOLD=SECONDS leaves the end as it is for so long, so that a person can ask about it. */
async function hold(): Promise<void> {
  const seconds = Number(process.env["TROUBLE_HOLD"] ?? 0);
  if (seconds > 0) console.log(`the end stays as it is for ${seconds} s`);
  await sleep(seconds * 1_000);
}

/** A Deployment whose pods want nodes of a NodePool, or of other labels. */
function onPool(of: object, nodePool: string | undefined, labels: Readonly<Record<string, string>> = {}): object {
  const { spec, ...rest } = of as { readonly spec: { readonly template: { readonly spec: object } } };
  const nodeSelector = { ...(nodePool !== undefined && { "karpenter.sh/nodepool": nodePool }), ...labels };
  return { ...rest, spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, nodeSelector } } } };
}

/** Does one thing that goes wrong or changes. Returns what it was. */
async function disturb(world: E2eWorld, source: Random): Promise<string> {
  const machines = alive(world).filter(({ state }) => state === "running");
  const spot = machines.filter(({ capacityType }) => capacityType === "spot");
  const dice = source.int(0, 9);
  if (dice <= 4 || machines.length === 0) {
    await scale(world, source.pick([...APPS]), source.int(0, 8));
    return "a Deployment scaled";
  }
  if (dice <= 6 && spot.length > 0) {
    world.fake.interrupt(source.pick(spot).id);
    return "spot notices";
  }
  if (dice === 7) {
    // The cheapest pools run out for the next launches, on spot wholly.
    world.fake.faults.add({ action: "CreateFleet", times: 3, ice: { capacityType: source.int(0, 1) === 0 ? "spot" : "on-demand" } });
    return "launches that find no capacity";
  }
  if (dice === 8) {
    world.fake.crash(source.pick(machines).id);
    return "machines that end without notice";
  }
  const claims = (await list(world, "nodeclaims")).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (claims.length === 0) return "nothing";
  await world.cluster.kubectl("delete", "nodeclaim", source.pick(claims).metadata.name, "--wait=false", "--ignore-not-found");
  return "NodeClaims deleted by a person";
}

async function sweepOften(world: E2eWorld, name: string, enough: () => boolean): Promise<void> {
  while (!enough()) {
    await invokeFunction(world.ministack, `${STACK}-${name}`, { kind: "sweep" }).catch(() => {});
    for (let slept = 0; slept < SWEEP_EVERY_MS && !enough(); slept += 250) await sleep(250);
  }
}

const isUnschedulable = ({ status }: Thing): boolean =>
  status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable") === true;

/** Adds "namespace/name" of pods that kube-scheduler finds no node for, with how long each has waited, ms. */
async function watchPods(world: E2eWorld, waited: Map<string, number>, enough: () => boolean): Promise<void> {
  while (!enough()) {
    const { items } = await world.cluster
      .get<{ items: readonly Thing[] }>("/api/v1/namespaces/default/pods")
      .catch(() => ({ items: [] as readonly Thing[] }));
    for (const pod of items.filter(isUnschedulable)) {
      const { name, creationTimestamp } = pod.metadata;
      waited.set(`default/${name}`, Date.now() - Date.parse(creationTimestamp));
    }
    await sleep(1_000);
  }
}

/** `why pod/…` knows each pod that waited: the NodeClaim that was planned for it, or why none was. */
async function expectWaits(ask: AskHistory, waited: ReadonlyMap<string, number>): Promise<void> {
  const long = [...waited].filter(([, ms]) => ms >= SEEN_AFTER_MS).map(([pod]) => pod);
  count("pods that kube-scheduler found no node for", waited.size);
  count(`of these waited longer than ${SEEN_AFTER_MS / 1_000} s`, long.length);
  expect(
    long.some((pod) => pod.startsWith("default/stuck-")),
    () => `no pod of the Deployment that fits nowhere: ${long.join(" ")}`,
  );
  const unknown: string[] = [];
  for (const pod of long) {
    const text = await ask("why", `pod/${pod}`).catch((error: unknown) => String(error));
    if (!/planned for nodeclaim\/|waits? since /.test(text)) unknown.push(`${pod}: ${text}`);
  }
  expect(unknown.length === 0, () => unknown.join("\n     "));
}
