import { adopted } from "#core/history/claim-entries.ts";
import { isDoneWith } from "#core/lifecycle/identity.ts";
import { INTENT } from "#core/model/labels.ts";
import { isManagedClaim } from "#core/model/managed.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { ConflictError } from "#core/ports/errors.ts";
import { lostRecords } from "#core/rebuild/plan.ts";
import { PROGRAM } from "#settings/program.ts";
import type { Answer, Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { AdoptPorts } from "../account/ports.ts";
import { type AdoptFacts, adoptFacts, type Intention, type Naming } from "../checks/adoption-facts.ts";
import { checkAll } from "../checks/table.ts";
import { checkLines } from "../checks/verdict.ts";
import { podsOf, scaleToZero } from "./karpenter-deployment.ts";
import { runningLease } from "./karpenter-lease.ts";
import { type AdoptedClaim, adoptionTable } from "./table.ts";

export interface AdoptOptions extends Naming, Intention {
  readonly dryRun: boolean;
}

const POLL_MS = 3_000;
/** The sweep comes once a minute, and the functions may be cold. */
const TAKEN_UP_MS = 4 * 60_000;

/**
 * Takes over the nodes of a Karpenter: ends it, waits until no controller decides any more, and writes a record for
 * each of its NodeClaims, from which the functions continue. No node is replaced. Each step looks what is there and
 * does what is missing, so that it is repeated as a whole after a kill. Throws InputError where a check fails.
 */
export async function adopt(options: AdoptOptions, ports: AdoptPorts, print: Print): Promise<Answer> {
  const { cluster, dryRun } = options;
  const facts = await adoptFacts(options, ports);
  const results = checkAll("adopt", { ...facts, ...options });
  for (const line of checkLines(results)) print(line);
  const faults = results.filter(({ level }) => level === "fault").length;
  const unmet = `${faults === 1 ? "one check fails" : `${faults} checks fail`}, so nothing was changed; fix the items marked FAULT, then run the command again`;
  if (faults > 0 && !dryRun) throw new InputError(unmet);
  if (dryRun) {
    for (const line of await plan(facts, ports)) print(line);
    return { output: "", isUsable: faults === 0, ...(faults > 0 && { messages: [unmet] }) };
  }
  await endKarpenter(facts, ports, print);
  const table = tableName(facts);
  const adopted = await writeRecords(cluster, table, ports);
  const written = adopted.filter(({ record }) => record !== undefined).length;
  print(`wrote the records of ${counted(written)}; ${adopted.length - written} need none`);
  return await takenUp(options, adopted, ports, print);
}

/**
 * What would stop an adoption, before anything is installed for it. Throws InputError with the first of them.
 */
export async function refuseEarly(options: AdoptOptions, ports: AdoptPorts): Promise<void> {
  const results = checkAll("adopt", { ...(await adoptFacts(options, ports)), ...options });
  const fault = results.find(({ level }) => level === "fault");
  if (fault !== undefined) throw new InputError(`${fault.name}: ${fault.text}; nothing was changed`);
}

const counted = (count: number): string => `${count} ${count === 1 ? "NodeClaim" : "NodeClaims"}`;

function tableName({ stack, stackName }: AdoptFacts): string {
  const table = stack?.outputs["TableName"];
  if (table === undefined) throw new InputError(`stack ${stackName} has no output TableName; run install again, then this`);
  return table;
}

async function plan(facts: AdoptFacts, ports: AdoptPorts): Promise<readonly string[]> {
  const { cluster, karpenter, stack } = facts;
  const table = stack?.outputs["TableName"];
  const claims = await karpenterClaims(cluster, ports);
  const records = table === undefined ? [] : await ports.records(table).list(cluster);
  const steps = await stepsFor(cluster, claims, records, ports);
  return [
    "nothing is changed; without --dry-run this would",
    ...(karpenter === undefined || karpenter.replicas === 0
      ? []
      : [`- scale Deployment ${karpenter.namespace}/${karpenter.name} to 0, and wait until its pods and its Lease have ended`]),
    `- write the records of ${counted(steps.filter(({ record }) => record !== undefined).length)}`,
    ...adoptionTable(steps).map((line) => `  ${line}`),
  ];
}

/** Ends Karpenter, and waits until none of its pods runs and its Lease is no longer renewed. */
async function endKarpenter({ cluster, karpenter, running }: AdoptFacts, ports: AdoptPorts, print: Print): Promise<void> {
  const api = ports.clusterApi(cluster);
  if (karpenter !== undefined) {
    const { namespace, name, replicas } = karpenter;
    await scaleToZero(karpenter, api);
    if (replicas > 0) print(`scaled Deployment ${namespace}/${name} from ${replicas} to 0`);
    await untilNone(
      (pods) => `waiting for the end of ${pods.join(", ")}`,
      () => podsOf(karpenter, api),
      ports,
      print,
    );
  }
  if (running === undefined && karpenter === undefined) return;
  const lease = async (): Promise<readonly string[]> => {
    const found = await runningLease(api, ports.now());
    return found === undefined ? [] : [found];
  };
  await untilNone(([name]) => `waiting until Lease ${name} is given back, a minute at most when Karpenter was killed`, lease, ports, print);
}

/** Waits until nothing is left; prints what it waits for when that changes. */
async function untilNone(
  words: (left: readonly string[]) => string,
  look: () => Promise<readonly string[]>,
  { sleep }: Pick<AdoptPorts, "sleep">,
  print: Print,
): Promise<void> {
  for (let told = ""; ; await sleep(POLL_MS)) {
    const left = await look();
    if (left.length === 0) return;
    const line = words(left);
    if (line !== told) print(line);
    told = line;
  }
}

/** NodeClaims of EC2NodeClasses that are not done with. */
async function karpenterClaims(cluster: string, { clusterApi }: AdoptPorts): Promise<readonly NodeClaim[]> {
  const claims = (await clusterApi(cluster).list({
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
  })) as readonly unknown[] as NodeClaim[];
  return claims.filter((claim) => isManagedClaim(claim) && !isDoneWith(claim));
}

const KNOWN = "has a record";
/** A NodeClaim that gets a record has it here. */
type Step = AdoptedClaim & { readonly record?: NodeClaimRecord };

async function stepsFor(
  cluster: string,
  claims: readonly NodeClaim[],
  records: readonly NodeClaimRecord[],
  { instances, now, newId }: AdoptPorts,
): Promise<readonly Step[]> {
  const known = new Set(records.map(({ name }) => name));
  const lost = lostRecords({ cluster, records, claims, instances: await instances(cluster), now: now(), newId });
  return claims.map((claim): Step => {
    const { name } = claim.metadata;
    if (known.has(name)) return { claim, outcome: KNOWN };
    const step = lost.find(({ what }) => what === `NodeClaim ${name}`);
    if (step?.write === undefined) return { claim, outcome: step?.outcome ?? "is left alone" };
    return { claim, record: step.write.record, outcome: `is adopted: ${step.outcome}` };
  });
}

async function writeRecords(cluster: string, table: string, ports: AdoptPorts): Promise<readonly Step[]> {
  const store = ports.records(table);
  const steps = await stepsFor(cluster, await karpenterClaims(cluster, ports), await store.list(cluster), ports);
  const written: Step[] = [];
  for (const step of steps) {
    try {
      if (step.record !== undefined) await store.create(step.record, [adopted(step.record, ports.now())]);
      written.push(step);
    } catch (error) {
      // The functions adopt by themselves what is not launched.
      if (!(error instanceof ConflictError)) throw error;
      written.push({ claim: step.claim, outcome: KNOWN });
    }
  }
  return written;
}

/** Waits until the functions have marked each NodeClaim with a record as theirs, which is their first step with it. */
async function takenUp({ cluster }: AdoptOptions, adopted: readonly AdoptedClaim[], ports: AdoptPorts, print: Print): Promise<Answer> {
  const wanted = new Set(
    adopted.filter(({ record, outcome }) => record !== undefined || outcome === KNOWN).map(({ claim }) => claim.metadata.name),
  );
  const until = ports.now() + TAKEN_UP_MS;
  let open: readonly NodeClaim[] = [];
  for (let told = false; ; told = true) {
    open = (await karpenterClaims(cluster, ports)).filter((claim) => wanted.has(claim.metadata.name) && !isMarked(claim));
    if (open.length === 0 || ports.now() > until) break;
    if (!told) print(`waiting until the functions have taken up ${counted(open.length)}, which their sweep does within a minute or two`);
    await ports.sleep(POLL_MS);
  }
  for (const line of adoptionTable(adopted)) print(line);
  const back = `the way back: ${PROGRAM} uninstall --cluster ${cluster} --keep-nodes --start-karpenter`;
  if (open.length === 0) return { output: `cluster ${cluster}: the functions have ${counted(wanted.size)}; ${back}\n` };
  return {
    output: "",
    isUsable: false,
    messages: [
      `the functions have not taken up ${counted(open.length)} (${open
        .slice(0, 5)
        .map(({ metadata }) => metadata.name)
        .join(", ")}) after four minutes; see ${PROGRAM} doctor --cluster ${cluster}; ${back}`,
    ],
  };
}

const isMarked = ({ metadata }: NodeClaim): boolean =>
  metadata.annotations?.[INTENT] !== undefined || metadata.deletionTimestamp !== undefined;
