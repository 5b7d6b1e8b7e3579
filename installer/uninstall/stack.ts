import type { Print } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import type { InstallPorts } from "../account/ports.ts";
import { reasons, removed, settled } from "../install/deploy-stack.ts";

export interface UninstallOptions {
  readonly cluster: string;
  readonly region: string;
  readonly stackName: string;
  readonly drain: boolean;
  /** The nodes stay, for Karpenter. */
  readonly keepNodes: boolean;
  /** Karpenter is scaled up again when it may have them. */
  readonly startKarpenter: boolean;
  /** "NAMESPACE/NAME" of Karpenter's Deployment, where it is not found by its label or image. */
  readonly deployment?: string | undefined;
  /** What a cluster has left is removed without a question. */
  readonly yes: boolean;
  readonly dryRun: boolean;
}

/** Removes a stack, and waits for its end. Throws InputError with CloudFormation's reasons. */
export async function removeStack(name: string, { stacks, sleep }: InstallPorts, print: Print): Promise<void> {
  await settled(stacks, { name, print, sleep });
  const left = await removed(stacks, { name, print, sleep });
  if (left === undefined) return;
  throw new InputError(`stack ${name} is ${left.status}: ${await reasons(stacks, name)}; remove what is in the way, then run this again`);
}
