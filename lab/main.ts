import { ManifestError } from "#manifests/read.ts";
import { ArgumentError, endWithReader } from "#terminal/command-line.ts";
import { runLab } from "./lab.ts";

endWithReader();

try {
  await runLab(process.argv.slice(2));
} catch (error) {
  const plain = error instanceof ArgumentError || error instanceof ManifestError;
  process.stderr.write(`${error instanceof Error ? (plain ? error.message : error.stack) : String(error)}\n`);
  process.exitCode = plain ? 2 : 1;
}
