import { describe, expect, it } from "vitest";
import { answerFromListing, isSettled } from "#core/launch-group/answer.ts";
import { alone, joining } from "#core/launch-group/member.ts";
import { launchHash } from "#core/launch-group/plan.ts";
import { groupStep } from "#core/launch-group/step.ts";
import type { ClaimView, Step } from "#core/lifecycle/action.ts";
import { advance } from "#core/lifecycle/advance.ts";
import type { GroupAnswer, GroupLaunch, LaunchGroup } from "#core/model/launch-group.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { at, INSTANCE, NOW, nodeClaim, record, view } from "../../support/builders.ts";

const ME = record().name;
const ALIKE = launchHash(nodeClaim());
const plan = { id: "g.1", members: [ME, "other-1", "other-2"], requests: {}, zoneTurn: 0, joinMs: 8_000 };
const planned = record({ uid: "uid-1", launchGroup: plan });
const joined = (secondsAgo: number) => ({ ...planned, schema: 2, launchGroup: { ...plan, joinedAt: NOW - secondsAgo * 1_000 } });
const group = (change: Partial<LaunchGroup> = {}): LaunchGroup => ({
  ...{ cluster: "c", id: "g.1", version: 2, expiresAt: NOW + 1 },
  members: [ME, "other-1"].map((name) => ({ name, alike: ALIKE })),
  ...change,
});
const request = { clientToken: "g.1", count: 2, capacityType: "spot", launchTemplates: [], tags: {} } as const;
const sent = (by: string, secondsAgo = 0, members = [ME, "other-1"]): GroupLaunch => ({
  ...{ request, members, sender: by },
  requestedAt: NOW - secondsAgo * 1_000,
});
const answer = (instances: GroupAnswer["instances"]): GroupAnswer => ({ instances, unavailable: [] });
const REFUSED = { kind: "Refused", reason: "Unauthorized", message: "no" } as const;
const NO_CAPACITY = { kind: "InsufficientCapacity", reason: "LaunchFailed", message: "none left" } as const;
const MARK = { instanceType: "m5.large", zone: "a", capacityType: "spot", expiresAt: NOW } as const;
const next = (change: Partial<ClaimView>): Step => advance(view({ record: joined(1), claim: nodeClaim(), ...change }));
/** The types of the actions; of a step of the group, its type. */
const types = ({ actions }: Step): readonly string[] =>
  actions.map((action) => (action.type === "LaunchGroup" ? action.step.type : action.type));

describe("a NodeClaim that is launched together with others", () => {
  it.for([
    { name: "joins its group when it is ready", v: { record: planned, launchGroup: "none" } as const, want: ["Join"] },
    { name: "joins again when it was killed before", v: { launchGroup: group({ members: [] }) }, want: ["Join"] },
    { name: "waits for the others", v: { launchGroup: group() }, want: [], wakeAt: NOW + 7_000 },
    {
      name: "closes the group as the last to join",
      v: { launchGroup: group({ members: plan.members.map((name) => ({ name, alike: ALIKE })) }) },
      want: ["Close"],
    },
    {
      name: "dissolves the group when no other member has the same request",
      v: { record: joined(8), launchGroup: group({ members: [{ name: ME, alike: ALIKE }] }) },
      want: ["Dissolve"],
    },
    {
      name: "reports why EC2 has launched nothing, when no mark of an offering covers it",
      v: { launchGroup: group({ launch: sent("other-1"), answer: { ...answer({}), failure: REFUSED } }) },
      want: ["Refuse"],
    },
    {
      name: "takes the next attempt without the offerings that have no capacity",
      v: { launchGroup: group({ launch: sent("other-1"), answer: { ...answer({}), failure: NO_CAPACITY, unavailable: [MARK] } }) },
      want: ["Retry"],
    },
    {
      name: "reports a lack of capacity that no mark covers",
      v: { launchGroup: group({ launch: sent("other-1"), answer: { ...answer({}), failure: NO_CAPACITY } }) },
      want: ["Refuse"],
    },
    { name: "closes the group when it has waited long enough", v: { record: joined(8), launchGroup: group() }, want: ["Close"] },
    { name: "is launched alone when its group is dissolved", v: { launchGroup: group({ isDissolved: true }) }, want: ["WriteRecord"] },
    {
      name: "is launched alone when its group was closed without it",
      v: { launchGroup: group({ launch: sent("other-1", 0, ["other-1", "other-2"]) }) },
      want: ["WriteRecord"],
    },
    { name: "sends the request that it has stored", v: { launchGroup: group({ launch: sent(ME) }) }, want: ["Send"] },
    {
      name: "leaves the request to the member that has stored it",
      v: { launchGroup: group({ launch: sent("other-1") }) },
      want: [],
      wakeAt: NOW + 20_000,
    },
    {
      name: "sends it when that member has not answered",
      v: { launchGroup: group({ launch: sent("other-1", 20) }) },
      want: ["Send"],
    },
    {
      name: "leaves a request that is put off alone until others have had time to send it",
      v: { launchGroup: group({ launch: sent("other-1", -90) }) },
      want: [],
      wakeAt: NOW + 110_000,
    },
    {
      name: "waits for the turn of the request that it sends",
      v: { launchGroup: group({ launch: sent(ME, -90) }) },
      want: [],
      wakeAt: NOW + 90_000,
    },
    {
      name: "takes its instance",
      v: { launchGroup: group({ launch: sent("other-1"), answer: answer({ [ME]: INSTANCE }) }) },
      want: ["Take"],
    },
    {
      name: "takes the next attempt when the answer has no instance for it",
      v: { launchGroup: group({ launch: sent("other-1"), answer: answer({ "other-1": INSTANCE }) }) },
      want: ["Retry"],
    },
  ])("$name", ({ v, want, wakeAt }) => {
    const step = next(v);
    expect(types(step)).toEqual(want);
    expect(step.wakeAt).toBe(wakeAt);
  });

  it("does not time out while EC2's bucket keeps the request of its group waiting, half an hour at most", () => {
    const timely = (createdSecondsAgo: number, launchGroup?: LaunchGroup) =>
      next({ record: { ...joined(1), createdAt: NOW - createdSecondsAgo * 1_000 }, ...(launchGroup && { launchGroup }) });
    const waiting = group({ launch: sent("other-1", -60) });
    expect(timely(400)).toEqual({ actions: [], ask: "launchGroup" });
    expect(types(timely(400, waiting))).toEqual([]);
    expect(types(timely(29 * 60, waiting))).toEqual([]);
    expect(types(timely(31 * 60, waiting))).toContain("WriteRecord");
  });

  it("takes its instance however late its turn comes, and asks for it again when the answer is lost", () => {
    const late = (launchGroup: LaunchGroup) => next({ record: { ...joined(1), createdAt: NOW - 60 * 60_000 }, launchGroup });
    const launch = sent("other-1", 55 * 60);
    expect(types(late(group({ launch, answer: answer({ [ME]: INSTANCE }) })))).toEqual(["Take"]);
    const overdue = { ...joined(1), createdAt: NOW - 400_000 };
    expect(types(next({ record: overdue, launchGroup: group({ launch: sent("other-1", 350) }) }))).toEqual(["Send"]);
  });

  it("times out when its group's request has failed after the time-out", () => {
    const launch = { ...sent("other-1", 350), unknownAt: NOW };
    const overdue = { ...joined(1), createdAt: NOW - 400_000 };
    expect(types(next({ record: overdue, launchGroup: group({ launch }) }))).toContain("WriteRecord");
  });

  it("asks for its group before each step, and for none once its own launch is stored", () => {
    expect(next({})).toEqual({ actions: [], ask: "launchGroup" });
    expect(types(next({ record: { ...planned, launch: request } }))).toEqual(["Launch"]);
  });

  it("older code cannot read its record from the moment it joins until it has its instance or is launched alone", () => {
    const record = joining(planned, plan, "uid-2", NOW);
    expect(record).toMatchObject({ schema: 2, uid: "uid-2", launchGroup: { joinedAt: NOW } });
    expect(joining(record, { ...plan, joinedAt: 5 }, "uid-2", NOW).launchGroup?.joinedAt).toBe(5);
    expect(alone(record)).toEqual({ ...planned, uid: "uid-2", schema: 1, launchGroup: undefined });
  });

  it("a lost answer is settled by what EC2 lists when that is all, or after a minute", () => {
    expect([isSettled(sent(ME, 5), 1, NOW), isSettled(sent(ME, 5), 2, NOW), isSettled(sent(ME, 60), 1, NOW)]).toEqual([false, true, true]);
    // The minute counts from the last call whose outcome is unknown.
    expect(isSettled({ ...sent(ME, 90), unknownAt: NOW - 50_000 }, 1, NOW)).toBe(false);
    expect(isSettled({ ...sent(ME, 90), unknownAt: NOW - 60_000 }, 1, NOW)).toBe(true);
  });
});

describe("the record of a member", () => {
  const decide = (launchGroup: LaunchGroup) => groupStep({ now: NOW, record: joined(1), claim: nodeClaim(), group: launchGroup });
  const launch = sent("other-1", 0, [ME, "other-1", "other-2"]);

  it("names the group of those that have no instance, and counts the attempt", () => {
    const step = decide(group({ launch, answer: answer({ "other-1": INSTANCE }) }));
    expect(step).toMatchObject({ type: "Retry", record: { launchAttempts: 1, launchGroup: { id: "g.2", members: [ME, "other-2"] } } });
  });

  it("names no group when it alone has no instance", () => {
    const step = decide(group({ launch, answer: answer({ "other-1": INSTANCE, "other-2": INSTANCE }) }));
    expect(step?.type === "Retry" && step.record.launchGroup).toBeUndefined();
  });

  it("pauses when many attempts have failed", () => {
    const many = { ...joined(1), launchAttempts: 9 };
    const step = groupStep({ now: NOW, record: many, claim: nodeClaim(), group: group({ launch, answer: answer({}) }) });
    expect(step).toMatchObject({ record: { launchAttempts: 10, launchFailedAt: NOW } });
  });
});

describe("an answer that was lost", () => {
  const error = { message: "Unauthorized", isTemplateGone: false };

  it("is what EC2 lists, with the error for those that have none; nothing before EC2 must list all", () => {
    const from = (secondsAgo: number, listed: number, isTemplateGone = false) =>
      answerFromListing(sent(ME, secondsAgo), [INSTANCE, { ...INSTANCE, id: "i-2" }].slice(0, listed), { ...error, isTemplateGone }, NOW);
    expect(from(5, 1)).toBeUndefined();
    expect(from(60, 1)).toMatchObject({ failure: { kind: "Refused", message: "Unauthorized" } });
    expect(from(5, 2)).not.toHaveProperty("failure");
    // A template that is gone has launched nothing: the next attempt follows at once.
    expect(from(5, 0, true)).toEqual({ instances: {}, unavailable: [] });
    expect(from(5, 1, true)).toBeUndefined();
  });
});

describe("a member of a group that ends", () => {
  const ending = { ...joined(9), terminating: { reason: "deleted", at: NOW - 4_000 } };
  const end = (launchGroup: ClaimView["launchGroup"], record: NodeClaimRecord = ending): Step =>
    advance(view({ record, claim: nodeClaim({ deletionTimestamp: at(4) }), launchGroup }));

  it.for([
    { name: "leaves a group that has sent nothing", launchGroup: group(), want: ["Leave"] },
    {
      name: "takes its instance, so that the instance ends",
      launchGroup: group({ launch: sent("other-1"), answer: answer({ [ME]: INSTANCE }) }),
      want: ["TakeToEnd"],
    },
    { name: "waits for the answer", launchGroup: group({ launch: sent("other-1", 8) }), want: ["Search"] },
    {
      name: "goes when the answer has no instance for it",
      launchGroup: group({ launch: sent("other-1"), answer: answer({}) }),
      want: ["WriteClaim"],
    },
    { name: "goes when it has left", launchGroup: group({ members: [] }), want: ["WriteClaim"] },
    { name: "goes when its group is dissolved", launchGroup: group({ isDissolved: true }), want: ["WriteClaim"] },
  ])("$name", ({ launchGroup, want }) => {
    expect(types(end(launchGroup)).slice(0, 1)).toEqual(want);
  });

  it("asks for its group first, unless it has not joined", () => {
    expect(end(undefined).ask).toBe("launchGroup");
    expect(types(end(undefined, { ...ending, launchGroup: plan })).slice(0, 1)).toEqual(["WriteClaim"]);
  });

  it("gives up an answer that nobody has for long; what appears later is garbage", () => {
    const old = { ...ending, terminating: { reason: "deleted", at: NOW - 76_000 } };
    expect(types(end(group({ launch: sent("other-1", 90) }), old)).slice(0, 1)).toEqual(["WriteClaim"]);
  });
});

it("the tags of its own come with the rest of an initialized NodeClaim", () => {
  const dueTags = { "karpenter.sh/nodeclaim": ME };
  const up = record({ uid: "uid-1", instance: INSTANCE, nodeName: "n", initializedAt: NOW - 1, dueTags });
  const claim = nodeClaim({ conditions: ["Launched", "Registered", "Initialized"] });
  expect(types(advance(view({ record: up, claim })))).toContain("Tag");
  const { dueTags: _, ...tagged } = up;
  expect(types(advance(view({ record: tagged, claim })))).not.toContain("Tag");
});
