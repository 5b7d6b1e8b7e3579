import { emitKeypressEvents, type Key } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { ViewSource } from "../../console/server/source.ts";
import type { ClusterOverview, ViewIndex } from "../../core/overview/types.ts";
import { InputError } from "../input-error.ts";
import { drawnScreen, type Screen, SECTIONS } from "./screen.ts";

/** Escapes of a terminal: the other screen and back, the cursor, the rest of a line and of the screen. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const END_OF_LINE = "\u001b[K";
const END_OF_SCREEN = "\u001b[J";

/**
 * Draws the view in the terminal and redraws it with each change and key, until q or Ctrl-C. Throws InputError where
 * there is no terminal.
 */
export async function runTerminal(source: ViewSource, input: ReadStream, output: WriteStream, signal?: AbortSignal): Promise<void> {
  if (!input.isTTY || !output.isTTY)
    throw new InputError("--terminal draws in a terminal, and there is none; leave it out for the page, or use status for a script");
  let screen: Screen = { section: "nodes", cluster: 0, top: 0, query: "", isTyping: false };
  let overview: ClusterOverview | undefined;
  const draw = (): void => {
    const [width, height] = [output.columns, output.rows];
    const { lines, top } = drawnScreen(source.index(), overview, screen, { width, height });
    screen = { ...screen, top };
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

/** The screen after a key. */
export function afterKey(
  screen: Screen,
  text: string | undefined,
  { name = "", sequence = "" }: Key,
  { scenes }: ViewIndex,
  height: number,
): Screen {
  if (screen.isTyping) {
    if (name === "return" || name === "enter") return { ...screen, isTyping: false };
    if (name === "escape") return { ...screen, isTyping: false, query: "", top: 0 };
    if (name === "backspace") return { ...screen, query: screen.query.slice(0, -1), top: 0 };
    return text !== undefined && text >= " " && sequence.length === text.length
      ? { ...screen, query: screen.query + text, top: 0 }
      : screen;
  }
  const page = Math.max(1, height - 8);
  const at = SECTIONS.indexOf(screen.section);
  const steps: Readonly<Record<string, number>> = {
    down: 1,
    j: 1,
    up: -1,
    k: -1,
    pagedown: page,
    space: page,
    pageup: -page,
    home: Number.NEGATIVE_INFINITY,
  };
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (step !== undefined) return { ...screen, top: Math.max(0, screen.top + step) };
  if (text === "/") return { ...screen, isTyping: true };
  if (name === "escape") return { ...screen, query: "", top: 0 };
  const turn = name === "tab" || name === "right" ? 1 : name === "left" ? -1 : 0;
  if (turn !== 0) return { ...screen, section: SECTIONS[(at + turn + SECTIONS.length) % SECTIONS.length] ?? "nodes", top: 0 };
  const number = Number(text ?? "");
  if (text !== undefined && /^[1-9]$/.test(text) && number <= SECTIONS.length)
    return { ...screen, section: SECTIONS[number - 1] ?? "nodes", top: 0 };
  if (text === "c" && scenes.length > 1) return { ...screen, cluster: (screen.cluster + 1) % scenes.length, top: 0 };
  return screen;
}
