import { describe, expect, it } from "vitest";
import { whyNotConcerned } from "#core/interruption/concerns.ts";
import type { Interruption, InterruptionKind } from "#core/interruption/parse.ts";
import type { KnownInstance } from "#core/model/instance.ts";
import { INSTANCE, NOW, record } from "../../support/builders.ts";

const MINUTE = 60_000;

function why(over: Partial<Interruption>, instance: Partial<KnownInstance> = {}, launchedAt = NOW - 60 * MINUTE): string | undefined {
  const message: Interruption = { kind: "spot_interrupted", instanceIds: ["i-1"], time: NOW - 1_000, ...over };
  const known = { ...INSTANCE, capacityType: "spot" as const, ...instance };
  return whyNotConcerned(message, record({ instance: known, launchedAt }), { account: "111122223333", now: NOW });
}

describe("a message is about an instance only when nothing that it says speaks against it", () => {
  it.for<{ what: string; says: Partial<Interruption>; instance?: Partial<KnownInstance>; odd: string | undefined }>([
    { what: "of the cluster's account and region", says: { account: "111122223333", region: "us-west-2" }, odd: undefined },
    { what: "without account, region and time", says: {}, odd: undefined },
    { what: "of another account", says: { account: "999999999999" }, odd: "it is of account 999999999999" },
    { what: "of another region", says: { region: "eu-west-1" }, odd: "it is of region eu-west-1" },
    { what: "about a local zone of its region", says: { region: "us-west-2" }, instance: { zone: "us-west-2-lax-1a" }, odd: undefined },
    { what: "of 1999", says: { time: Date.parse("1999-01-01T00:00:00Z") }, odd: "it is of 1999-01-01T00:00:00.000Z" },
    { what: "of 9999", says: { time: Date.parse("9999-01-01T00:00:00Z") }, odd: "its time, 9999-01-01T00:00:00.000Z, is to come" },
    {
      what: "of the spot market about an on-demand instance",
      says: {},
      instance: { capacityType: "on-demand" },
      odd: "it is about spot capacity, and the instance is on-demand",
    },
    {
      what: "of a reservation about a spot instance",
      says: { kind: "capacity_reservation_interrupted" },
      odd: "it is about reserved capacity, and the instance is spot",
    },
    {
      what: "of a reservation about an instance in one",
      says: { kind: "capacity_reservation_interrupted" },
      instance: { capacityType: "on-demand", reservationId: "cr-1" },
      odd: undefined,
    },
    {
      what: "of planned maintenance about an on-demand instance",
      says: { kind: "scheduled_change" },
      instance: { capacityType: "on-demand" },
      odd: undefined,
    },
  ])("a message $what", ({ says, instance, odd }) => {
    expect(why(says, instance)).toBe(odd);
  });

  it.for<{ kind: InterruptionKind; minutes: number; counts: boolean }>([
    { kind: "spot_interrupted", minutes: 9, counts: true },
    { kind: "spot_interrupted", minutes: 11, counts: false },
    { kind: "instance_stopped", minutes: 11, counts: true },
    { kind: "scheduled_change", minutes: 24 * 60, counts: true },
    { kind: "scheduled_change", minutes: 26 * 60, counts: false },
  ])("a message of kind $kind counts after $minutes minutes: $counts", ({ kind, minutes, counts }) => {
    expect(why({ kind, time: NOW - minutes * MINUTE }, {}, NOW - 48 * 60 * MINUTE) === undefined).toBe(counts);
  });

  it("a message from before an instance's launch is not about it", () => {
    expect(why({ kind: "instance_stopped", time: NOW - 70 * MINUTE })).toContain("before the instance was launched");
  });
});
