import { appendFileSync } from "node:fs";
import { Command } from "@smithy/core/client";

// A preload (`node --import`): writes each command of AWS's SDK that a process makes to the file that SDK_COMMANDS
// names, as one line of JSON. A command is written when it is made and not when it is sent, because tests with a mocked
// client send nothing.

/** A command as it was made: "EC2Client", "CreateFleetCommand" and its input. */
export interface MadeCommand {
  readonly client: string;
  readonly command: string;
  readonly input: unknown;
}

type Constructor = new (...args: readonly unknown[]) => { readonly input: unknown };
/** The part of the SDK's builder of commands that is used here; the SDK does not export its type. */
interface Builder {
  readonly _clientName: string;
  readonly _commandName: string;
  build(): Constructor;
}

const { SDK_COMMANDS: file = "" } = process.env;
const builder = Object.getPrototypeOf(Command.classBuilder()) as Builder;
const { build } = builder;

/** Bytes as base64, as the SDK sends them. */
const plain = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value);

builder.build = function buildRecorded(this: Builder): Constructor {
  const { _clientName: client, _commandName: command } = this;
  return new Proxy(build.call(this), {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as { readonly input: unknown };
      appendFileSync(file, `${JSON.stringify({ client, command, input: made.input } satisfies MadeCommand, plain)}\n`);
      return made;
    },
  });
};
