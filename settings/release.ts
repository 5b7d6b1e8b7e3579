/** True in a release only: its build (infra/release/compile.ts) replaces this file. */
export const IS_RELEASE: boolean = false;
