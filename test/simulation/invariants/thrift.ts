import { NEIGHBOUR } from "../neighbour.ts";
import { START } from "../story.ts";
import { CHECK_MS, type Invariant } from "./invariant.ts";

/**
 * How many remote calls of one kind a run may make: per minute of the run, per NodeClaim that existed, per minute in
 * which a NodeClaim is being deleted, and per fault.
 */
interface Bound {
  readonly name: string;
  readonly of: RegExp;
  readonly perMinute: number;
  readonly perClaim: number;
  readonly perGoingMinute: number;
  readonly perFault: number;
  /** Per minute, for a cluster of the stack whose API server does not answer. */
  readonly perSilentMinute: number;
}

/**
 * Measured over 14 seeds of 46 minutes without faults: the sweeps make 12 table reads and 12 writes a minute. The life
 * of one NodeClaim makes 60 to 190 of each, because launch and registration are checked every few seconds. EC2 gets 2
 * calls a minute and 5 to 20 for each NodeClaim. A drain that a PodDisruptionBudget blocks asks to evict each pod every
 * second at first and every ten seconds later, and each refusal reads from the table whether its event was published.
 * Four functions sweep a cluster whose API server does not answer, each five times in its minute, and ask the table
 * for up to three things before they fail.
 */
const BOUNDS: readonly Bound[] = [
  {
    name: "reads of the table",
    of: /^store\.(get|list|commands|unavailable|byInstance|documentVersion|getDocument)/,
    perMinute: 20,
    perClaim: 200,
    perGoingMinute: 100,
    perFault: 20,
    perSilentMinute: 60,
  },
  {
    name: "writes to the table",
    of: /^store\.(?!get|list|commands|unavailable|byInstance|documentVersion|getDocument)/,
    perMinute: 20,
    perClaim: 200,
    perGoingMinute: 500,
    perFault: 20,
    perSilentMinute: 20,
  },
  { name: "calls of EC2", of: /^fleet\./, perMinute: 4, perClaim: 25, perGoingMinute: 2, perFault: 5, perSilentMinute: 0 },
];

export const callsBounded: Invariant = {
  name: "calls bounded",
  law: "A node's life costs no more than a stated number of reads and writes of the table and of calls of EC2.",
  watch: ({ lab, faults }, violated) => {
    let goingMinutes = 0;
    let claimsMade = 0;
    lab.second?.onChange(({ kind, type }) => {
      if (kind === "NodeClaim" && type === "ADDED") claimsMade++;
    });
    const clusters = lab.second ? 2 : 1;
    let silent = 0;
    return {
      onChange: ({ kind, type }) => {
        if (kind === "NodeClaim" && type === "ADDED") claimsMade++;
      },
      onCall: ({ args: [cluster] }) => {
        if (cluster === NEIGHBOUR) silent = 1;
      },
      check: ({ claims }) => {
        const going = claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
        goingMinutes += (going.length * CHECK_MS) / 60_000;
      },
      atEnd: ({ now }) => {
        const minutes = (now - START) / 60_000;
        const troubles = [...faults.counts.values()].reduce((sum, n) => sum + n, 0);
        for (const { name, of, perMinute, perClaim, perGoingMinute, perFault, perSilentMinute } of BOUNDS) {
          const made = [...lab.calls].reduce((sum, [call, n]) => sum + (of.test(call) ? n : 0), 0);
          const allowed = Math.round(
            (perMinute * clusters + perSilentMinute * silent) * minutes +
              perClaim * claimsMade +
              perGoingMinute * goingMinutes +
              perFault * troubles,
          );
          if (made > allowed)
            violated(`${made} ${name} in ${Math.round(minutes)} minutes with ${claimsMade} claims; ${allowed} are allowed`);
        }
      },
    };
  },
};
