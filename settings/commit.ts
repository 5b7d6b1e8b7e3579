/** Filled in by the bundler (infra/build.ts). */
declare const __COMMIT__: string | undefined;

/** The commit of the bundle, seven hexadecimal digits; undefined in sources that differ from their commit. */
export const COMMIT: string | undefined = typeof __COMMIT__ === "undefined" ? undefined : __COMMIT__;
