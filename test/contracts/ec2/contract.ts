/**
 * The contract of EC2, SSM, IAM, Pricing, EKS and STS, as far as this project relies on it, written with the SDK's own
 * clients. The fake keeps it (fake.test.ts). A check knows no target.
 */
import { fleetChecks } from "./fleet-checks.ts";
import { instanceChecks } from "./instance-checks.ts";
import { lookupChecks } from "./lookup-checks.ts";
import { neighbourChecks } from "./neighbour-checks.ts";
import { templateChecks } from "./template-checks.ts";
import { type ContractWorld, connect, type Target } from "./world.ts";

/** One promise of AWS: a sentence, and a function that throws when the target breaks it. */
export type Check = { readonly name: string; readonly run: (world: ContractWorld) => Promise<void> };

/** A check for one target. */
export type ContractCase = { readonly name: string; readonly run: () => Promise<void> };

export type Contract = { readonly cases: readonly ContractCase[]; readonly close: () => Promise<void> };

export const CHECKS: readonly Check[] = [...fleetChecks, ...instanceChecks, ...templateChecks, ...lookupChecks, ...neighbourChecks];

/** The suite for one target, which the first case opens. */
export function ec2Contract(open: () => Promise<Target>): Contract {
  let world: Promise<ContractWorld> | undefined;
  const opened = () => {
    world ??= open().then(connect);
    return world;
  };
  return {
    cases: CHECKS.map(({ name, run }) => ({ name, run: async () => run(await opened()) })),
    close: async () => {
      if (world) await (await world).target.close();
    },
  };
}
