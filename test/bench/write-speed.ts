import { writeFileSync } from "node:fs";
import { PAGE, speedPage } from "./speed-page.ts";

// `node test/bench/write-speed.ts` writes docs/speed.md from docs/data/speed.json.
writeFileSync(PAGE, speedPage());
