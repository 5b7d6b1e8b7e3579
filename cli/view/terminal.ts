import { emitKeypressEvents, type Key } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { ViewSource } from "#console/server/source.ts";
import type { ClusterOverview, ViewIndex } from "#core/insight/overview/types.ts";
import { InputError } from "#terminal/input-error.ts";
import { drawnScreen, type Screen, SECTIONS } from "./screen.ts";

/** Escapes of a terminal: the other screen and back, the cursor, the rest of a line and of the screen. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const END_OF_LINE = "\u001b[K";
const END_OF_SCREEN = "\u001b[J";

export const FIRST_SCREEN: Screen = { section: "nodes", cluster: 0, top: 0, at: 0, chosen: "", opened: "", query: "", isTyping: false };

/**
 * Draws the view in the terminal and redraws it with each change and key, until q or Ctrl-C. Throws InputError where
 * there is no terminal.
 */
export async function runTerminal(source: ViewSource, input: ReadStream, output: WriteStream, signal?: AbortSignal): Promise<void> {
  if (!input.isTTY || !output.isTTY)
    throw new InputError("--terminal draws in a terminal, and there is none; leave it out for the page, or use status for a script");
  let screen: Screen = FIRST_SCREEN;
  let overview: ClusterOverview | undefined;
  const draw = (): void => {
    const [width, height] = [output.columns, output.rows];
    const { lines, ...place } = drawnScreen(source.index(), overview, screen, { width, height });
    screen = { ...screen, ...place };
    output.write(`${HOME}${lines.map((line) => `${line}${END_OF_LINE}`).join("\r\n")}${END_OF_SCREEN}`);
  };
  const load = async (): Promise<void> => {
    const id = source.index().scenes[screen.cluster]?.id;
    overview = id === undefined ? undefined : await source.scene(id);
    draw();
  };
  emitKeypressEvents(input);
  input.setRawMode(true);
  output.write(ENTER);
  const stop = source.onChange(() => void load());
  output.on("resize", draw);
  try {
    await load();
    await new Promise<void>((resolve) => {
      input.on("keypress", (text: string | undefined, key: Key) => {
        if ((key.ctrl && key.name === "c") || (key.name === "q" && !screen.isTyping)) return resolve();
        const before = screen.cluster;
        screen = afterKey(screen, text, key, source.index(), output.rows);
        void (before === screen.cluster ? draw() : load());
      });
      process.once("SIGTERM", resolve);
      signal?.addEventListener("abort", () => resolve());
      if (signal?.aborted) resolve();
    });
  } finally {
    stop();
    output.off("resize", draw);
    output.write(LEAVE);
    input.setRawMode(false);
    input.pause();
  }
}

/** Lines that a key scrolls; a page is `page` of them. */
function stepOf(name: string, page: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ...{ down: 1, j: 1, up: -1, k: -1 },
    ...{ pagedown: page, space: page, pageup: -page },
    ...{ home: Number.NEGATIVE_INFINITY, end: Number.MAX_SAFE_INTEGER },
  };
  return Object.hasOwn(steps, name) ? steps[name] : undefined;
}

/** The screen after a key. */
export function afterKey(
  screen: Screen,
  text: string | undefined,
  { name = "", sequence = "" }: Key,
  { scenes }: ViewIndex,
  height: number,
): Screen {
  const searched = (query: string): Screen => ({ ...screen, query, top: 0, at: 0, opened: "" });
  if (screen.isTyping) {
    if (name === "return" || name === "enter") return { ...screen, isTyping: false };
    if (name === "escape") return { ...searched(""), isTyping: false };
    if (name === "backspace") return searched(screen.query.slice(0, -1));
    return text !== undefined && text >= " " && sequence.length === text.length ? searched(screen.query + text) : screen;
  }
  const isTable = screen.section === "nodes" && screen.opened === "";
  const step = stepOf(name, Math.max(1, height - 8));
  if (step !== undefined) {
    const moved = (from: number): number => Math.max(0, from + step);
    return isTable ? { ...screen, at: moved(screen.at) } : { ...screen, top: moved(screen.top) };
  }
  if (isTable && (name === "return" || name === "enter")) return { ...screen, opened: screen.chosen, top: 0 };
  if (name === "escape") return screen.opened === "" ? searched("") : { ...screen, opened: "" };
  if (text === "/") return { ...screen, isTyping: true };
  const section = sectionAfter(screen.section, text, name);
  if (section !== undefined) return { ...screen, section, top: 0, opened: "" };
  if (text === "c" && scenes.length > 1) return { ...searched(screen.query), cluster: (screen.cluster + 1) % scenes.length };
  return screen;
}

/** The section that a key leads to: a number, Tab, or the arrows to the sides. */
function sectionAfter(section: Screen["section"], text: string | undefined, name: string): Screen["section"] | undefined {
  const turn = name === "tab" || name === "right" ? 1 : name === "left" ? -1 : 0;
  if (turn !== 0) return SECTIONS[(SECTIONS.indexOf(section) + turn + SECTIONS.length) % SECTIONS.length];
  return text !== undefined && /^[1-9]$/.test(text) ? SECTIONS[Number(text) - 1] : undefined;
}
