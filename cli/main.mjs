#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import "#terminal/check-node.mjs";

await import("./main.ts");
