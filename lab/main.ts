import { ArgumentError, endWithReader } from "../functions/adapters/command-line.ts";
import { ManifestError } from "../functions/adapters/manifests/read.ts";
import { runLab } from "./lab.ts";

endWithReader();

try {
  await runLab(process.argv.slice(2));
} catch (error) {
  const plain = error instanceof ArgumentError || error instanceof ManifestError;
  process.stderr.write(`${error instanceof Error ? (plain ? error.message : error.stack) : String(error)}\n`);
  process.exitCode = plain ? 2 : 1;
}
