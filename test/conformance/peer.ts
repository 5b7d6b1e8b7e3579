/**
 * Puts the cases of Karpenter's own suites to our solver and our disruption, and says for each: alike, another lawful
 * choice, or differing. `npm run verify -- peer [FOLDER [NAME-PART…]]`. In: NAME.scenario.json(.gz) beside
 * NAME.expected.json, in FOLDER and its subfolders. Prints each case that is not alike, with why; with a NAME-PART the
 * alike cases too. Exits 1 when a case differs.
 */
import { existsSync } from "node:fs";
import { programOptions } from "../support/program-options.ts";
import { peerCaseFiles, readPeerCase } from "./peer/case.ts";
import { type PeerVerdict, peerVerdict } from "./peer/verdict.ts";

/** Maximum number of reasons printed for a case. */
const SHOWN = 4;

const { positionals } = programOptions("usage: npm run -s verify -- peer [FOLDER] [PART...]", { allowPositionals: true });
const [folder = "../shared/conformance/peer", ...parts] = positionals;
const files = existsSync(folder)
  ? peerCaseFiles(folder).filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  : [];
if (files.length === 0) {
  console.error(
    `there is no ${parts.length === 0 ? "case" : parts.join(" or ")} in ${folder}; give the folder of NAME.scenario.json and NAME.expected.json`,
  );
  process.exit(2);
}
const tally: Record<PeerVerdict["verdict"], number> = { alike: 0, lawful: 0, differs: 0 };
for (const file of files) {
  const one = readPeerCase(file);
  const { verdict, why } = peerVerdict(one);
  tally[verdict]++;
  if (verdict === "alike" && parts.length === 0) continue;
  console.log(`${verdict.padEnd(7)} ${one.name}`);
  const notes =
    one.notes.length === 0 ? [] : [`the scenario lacks: ${one.notes.slice(0, 2).join("; ")}${one.notes.length > 2 ? "; …" : ""}`];
  for (const line of [...why.slice(0, SHOWN), ...notes]) console.log(`        ${line}`);
}
console.log(`${files.length} cases: ${tally.alike} alike, ${tally.lawful} another lawful choice, ${tally.differs} differ`);
process.exitCode = tally.differs > 0 ? 1 : 0;
