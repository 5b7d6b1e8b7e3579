import { CHECKS } from "./list.ts";
import { runProgram } from "./run-program.ts";

// `npm run verify -- WHAT [ARG...]` starts one of the programs of list.ts; `--help` prints them.
runProgram("npm run verify", CHECKS);
