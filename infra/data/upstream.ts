import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goEnvironment } from "./go-environment.ts";

/** A package that a registry serves, on this machine. */
export interface Package {
  /** The text of a file, by its path in the package. */
  readonly text: (path: string) => string;
  readonly bytes: (path: string) => Buffer;
  /** File names of a folder, sorted. */
  readonly list: (folder: string) => readonly string[];
  /** Date of the release, as 2026-10-27. */
  readonly released: string;
}

/** A Go module, by the module proxy; needs Go. */
export function goModule(path: string, version: string): Package {
  const call = ["mod", "download", "-json", `${path}@v${version}`];
  // Not in a module's folder, whose go.mod would have a say; Go's remarks about toolchains are of no use here.
  const answer = execFileSync("go", call, { encoding: "utf8", cwd: tmpdir(), env: goEnvironment(), stdio: "pipe" });
  const { Dir, Info } = JSON.parse(answer) as { readonly Dir: string; readonly Info: string };
  const { Time } = JSON.parse(readFileSync(Info, "utf8")) as { readonly Time: string };
  return folder(Dir, Time.slice(0, 10));
}

/** A wheel of the Python package index, unpacked below `cache`; needs Python. */
export function wheel(name: string, version: string, cache: string): Package {
  const dir = join(cache, `${name}-${version}`);
  const file = join(cache, `${name}-${version}-py3-none-any.whl`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(file)) python("-m", "pip", "download", "--quiet", "--no-deps", "--dest", cache, `${name}==${version}`);
  if (!existsSync(dir)) python("-m", "zipfile", "-e", file, dir);
  const date = "import sys, zipfile; print('%d-%02d-%02d' % zipfile.ZipFile(sys.argv[1]).infolist()[0].date_time[:3])";
  return folder(dir, python("-c", date, file).trim());
}

function folder(dir: string, released: string): Package {
  return {
    bytes: (path) => readFileSync(join(dir, path)),
    text: (path) => readFileSync(join(dir, path), "utf8"),
    list: (path) => readdirSync(join(dir, path)).sort(),
    released,
  };
}

function python(...args: readonly string[]): string {
  return execFileSync("python3", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
