import { isJsonObject } from "../lib/json.ts";
import { fields, listOf, mapOf, number, type Shape, string, time } from "../lib/shape.ts";
import type { CommandCandidate, CommandRecord } from "./command-record.ts";
import { resourcesProblem } from "./quantity.ts";

/**
 * The version of the records that this code writes and reads. A field that older code may leave out does not raise it:
 * code keeps the fields that it does not know. What older code would misread raises it.
 */
export const RECORD_SCHEMA = 1;

/**
 * The version of the record of a NodeClaim that has joined a launch of several, until it has its instance or is
 * launched alone: older code would launch it a second time.
 */
export const GROUP_SCHEMA = 2;

/** A record that this code cannot read: another version wrote it, or it is damaged. It is left as it is. */
export interface UnreadableRecord {
  readonly cluster: string;
  /** Name of the NodeClaim. */
  readonly name: string;
  /** One sentence. */
  readonly problem: string;
}

const strings = listOf(string);
const texts = mapOf(string);
const amount: Shape = (value, path) =>
  typeof value !== "string" && typeof value !== "number"
    ? `${path} is missing or is no quantity`
    : resourcesProblem({ [path]: value }) && `${path} is no quantity`;

const requirements = listOf(fields({ key: string, operator: string }, { values: strings, minValues: number }));
const taints = listOf(fields({ key: string, effect: string }, { value: string }));
const manifest = fields({
  metadata: fields(
    { name: string },
    { labels: texts, annotations: texts, finalizers: strings, ownerReferences: listOf(fields({ kind: string, name: string })) },
  ),
  spec: fields(
    { requirements, nodeClassRef: fields({ group: string, kind: string, name: string }) },
    {
      ...{ taints, startupTaints: taints, resources: fields({}, { requests: mapOf(amount) }) },
      ...{ expireAfter: string, terminationGracePeriod: string },
    },
  ),
});
const instance = fields(
  { id: string, zone: string },
  {
    ...{ instanceType: string, capacityType: string, imageId: string, subnetId: string, reservationId: string, partition: string },
    securityGroupIds: strings,
  },
);
const override = fields({ instanceType: string, subnetId: string, zone: string, imageId: string, price: number });
const launch = fields(
  {
    ...{ clientToken: string, capacityType: string, tags: texts },
    launchTemplates: listOf(fields({ name: string, overrides: listOf(override) }, { reservation: fields({ id: string, type: string }) })),
  },
  { context: string },
);

const launchGroup = fields({ id: string, members: strings, requests: mapOf(amount), zoneTurn: number, joinMs: number }, { joinedAt: time });

const CLAIM = fields(
  {
    ...{ cluster: string, name: string, intentId: string, reason: string, manifest },
    ...{ version: number, launchAttempts: number, pricePerHour: number, createdAt: time, dueAt: number },
    ...{ podUids: strings, instanceTypes: strings },
  },
  {
    ...{ uid: string, nodePool: string, heldFor: strings, commandId: string },
    ...{ nodePoolGeneration: number, refusals: number, refused: fields({ message: string, at: time }) },
    ...{ launchGroup, launch, instance, terminating: fields({ reason: string, at: time }, { deadline: time }) },
    ...{ dueTags: texts, launchRequestedAt: time, launchUnknownAt: time, launchFailedAt: time },
    ...{ launchPutOffAt: time, launchedAt: time, rebootSentAt: time, reboots: listOf(time), initializedAt: time, lastPodEventAt: time },
  },
);

const GROUP = fields(
  {},
  {
    launch: fields({ request: launch, members: strings, requestedAt: time, sender: string }, { unknownAt: time }),
    answer: fields({
      instances: mapOf(instance),
      unavailable: listOf(fields({ instanceType: string, zone: string, capacityType: string })),
    }),
  },
);

/** Why the stored part of a launch group cannot be read; undefined when it can. */
export function launchGroupProblem(value: unknown): string | undefined {
  return isJsonObject(value) ? shapeProblem(value, GROUP) : "it is no object";
}

const candidate = fields(
  { nodeClaim: string, pods: strings },
  { node: string, nodePool: string, instanceType: string, capacityType: string, zone: string, pricePerHour: number },
);
const replacement = fields(
  {
    ...{ nodePool: string, requirements, taints, labels: texts, instanceTypes: strings, requests: mapOf(amount) },
    ...{ pods: strings, pricePerHour: number },
  },
  { surplusPerHour: number, paidFor: string },
);
const COMMAND = fields(
  {
    ...{ cluster: string, id: string, method: string, reason: string, decision: string, phase: string },
    ...{ version: number, savingsPerHour: number, createdAt: time, since: time, dueAt: number },
    ...{ candidates: listOf(candidate), replacements: listOf(replacement), replacementClaims: strings },
  },
  { destinations: texts, repair: fields({ condition: string, reason: string, drainMs: number }) },
);
const PHASES: ReadonlySet<unknown> = new Set(["Validating", "Replacing", "Deleting", "RollingBack"]);

function schemaProblem(value: Readonly<Record<string, unknown>>, known: number): string | undefined {
  const schema = value["schema"] ?? RECORD_SCHEMA;
  return typeof schema !== "number" || schema > known
    ? `a newer version wrote it (schema ${String(schema)}; this one reads ${known})`
    : undefined;
}

function shapeProblem(value: unknown, shape: Shape): string | undefined {
  const problem = shape(value, "");
  return problem && `its field ${problem}`;
}

/** Where a record is stored: what it says of itself must agree. */
interface Place {
  readonly cluster: string;
  readonly name: string;
}

/**
 * Why the record of a NodeClaim cannot be read; undefined when it can. Each field has its type, so that no reader meets
 * another one.
 * @param place where it was found, if that is known: a record that names another NodeClaim would act on that one
 */
export function claimRecordProblem(value: unknown, place?: Place): string | undefined {
  if (!isJsonObject(value)) return "it is no object";
  const problem = schemaProblem(value, GROUP_SCHEMA) ?? shapeProblem(value, CLAIM);
  if (problem !== undefined || place === undefined) return problem;
  return value["cluster"] !== place.cluster || value["name"] !== place.name
    ? "it names another NodeClaim than the one that it is stored for"
    : undefined;
}

function commandProblem(value: Readonly<Record<string, unknown>>, { cluster, id }: { readonly cluster: string; readonly id: string }) {
  const problem = schemaProblem(value, RECORD_SCHEMA) ?? shapeProblem(value, COMMAND);
  if (problem !== undefined) return problem;
  if (value["cluster"] !== cluster || value["id"] !== id) return "it names another command than the one that it is stored for";
  return PHASES.has(value["phase"]) ? undefined : `its phase ${String(value["phase"])} is not known`;
}

function candidatesOf({ candidates }: Readonly<Record<string, unknown>>): readonly CommandCandidate[] {
  const list: readonly unknown[] = Array.isArray(candidates) ? candidates : [];
  return list.flatMap((one) => (candidate(one, "") === undefined ? [one as unknown as CommandCandidate] : []));
}

/**
 * A command as it was stored. One that cannot be read becomes a command that nothing advances or removes (phase
 * SetAside): its candidates, as far as they can be read, stay as they are until the version that wrote it ends it.
 */
export function readCommand(value: unknown, { cluster, id }: { readonly cluster: string; readonly id: string }): CommandRecord {
  const stored = isJsonObject(value) ? value : {};
  const problem = commandProblem(stored, { cluster, id });
  if (problem === undefined) return stored as unknown as CommandRecord;
  return {
    ...{ cluster, id, version: 0, method: "drift", reason: "Drifted", decision: "delete", phase: "SetAside", problem },
    ...{ candidates: candidatesOf(stored), replacements: [], replacementClaims: [], savingsPerHour: 0, createdAt: 0, since: 0 },
    dueAt: Number.MAX_SAFE_INTEGER,
  };
}
