import { BENCHES, PLANS } from "./benches.ts";
import { runProgram } from "./run-program.ts";

// `npm run bench [-- WHAT] [ARG...]` starts one of the programs of benches.ts, by default the one of plans.
runProgram("npm run bench", BENCHES, PLANS);
