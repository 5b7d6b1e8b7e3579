import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** Debian's browser, or the one that CHROMIUM names. Throws one sentence where there is none. */
export const BROWSER = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
if (!existsSync(BROWSER)) throw new Error(`there is no ${BROWSER}: apt-get install chromium, or name another browser in CHROMIUM`);

/** A browser without a screen that asks nobody for anything. */
export const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
] as const;

export const SIZE = { width: 1440, height: 900 } as const;
/** Of a picture for a document: half the bytes. */
const PICTURE = { width: 1180, height: 700 } as const;
const MAX_PICTURE_BYTES = 200_000;

const at = process.argv.indexOf("--pictures");
const folder = at < 0 ? undefined : process.argv[at + 1];

/** Writes a picture of the page to the folder that --pictures names, if it names one. */
export async function pictureOf(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.png`);
  await page.setViewportSize(PICTURE);
  await page.screenshot({ path });
  await page.setViewportSize(SIZE);
  assert.ok(statSync(path).size < MAX_PICTURE_BYTES, `${path} has ${statSync(path).size} bytes`);
}
