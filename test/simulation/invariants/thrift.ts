import { START } from "../story.ts";
import { CHECK_MS, type Invariant } from "./invariant.ts";

/**
 * Remote calls of one kind that a run may make: for each minute of the cluster's life, for each claim that was ever made, for each minute in
 * which a claim is going, and for each fault.
 */
interface Bound {
  readonly name: string;
  readonly of: RegExp;
  readonly perMinute: number;
  readonly perClaim: number;
  readonly perGoingMinute: number;
  readonly perFault: number;
}

/**
 * Measured over 14 seeds of 46 minutes without faults: 12 table reads and 12 writes a minute for the sweeps, then 60 to 190 of each for a machine's
 * life (launch and registration are looked at every few seconds), 2 calls of EC2 a minute and 5 to 20 for a machine. A drain that a budget blocks asks
 * for each of its pods each second at first, each ten seconds later, and every refusal asks the table whether it has been told already.
 */
const BOUNDS: readonly Bound[] = [
  {
    name: "reads of the table",
    of: /^store\.(get|list|commands|unavailable|byInstance|documentVersion|getDocument)/,
    perMinute: 20,
    perClaim: 200,
    perGoingMinute: 100,
    perFault: 20,
  },
  {
    name: "writes to the table",
    of: /^store\.(?!get|list|commands|unavailable|byInstance|documentVersion|getDocument)/,
    perMinute: 20,
    perClaim: 200,
    perGoingMinute: 500,
    perFault: 20,
  },
  { name: "calls of EC2", of: /^fleet\./, perMinute: 4, perClaim: 25, perGoingMinute: 2, perFault: 5 },
];

export const callsBounded: Invariant = {
  name: "calls bounded",
  law: "A node's life costs no more than a stated number of reads and writes of the table and of calls of EC2.",
  watch: ({ lab, faults }, violated) => {
    let goingMinutes = 0;
    let claimsMade = 0;
    return {
      onChange: ({ kind, type }) => {
        if (kind === "NodeClaim" && type === "ADDED") claimsMade++;
      },
      check: ({ claims }) => {
        goingMinutes += (claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length * CHECK_MS) / 60_000;
      },
      atEnd: ({ now }) => {
        const minutes = (now - START) / 60_000;
        const troubles = [...faults.counts.values()].reduce((sum, n) => sum + n, 0);
        for (const { name, of, perMinute, perClaim, perGoingMinute, perFault } of BOUNDS) {
          const made = [...lab.calls].reduce((sum, [call, n]) => sum + (of.test(call) ? n : 0), 0);
          const allowed = Math.round(perMinute * minutes + perClaim * claimsMade + perGoingMinute * goingMinutes + perFault * troubles);
          if (made > allowed)
            violated(`${made} ${name} in ${Math.round(minutes)} minutes with ${claimsMade} claims; ${allowed} are allowed`);
        }
      },
    };
  },
};
