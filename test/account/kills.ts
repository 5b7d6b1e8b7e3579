import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { World } from "../installer/install/world.ts";
import type { Account } from "./account.ts";
import { accountWith } from "./account-of.ts";
import { clear, found, installer } from "./installing.ts";

// The process of `install` is ended by SIGKILL at a call of its, before AWS takes it or after AWS has answered; then it
// is run again.

/** What an installation comes to, without the names that CloudFormation makes anew each time. */
async function endOf(account: Account, world: World): Promise<object> {
  const kinds = Object.entries(await found(account)).map(([kind, names]) => [kind, names.length] as const);
  const objects = [...world.objects.keys()].sort();
  return { ...Object.fromEntries(kinds), objects };
}

/** Kills at `places` calls, evenly over the whole installation. Throws when a second run ends otherwise. */
export async function playKills(account: Account, dir: string, places: number): Promise<string> {
  account.settings = accountWith();
  await clear(account);
  const before = account.calls.length;
  const whole = new World();
  const first = await installer(dir, whole)();
  if (first.failed) throw new Error(first.end);
  const calls = account.calls.length - before;
  const wanted = JSON.stringify(await endOf(account, whole));
  const killed: string[] = [];
  for (let i = 0; i < places; i += 1) {
    await clear(account);
    const at = 1 + Math.floor((i * calls) / places);
    const when = i % 2 === 0 ? "before" : "after";
    const place = await killAt(account, dir, at, when);
    const world = new World();
    const again = await installer(dir, world)();
    if (again.failed) throw new Error(`killed ${when} ${place}, the next run fails: ${again.end}`);
    const end = JSON.stringify(await endOf(account, world));
    if (end !== wanted) throw new Error(`killed ${when} ${place}, the next run ends otherwise:\n${end}\n${wanted}`);
    killed.push(`${when} ${place}`);
  }
  return `${places} of ${calls} calls: ${killed.join(", ")}`;
}

/** Runs the installer until its call of this number; the call's name. */
async function killAt(account: Account, dir: string, at: number, when: "before" | "after"): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "install-once.ts"), dir], { stdio: "ignore" });
  let place = "its end";
  const ended = once(child, "exit");
  account.onCall = (number, now) => {
    if (number !== at || now !== when) return;
    place = account.calls.at(-1) ?? "";
    child.kill("SIGKILL");
  };
  await ended;
  account.onCall = undefined;
  return place;
}
