import { installer } from "./installing.ts";

/**
 * One installation in a process of its own, which kills.ts ends at some call: the folder of its code is the argument.
 */
const { end, failed } = await installer(process.argv[2] ?? "")();
console.log(end);
process.exitCode = failed ? 2 : 0;
