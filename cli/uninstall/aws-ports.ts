import { createInterface } from "node:readline/promises";
import { ownCaller } from "../../functions/adapters/aws/own-caller.ts";
import { awsPorts } from "../install/aws-ports.ts";
import { leftBehindOnAws } from "./left-behind.ts";
import type { UninstallPorts } from "./ports.ts";

/** AWS, and the person at the terminal. */
export function uninstallPorts(region: string): UninstallPorts {
  const tagging = ownCaller("RESOURCE_GROUPS_TAGGING_API", region);
  return {
    ...awsPorts(region),
    leftBehind: leftBehindOnAws(region, tagging.credentials, tagging),
    confirm: async (question) => {
      if (!process.stdin.isTTY) return undefined;
      const terminal = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
      } finally {
        terminal.close();
      }
    },
  };
}
