// Ends the process with one sentence where Node does not run TypeScript. It is JavaScript, which every Node runs.
// npm's scripts use the Node of the package `node`, which an install script fetches. Where install scripts did not run,
// they use the Node of the machine: from 22.18 on it runs TypeScript, an older one ends in ERR_UNKNOWN_FILE_EXTENSION.
if (!process.features.typescript) {
  process.stderr.write(
    `Node ${process.versions.node} does not run TypeScript. Run \`npm ci --ignore-scripts=false\`, which fetches Node 24 into this folder, or install Node 22.18 or later.\n`,
  );
  process.exit(2);
}
