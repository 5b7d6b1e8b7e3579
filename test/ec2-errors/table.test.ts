import { expect, it } from "vitest";
import { kindOfError, remedyFor } from "#core/offerings/ec2-errors.ts";
import { unavailableText } from "#core/offerings/unavailable-text.ts";
import { EC2_CODES } from "./codes.ts";

const MESSAGE = "what EC2 has to say about it";
const textOf = (code: string): string => {
  const cause = { code, message: MESSAGE };
  const offering = { zone: "eu-west-1a", capacityType: "on-demand", price: 1, available: false, unavailableUntil: 0 } as const;
  return unavailableText([{ name: "m5.large", offerings: [{ ...offering, unavailableCause: cause }] }]);
};

it("there are several hundred codes, none of them twice", () => {
  expect(EC2_CODES.length).toBeGreaterThan(390);
  expect(new Set(EC2_CODES).size).toBe(EC2_CODES.length);
});

it.for(EC2_CODES)("%s says its code, and a remedy or EC2's message", (code) => {
  const text = textOf(code);
  const remedy = remedyFor({ code, message: MESSAGE }, { zone: "eu-west-1a" });
  expect(text).toContain(`EC2 says ${code}`);
  expect(remedy !== "" || text.includes(MESSAGE)).toBe(true);
  if (kindOfError({ code }) !== "capacity") {
    expect(text.replace(code, "")).not.toMatch(/capacity/i);
    expect(text).toContain(MESSAGE);
  }
});

it("a lack of capacity is one of these codes, and no other", () => {
  expect(EC2_CODES.filter((code) => kindOfError({ code }) === "capacity")).toEqual([
    "CapacityReservationNotAvailable",
    "InsufficientCapacity",
    "InsufficientCapacityOnHost",
    "InsufficientCapacityReservation",
    "InsufficientHostCapacity",
    "InsufficientInstanceCapacity",
    "InsufficientReservedInstanceCapacity",
    "InsufficientReservedInstancesCapacity",
    "InsufficientVolumeCapacity",
    "InvalidCapacityReservationIdMalformedException",
    "InvalidCapacityReservationIdNotFoundException",
    "ReservationCapacityExceeded",
    "SpotMaxPriceTooLow",
    "UnfulfillableCapacity",
  ]);
});
