/*
 * `npm run -s verify -- ec2-errors [CODE...]`: what pod, event, NodeClaim, `why` and the page say for each code of EC2.
 * In: codes, or none for all. Out: a paragraph for each; exit code 1 when a text breaks a rule of rules.ts.
 */
import { EC2_CODES } from "./codes.ts";
import { playCode } from "./play.ts";
import { broken, messageOf } from "./rules.ts";

const codes = process.argv.slice(2);
const unknown = codes.filter((code) => !EC2_CODES.includes(code));
if (unknown.length > 0) {
  console.error(`${unknown.join(", ")}: no code of test/ec2-errors/codes.ts`);
  process.exit(2);
}
let found = 0;
for (const code of codes.length > 0 ? codes : EC2_CODES) {
  const seen = await playCode(code, messageOf(code));
  const breaches = broken(code, seen);
  found += breaches.length;
  console.log(
    `${code}\n${Object.entries(seen)
      .map(([place, text]) => `  ${place}: ${text.trim().replaceAll("\n", "\n    ")}`)
      .join("\n")}`,
  );
  for (const breach of breaches) console.log(`  BREACH ${breach}`);
}
console.log(`codes ${codes.length || EC2_CODES.length}, breaches ${found}`);
process.exitCode = found > 0 ? 1 : 0;
