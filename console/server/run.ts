import { spawn } from "node:child_process";
import { once } from "node:events";
import { serveView } from "./serve.ts";
import type { ViewSource } from "./source.ts";

interface RunOptions {
  /** A free one unless set. */
  readonly port?: number;
  /** Opens the page in the browser. */
  readonly opens: boolean;
  readonly print: (line: string) => void;
  /** Ends the view, too. */
  readonly signal?: AbortSignal;
}

/** Serves a view, prints its URL, and ends with Ctrl-C, or when the terminal goes. */
export async function runView(source: ViewSource, { port, opens, print, signal }: RunOptions): Promise<void> {
  const view = await serveView(source, port === undefined ? {} : { port });
  print(`The page: ${view.url}`);
  print("It answers only on this machine, changes nothing, and ends with Ctrl-C.");
  if (opens) openInBrowser(view.openOnce(), print);
  const ended = new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
  });
  await Promise.race([...["SIGINT", "SIGTERM", "SIGHUP"].map((name) => once(process, name)), ended]);
  await view.close();
}

/** What opens a URL on each platform. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

function openInBrowser(url: string, print: (line: string) => void): void {
  const [program, ...words] = OPENERS[process.platform] ?? (["xdg-open"] as const);
  const child = spawn(program, [...words, url], { stdio: "ignore", detached: true });
  child.on("error", () => print(`There is no ${program} to open it with; open the URL above yourself.`));
  child.unref();
}
