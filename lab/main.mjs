import "#terminal/check-node.mjs";

await import("./main.ts");
