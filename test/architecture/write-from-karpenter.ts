import { writeFileSync } from "node:fs";
import { fromKarpenterPage, PAGE, productTree } from "./from-karpenter.ts";

// `node test/architecture/write-from-karpenter.ts` writes docs/from-karpenter.md from the citations in the code.
writeFileSync(PAGE, fromKarpenterPage(productTree()));
