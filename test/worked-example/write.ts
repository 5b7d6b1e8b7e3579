import { writeFileSync } from "node:fs";
import { DOCUMENT, workedExample } from "./document.ts";

// `npm run -s verify -- worked-example` writes docs/how-a-plan-is-found.md from the scenarios beside this file; a test
// holds the document to them.
writeFileSync(DOCUMENT, workedExample());
