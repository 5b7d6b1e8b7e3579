import { join } from "node:path";
import { consolidationExample } from "./consolidation.ts";
import { provisioningExample } from "./provisioning.ts";
import { wrapped } from "./words.ts";

export const DOCUMENT = join(import.meta.dirname, "../../docs/how-a-plan-is-found.md");

/** docs/how-a-plan-is-found.md, all of it. */
export function workedExample(): string {
  return wrapped(`# How a plan is found: a worked example

This page follows one plan and one consolidation through the code, with numbers. \`npm run -s verify -- worked-example\` writes it
from two scenarios; a test fails when it is out of date. [architecture.md](architecture.md) says how the parts work in general.

\`\`\`mermaid
flowchart LR
  pods[pending pods] --> classes[pod classes] --> greedy[greedy attempts]
  classes --> items[items and demand] --> dual[shadow prices] --> pack[greedy knapsack, node by node] --> ruin[ruin and recreate] --> parts[optimal parts] --> follow[an attempt follows the proposal]
  greedy & follow --> best[fewest pods left, then cheapest]
\`\`\`

${provisioningExample()}
\`\`\`mermaid
flowchart LR
  nodes[candidates] --> ratio[savings ratio] --> trial[trial cluster: sets of nodes] --> solve[trials by the scheduler] --> payback[payback within the horizon] --> command[command]
\`\`\`

${consolidationExample()}`);
}
