import { ownCaller } from "#adapters/aws/own-caller.ts";
import { type StackReader, stackOutputs } from "#adapters/aws/stack-outputs.ts";
import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { InputError } from "#terminal/input-error.ts";

/** How a command names the table: itself, or by the stack that made it. */
export interface TableChoice {
  readonly table?: string;
  readonly stack?: string;
}

/**
 * The name of the stack's table: the one that is given, or the stack's output TableName, read with the caller's
 * credentials. Throws InputError when the stack cannot be read or has no such output.
 */
export async function tableOf(
  { table, stack = DEFAULT_STACK }: TableChoice,
  region: string,
  reader: Partial<StackReader> = {},
): Promise<string> {
  if (table !== undefined) return table;
  const outputs = await stackOutputs(stack, { ...ownCaller("CLOUDFORMATION", region), ...reader }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError(`${why.replace(/\.$/, "")}; name the stack with --stack, or its table (output TableName) with --table`);
  });
  const name = outputs["TableName"];
  if (name === undefined)
    throw new InputError(
      `stack ${stack} in ${region} has no output TableName; name the functions' stack with --stack, or its table with --table`,
    );
  return name;
}
