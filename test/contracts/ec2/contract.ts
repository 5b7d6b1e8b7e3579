/**
 * The contract of EC2, SSM, IAM, Pricing, EKS and STS, as far as this project relies on it, written with the SDK's own
 * clients. It runs on our fake and on moto, because tests by the author of the fake alone would repeat the author's
 * mistakes. A check knows no target; what a target cannot do is one of its known gaps.
 */
import { fleetChecks } from "./fleet-checks.ts";
import { instanceChecks } from "./instance-checks.ts";
import { lookupChecks } from "./lookup-checks.ts";
import { neighbourChecks } from "./neighbour-checks.ts";
import { templateChecks } from "./template-checks.ts";
import { type ContractWorld, connect, type Target } from "./world.ts";

/** One promise of AWS: a sentence, and a function that throws when the target breaks it. */
export type Check = { readonly name: string; readonly run: (world: ContractWorld) => Promise<void> };

/** A check for one target; `gap` says why it is expected to fail there. */
export type ContractCase = { readonly name: string; readonly gap?: string; readonly run: () => Promise<void> };

export type Contract = { readonly name: string; readonly cases: readonly ContractCase[]; readonly close: () => Promise<void> };

/** Name of a check → why the target cannot pass it. */
export type KnownGaps = Readonly<Record<string, string>>;

export const CHECKS: readonly Check[] = [...fleetChecks, ...instanceChecks, ...templateChecks, ...lookupChecks, ...neighbourChecks];

/**
 * The suite for one target, which the first case opens. Throws when a known gap names no check, so that outdated gaps
 * are found.
 */
export function ec2Contract(
  name: string,
  open: () => Promise<Target>,
  { knownGaps = {} }: { readonly knownGaps?: KnownGaps } = {},
): Contract {
  const unknown = Object.keys(knownGaps).filter((gap) => !CHECKS.some((check) => check.name === gap));
  if (unknown.length > 0) throw new Error(`${name}: no check is called ${unknown.join(", ")}; correct the list of known gaps.`);
  let world: Promise<ContractWorld> | undefined;
  const opened = () => {
    world ??= open().then(connect);
    return world;
  };
  return {
    name,
    cases: CHECKS.map((check) => {
      const gap = knownGaps[check.name];
      return { name: check.name, ...(gap === undefined ? {} : { gap }), run: async () => check.run(await opened()) };
    }),
    close: async () => {
      if (world) await (await world).target.close();
    },
  };
}
