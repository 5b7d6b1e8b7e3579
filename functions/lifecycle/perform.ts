import type { Action } from "#core/lifecycle/action.ts";
import { refuseCreation } from "#core/lifecycle/launch.ts";
import { claimLogFields } from "#core/lifecycle/log-fields.ts";
import { ZONE_ID } from "#core/model/labels.ts";
import { publishOnce } from "../shared/publish-once.ts";
import { recordFailedLaunch, recordRegistrationHealth } from "../shared/registration-health.ts";
import { type ActionContext, done, type Performed, type Performer, requeue, without } from "./claim-state.ts";
import { adopt, createClaim, deleteClaim, writeClaim } from "./claims.ts";
import { nominateHeld, uncordonTogether } from "./held-nodes.ts";
import { findInstance, launch, prepareLaunch } from "./launch/launch.ts";
import { performGroupStep } from "./launch/launch-group.ts";
import { writeLaunched } from "./launch/write-launched.ts";
import { rebootInstance, terminateInstance } from "./measured-fleet.ts";
import { deleteNode, deletePod, evict, writeNode } from "./nodes.ts";

/**
 * How each action of a step is performed: one remote call that may be repeated, or two of which the next reconcile
 * makes the second when it finds that it is missing.
 */
const PERFORMERS: { readonly [T in Action["type"]]: Performer<T> } = {
  Adopt: adopt,
  CreateClaim: async ({ record }, { name, state, deps }) => {
    const answer = await createClaim(record, deps);
    if ("created" in answer) return done({ ...state, claim: answer.created });
    for (const action of refuseCreation({ now: deps.now() }, record, answer.refused).actions)
      await perform(action, { name, state: {}, deps });
    return requeue();
  },
  WriteClaim: writeClaim,
  DeleteClaim: deleteClaim,
  PrepareLaunch: prepareLaunch,
  Launch: launch,
  LaunchGroup: performGroupStep,
  WriteLaunched: writeLaunched,
  FindInstance: findInstance,
  TerminateInstance: async ({ instanceId }, { state, deps }) => {
    const { record, claim } = state;
    await terminateInstance(instanceId, { zone: record?.instance?.zone, zoneId: claim?.metadata.labels?.[ZONE_ID] }, deps);
    return done(without(state, "instance"));
  },
  RebootInstance: async ({ instanceId }, { state, deps }) => {
    const rebootRefused = await rebootInstance(instanceId, deps);
    return rebootRefused === undefined ? done(state) : { outcome: "requeue", state: { ...state, rebootRefused }, others: [] };
  },
  UncordonTogether: ({ nodes }, context) => uncordonTogether(nodes, context),
  NominatePods: async (action, { state, deps }) => {
    await nominateHeld([action], deps);
    return done(state);
  },
  WriteNode: writeNode,
  DeleteNode: deleteNode,
  Evict: evict,
  DeletePod: deletePod,
  RecordRegistration: async ({ claim, outcome }, { state, deps }) => {
    await recordRegistrationHealth(claim, outcome, deps);
    return done(state);
  },
  RecordFailedLaunch: async ({ record, end }, { state, deps }) => {
    await recordFailedLaunch(record, end, deps);
    return done(state);
  },
  WriteRecord: async ({ record, history }, { state, deps }) => done({ ...state, record: await deps.store.update(record, history) }),
  Forget: async ({ record, history }, { state, deps }) => {
    await deps.store.remove(record, history);
    return done(state);
  },
  Wake: async ({ wakeUp }, { state, deps }) => {
    await deps.wakeUps.wake([wakeUp]);
    return done(state);
  },
  Event: async ({ event }, { state, deps }) => {
    await publishOnce(event, deps);
    return done(state);
  },
  Log: async ({ level, message, fields }, { name, state, deps }) => {
    deps.log[level](message, { ...claimLogFields(name), ...fields });
    return done(state);
  },
  Count: async ({ metric, labels, by }, { state, deps }) => {
    deps.metrics.count(metric, labels, by);
    return done(state);
  },
  Observe: async ({ metric, labels, seconds }, { state, deps }) => {
    deps.metrics.observe(metric, labels, seconds);
    return done(state);
  },
};

/** Performs one action of a step. */
export function perform<T extends Action["type"]>(
  action: Extract<Action, { readonly type: T }>,
  context: ActionContext,
): Promise<Performed> {
  const performer: Performer<T> = PERFORMERS[action.type as T];
  return performer(action, context);
}
