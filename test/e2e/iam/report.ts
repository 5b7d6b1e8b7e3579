import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Authorization } from "../support/ministack.ts";
import { cacheDir } from "../support/paths.ts";
import { type Accepted, NEVER_USED } from "./accepted.ts";
import { type Ledger, type Refusal, type Use, wordRefusal } from "./ledger.ts";
import { matchesPattern } from "./pattern.ts";

/** The permissions of the roles, compared with the calls of the functions. */
export interface PermissionReport {
  readonly refusals: readonly string[];
  /** Number of grants that were used. */
  readonly used: number;
  /** Grants without a use, with the reason from accepted.ts where it has one. */
  readonly neverUsed: readonly (Use & { readonly reason?: string })[];
  /** Entries of accepted.ts for grants that were used or that no role has: they must be removed. */
  readonly stale: readonly Accepted[];
}

/**
 * Makes the report. The authorizations of MiniStack (queues, events, logs) are added to the ledger here, from
 * MiniStack's own checks.
 */
export function permissionReport(ledger: Ledger, authorizations: readonly Authorization[]): PermissionReport {
  const denied: Refusal[] = [];
  for (const { accessKey, action, resource, denied: refused } of authorizations) {
    const question = { action, resource, context: {} };
    const name = ledger.nameOf(accessKey);
    ledger.judge(accessKey, [question]);
    if (refused && name !== undefined) denied.push({ function: name, question, because: "MiniStack's IAM refused it" });
  }
  const uses = ledger.uses();
  const neverUsed = uses.filter(({ times }) => times === 0);
  const accepts = (accepted: Accepted, use: Use): boolean =>
    (accepted.functions === "all" || accepted.functions.some((name) => use.function.endsWith(`-${name}`))) &&
    accepted.sid === use.sid &&
    (accepted.action === undefined || matchesPattern(accepted.action, use.action)) &&
    (accepted.resource === undefined || matchesPattern(accepted.resource, use.resource));
  return {
    refusals: [...new Set([...ledger.refusals(), ...denied].map(wordRefusal))],
    used: uses.length - neverUsed.length,
    neverUsed: neverUsed.map((use) => {
      const reason = NEVER_USED.find((accepted) => accepts(accepted, use))?.reason;
      return { ...use, ...(reason !== undefined && { reason }) };
    }),
    stale: NEVER_USED.filter((accepted) => !neverUsed.some((use) => accepts(accepted, use))),
  };
}

/**
 * Prints the report, and writes every grant with its use to .cache/e2e/permissions.json. `complete`: all stories were
 * played, so an unused grant is not needed.
 */
export function printPermissions(ledger: Ledger, { refusals, used, neverUsed, stale }: PermissionReport, complete: boolean): void {
  const file = join(cacheDir("e2e"), "permissions.json");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${JSON.stringify(ledger.uses(), undefined, 1)}\n`);
  const without = neverUsed.filter(({ reason }) => reason === undefined);
  console.log(
    `permissions: ${used} grants used, ${neverUsed.length} never used (${neverUsed.length - without.length} of them for a reason); each in ${file}`,
  );
  for (const refusal of refusals) console.log(`refused: ${refusal}`);
  if (!complete) {
    console.log("Not all stories were played, so it is not told what is allowed for nothing.");
    return;
  }
  for (const [grant, reason] of folded(neverUsed))
    console.log(`never used: ${grant}${reason ? ` (${reason})` : ": NO REASON in test/e2e/iam/accepted.ts"}`);
  for (const { functions, sid } of stale)
    console.log(`used, or not allowed at all: ${sid} of ${String(functions)}; take it out of test/e2e/iam/accepted.ts`);
}

/** One line for each function, statement and reason; actions on the same resources share a line. */
function folded(grants: PermissionReport["neverUsed"]): readonly (readonly [string, string | undefined])[] {
  const byStatement = Map.groupBy(grants, (use) => `${use.function} ${use.sid} ${use.reason ?? ""}`);
  return [...byStatement.values()].map((uses) => {
    const actions = [...Map.groupBy(uses, ({ action }) => action)].map(([action, of]) => ({
      action,
      resources: of.map(({ resource }) => resource.split(":").slice(5).join(":") || resource).join(", "),
    }));
    const parts = [...Map.groupBy(actions, ({ resources }) => resources)].map(
      ([resources, of]) => `${of.map(({ action }) => action).join(", ")} on ${resources}`,
    );
    const [first] = uses;
    return [`${first?.function} ${first?.sid}: ${parts.join("; ")}`, first?.reason];
  });
}
